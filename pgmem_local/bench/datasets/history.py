"""What every question-answering data set comes down to: entries that a memory observes in order, and questions with their gold evidence."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Generic, TypeVar

from pgmem_local.conversation import Exchange, Moment, Speaker, Turn
from pgmem_local.ingest.secrets import mask_secrets
from pgmem_local.ingest.untrusted import clean

FIRST_MINUTE = timedelta(hours=12)
"""Data sets give a session's day only: its turns are set a minute apart from noon on, so that their order is certain."""


@dataclass(frozen=True)
class Entry:
    """A diary entry, or a user's turn with its reply, under the id that gold evidence names it by."""

    id: str
    exchange: Exchange

    @property
    def text(self) -> str:
        """All that was said, on marked lines where two spoke."""
        said, reply = self.exchange.said.text, self.exchange.reply
        return f"User: {said}\nAssistant: {reply}" if reply is not None else said

    @property
    def masked(self) -> Entry:
        """The entry as ingest lets it through to a store: without control characters and secrets."""
        said, reply = self.exchange.said, self.exchange.reply
        kept = replace(said, text=mask_secrets(clean(said.text)).text)
        return Entry(self.id, Exchange(kept, None if reply is None else mask_secrets(clean(reply)).text))


@dataclass(frozen=True)
class Question:
    """steps: for each step of the gold reasoning the ids of entries that state it, any one of which will do.

    wanted: the preference or reason that a free answer must respect; for a judge alone, never shown to a memory.
    """

    id: str
    text: str
    kind: str
    steps: tuple[frozenset[str], ...]
    wanted: str = ""


@dataclass(frozen=True)
class ChoiceQuestion(Question):
    """A question with options, one of which is right."""

    options: tuple[str, ...] = ()
    correct: int = 0

    def shuffled(self, seed: int) -> ChoiceQuestion:
        """The same options in an order that depends on the seed and the question alone: else a tie would go to a fixed place."""
        order = list(range(len(self.options)))
        random.Random(f"{seed} {self.id}").shuffle(order)
        return replace(self, options=tuple(self.options[place] for place in order), correct=order.index(self.correct))


Asked = TypeVar("Asked", bound=Question, covariant=True)


@dataclass(frozen=True)
class Case(Generic[Asked]):
    """One memory's life: what it observes, and what it is asked afterwards.

    before: the first of the entries, where a case goes on from another: what was learned of them need not be learned again.
    """

    name: str
    entries: tuple[Entry, ...]
    questions: Sequence[Asked]
    before: tuple[Entry, ...] = ()


def dialogue(session: str, day: str, turns: Sequence[tuple[Speaker, str]]) -> list[Entry]:
    """The exchanges of one session; each is named `session:place` by the place of the user's turn. A reply to nothing is left out."""
    noon = datetime.fromisoformat(day).replace(tzinfo=timezone.utc) + FIRST_MINUTE
    found: list[Entry] = []
    for place, (speaker, text) in enumerate(turns):
        moment = Moment.of(noon + timedelta(minutes=place))
        if speaker is Speaker.USER:
            found.append(Entry(f"{session}:{place}", Exchange(Turn(text, moment, speaker, session))))
        elif found:
            last = found[-1].exchange
            reply = text if last.reply is None else f"{last.reply}\n{text}"
            found[-1] = Entry(found[-1].id, Exchange(last.said, reply))
    return found
