"""The memories compared. Each observes entries and gives the context for a question within a budget; all else is common to them.

A context is numbered notes, as `answering` reads them: those of the raw-turn baselines are the turns themselves, under the same labels,
dates and heading that our Episodes get. So only what is remembered and what is picked differs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from pgmem_local.answering import Notes
from pgmem_local.bench.datasets.history import Entry, Question
from pgmem_local.graph.nodes import Context, Kind, NodeId, node_id
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.ports import ChatModel, Embedder, Spent, Vectors
from pgmem_local.prompts import load
from pgmem_local.retrieval.serialise import on_one_line
from pgmem_local.words import keywords

HEADING = "What happened:"
LABEL_TOKENS = 6
"""What a label and a line end may add to a line."""
LARGEST_SHARE = 0.5
"""An entry longer than this share of the budget is cut to it: one long reply must not crowd out all else."""
QUESTION_TOKENS = 500
"""What `full` leaves free for the question, its options and the reply."""


@dataclass(frozen=True)
class Recalled:
    """The context for a question. graph: the nodes behind the labels; origins: the entries behind each node.

    beside: what is stored beside the nodes, where all that a memory holds is asked for.
    """

    notes: Notes = field(default_factory=lambda: Notes("", {}))
    graph: PersonaGraph = field(default_factory=PersonaGraph)
    origins: Mapping[NodeId, tuple[str, ...]] = field(default_factory=dict)
    beside: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        """Entries that the notes rest on, each once, in the order of the notes."""
        return tuple(dict.fromkeys(entry for node in self.notes.labels.values() for entry in self.origins.get(node, ())))


class System(Protocol):
    """One memory. A new one is a class like this and a line in `Workbench.open_system`."""

    name: str

    def observe(self, entry: Entry) -> None:
        """Take in one entry."""
        ...

    def settle(self) -> None:
        """Learn what is to be learned before questions come; may be called again after more entries."""
        ...

    def context(self, question: Question, budget: int) -> Recalled:
        """The notes for a question, at most `budget` tokens of the chat model."""
        ...

    def held(self) -> Recalled:
        """All it has stored, with the entries behind each node; no notes."""
        ...

    @property
    def spent(self) -> Spent:
        """What learning has cost, also in an earlier run whose memory is used again."""
        ...

    @property
    def disk_bytes(self) -> int: ...

    def close(self) -> None: ...


class RawTurns:
    """What the plain baselines share: they keep the turns, rank them for a question, and show the best that fit, in their order."""

    name = ""

    def __init__(self, model: ChatModel, embedder: Embedder) -> None:
        self._model, self._embedder = model, embedder
        self._entries: list[Entry] = []
        self._tokens: dict[str, int] = {}

    def observe(self, entry: Entry) -> None:
        self._entries.append(entry)

    def settle(self) -> None:
        """Nothing to learn."""

    def context(self, question: Question, budget: int) -> Recalled:
        places = self._fitting(self.ranked(question), self.budget(budget))
        return numbered([(self._entries[place], text) for place, text in sorted(places.items())])

    def held(self) -> Recalled:
        return replace(numbered([(entry, entry.text) for entry in self._entries]), notes=Notes("", {}))

    def ranked(self, question: Question) -> Iterable[int]:
        """Places of entries, the one to show first in front."""
        raise NotImplementedError

    def budget(self, given: int) -> int:
        return given

    @property
    def spent(self) -> Spent:
        return Spent()

    @property
    def disk_bytes(self) -> int:
        return sum(len(entry.text.encode("utf-8", "replace")) for entry in self._entries)

    def close(self) -> None:
        """Nothing is held."""

    def _fitting(self, ranked: Iterable[int], budget: int) -> dict[int, str]:
        """The texts that fit, best first; one that does not is passed over for the next that does."""
        kept: dict[int, str] = {}
        left = budget - self._model.count(HEADING) - LABEL_TOKENS
        for place in ranked:
            text = self._cut(self._entries[place], int(budget * LARGEST_SHARE))
            size = self._size(text)
            if size <= left:
                kept[place] = text
                left -= size
            if left <= LABEL_TOKENS:
                break
        return kept

    def _size(self, text: str) -> int:
        if text not in self._tokens:
            self._tokens[text] = self._model.count(text) + LABEL_TOKENS
        return self._tokens[text]

    def _cut(self, entry: Entry, most: int) -> str:
        text = f"{day_of(entry)}: {on_one_line(entry.text)}"
        size = self._size(text)
        if size <= most:
            return text
        words = text.split(" ")
        return f"{' '.join(words[: max(1, int(len(words) * most / size) - 1)])} …"


def numbered(entries: Sequence[tuple[Entry, str]]) -> Recalled:
    """Entries as numbered notes, each under its text as it is to be shown."""
    ids = [node_id(Kind.CONTEXT, number) for number in range(1, len(entries) + 1)]
    lines = [f"[{number}] {text}" for number, (_, text) in enumerate(entries, 1)]
    graph = PersonaGraph()
    graph.add(
        Context(identifier, entry.text, entry.exchange.said.moment, keywords(entry.text), frozenset(), entry.id)
        for identifier, (entry, _) in zip(ids, entries, strict=True)
    )
    notes = Notes("\n".join([HEADING, *lines]) if lines else "", dict(enumerate(ids, 1)))
    return Recalled(notes, graph, {identifier: (entry.id,) for identifier, (entry, _) in zip(ids, entries, strict=True)})


def day_of(entry: Entry) -> str:
    moment = entry.exchange.said.moment
    return moment.day.isoformat() if moment else "undated"


class NoMemory(RawTurns):
    """The control: whatever is right here is right without any memory."""

    name = "none"

    def ranked(self, question: Question) -> Iterable[int]:
        return ()

    def held(self) -> Recalled:
        return Recalled()

    @property
    def disk_bytes(self) -> int:
        return 0


class Recent(RawTurns):
    """The last turns that fit."""

    name = "recent"

    def ranked(self, question: Question) -> Iterable[int]:
        return reversed(range(len(self._entries)))


class Full(Recent):
    """All of the history that fits the model's context window, whatever the budget says."""

    name = "full"

    def budget(self, given: int) -> int:
        heads = (load(task).head for task in ("answer", "option_check", "option_letter"))
        return min(self._model.room(head, QUESTION_TOKENS) for head in heads)


class Rag(RawTurns):
    """The turns nearest to the question by the same sentence encoder that ours uses."""

    name = "rag"

    def __init__(self, model: ChatModel, embedder: Embedder) -> None:
        super().__init__(model, embedder)
        self._rows: list[Vectors] = []

    def settle(self) -> None:
        fresh = self._entries[len(self._rows) :]
        if fresh:
            self._rows.extend(self._embedder.embed([entry.text for entry in fresh]))

    def ranked(self, question: Question) -> Iterable[int]:
        if not self._rows:
            return []
        cosines = np.stack(self._rows) @ self._embedder.embed([question.text])[0]
        return [int(place) for place in np.argsort(-cosines, kind="stable")]

    @property
    def disk_bytes(self) -> int:
        return super().disk_bytes + sum(row.nbytes for row in self._rows)


class Oracle(RawTurns):
    """The gold evidence: what the model makes of a memory that forgets nothing. Not a memory, a ceiling."""

    name = "oracle"

    def ranked(self, question: Question) -> Iterable[int]:
        gold = [entry for step in self.steps(question) for entry in sorted(step)]
        place_of = {entry.id: place for place, entry in enumerate(self._entries)}
        return [place_of[entry] for entry in dict.fromkeys(gold) if entry in place_of]

    def steps(self, question: Question) -> Sequence[frozenset[str]]:
        return question.steps


class OracleWithoutEnd(Oracle):
    """The control for chains: all evidence but the last step's. What is right here was guessed."""

    name = "oracle-without-end"

    def steps(self, question: Question) -> Sequence[frozenset[str]]:
        return [step - question.steps[-1] for step in question.steps[:-1]]
