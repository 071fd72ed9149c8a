"""What comes in: moments, turns and the exchanges they form. Pure values; nothing here reads a file or a clock."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from enum import Enum
from typing import TypeVar

BROKEN_OFF = " …"
"""Ends a reply that was stopped, in a conversation and in the store."""


class Speaker(str, Enum):
    """Who said a turn: the owner of the memory, the assistant, or somebody else in a chat between people."""

    USER = "user"
    ASSISTANT = "assistant"
    OTHER = "other"


@dataclass(frozen=True, order=True)
class Moment:
    """An instant in UTC, with the UTC offset (minutes) the writer's clock had."""

    utc: datetime
    offset_minutes: int = 0

    @classmethod
    def of(cls, when: datetime) -> Moment:
        """The moment of an aware datetime; raises ValueError on a naive one.

        Before there were zones, clocks went by the sun and offsets had seconds. Those are given up rather than the writer's day.
        """
        offset = when.utcoffset()
        if offset is None:
            raise ValueError(f"{when.isoformat()} has no UTC offset")
        minutes = round(offset.total_seconds() / 60)
        return cls(when.replace(tzinfo=timezone(timedelta(minutes=minutes))).astimezone(timezone.utc), minutes)

    @property
    def local(self) -> datetime:
        """The same instant on the writer's clock."""
        return self.utc.astimezone(timezone(timedelta(minutes=self.offset_minutes)))

    @property
    def day(self) -> date:
        """The calendar day the writer would name."""
        return self.local.date()

    def isoformat(self) -> str:
        return self.local.isoformat()

    def __str__(self) -> str:
        return self.isoformat()


def written_day(moment: Moment | None) -> str:
    """The day as notes, tables and files name it."""
    return moment.day.isoformat() if moment else "undated"


@dataclass(frozen=True)
class Turn:
    """One thing said or written. `moment` is None where the source gives no time: it is never invented.

    author: the name of somebody else who said it; None for the owner and the assistant.
    """

    text: str
    moment: Moment | None
    speaker: Speaker = Speaker.USER
    session: str | None = None
    author: str | None = None


@dataclass(frozen=True)
class Exchange:
    """A user's turn with the assistant's reply, one diary entry, or one message of somebody else: what becomes one Context node."""

    said: Turn
    reply: str | None = None

    @property
    def key(self) -> str:
        """Identity from content and event time, never from the time or the file of ingest."""
        return entry_key(self.said)


def entry_key(turn: Turn) -> str:
    """Stable identity (32 hex digits) of a turn: speaker, instant and words, whatever file it came from."""
    words = " ".join(unicodedata.normalize("NFC", turn.text).split())
    when = turn.moment.utc.isoformat() if turn.moment else "undated"
    speaker = turn.speaker.value if turn.author is None else f"{turn.speaker.value} {turn.author}"
    material = "\x1f".join((speaker, when, words))
    return hashlib.sha256(material.encode("utf-8", "replace")).hexdigest()[:32]


OPEN_EXCHANGES = 256
"""Exchanges kept open for a reply. Exports hold session after session; only chats merged line by line need more than one."""
LONGEST_REPLY = 100_000
"""Characters of reply one exchange takes in: a log of thousands of assistant turns in a row is no reply."""

Other = TypeVar("Other")


@dataclass
class _OpenExchange:
    said: Turn
    replies: list[str] = field(default_factory=list)
    room: int = LONGEST_REPLY
    complete: bool = False

    def takes(self, reply: Turn) -> bool:
        if len(reply.text) > self.room:
            return False
        self.replies.append(reply.text)
        self.room -= len(reply.text)
        return True

    def close(self) -> Exchange:
        return Exchange(self.said, "\n".join(self.replies) or None)


def pair_exchanges(stream: Iterable[Turn | Other], limit: int = OPEN_EXCHANGES) -> Iterator[Exchange | Turn | Other]:
    """Turns -> exchanges, in the order of the user's turns, while they come in.

    Replies belong to the last user's turn of their session; sessions may be interleaved. A reply to nothing comes out as the
    turn it is, and so does one that comes too late or is too long; whatever is not a turn passes through.
    """
    waiting: deque[_OpenExchange] = deque()
    latest: dict[str | None, _OpenExchange] = {}
    for item in stream:
        if not isinstance(item, Turn):
            yield item
            continue
        current = latest.get(item.session)
        if item.speaker is Speaker.ASSISTANT:
            if current is None or not current.takes(item):
                yield item
            continue
        if current is not None:
            current.complete = True
        latest[item.session] = opened = _OpenExchange(item)
        waiting.append(opened)
        while waiting[0].complete or len(waiting) > limit:
            yield _close_oldest(waiting, latest)
    while waiting:
        yield _close_oldest(waiting, latest)


def _close_oldest(waiting: deque[_OpenExchange], latest: dict[str | None, _OpenExchange]) -> Exchange:
    oldest = waiting.popleft()
    if latest.get(oldest.said.session) is oldest:
        del latest[oldest.said.session]
    return oldest.close()
