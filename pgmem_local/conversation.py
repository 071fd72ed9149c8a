"""What comes in: moments, turns and the exchanges they form. Pure values; nothing here reads a file or a clock."""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from enum import Enum


class Speaker(str, Enum):
    """Who said a turn."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, order=True)
class Moment:
    """An instant in UTC, with the UTC offset (minutes) the writer's clock had."""

    utc: datetime
    offset_minutes: int = 0

    @classmethod
    def of(cls, when: datetime) -> Moment:
        """The moment of an aware datetime; raises ValueError on a naive one."""
        offset = when.utcoffset()
        if offset is None:
            raise ValueError(f"{when.isoformat()} has no UTC offset")
        return cls(when.astimezone(timezone.utc), round(offset.total_seconds() / 60))

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


@dataclass(frozen=True)
class Turn:
    """One thing said or written. `moment` is None where the source gives no time: it is never invented."""

    text: str
    moment: Moment | None
    speaker: Speaker = Speaker.USER
    session: str | None = None


@dataclass(frozen=True)
class Exchange:
    """A user's turn with the reply it got, or one diary entry: what becomes one Context node."""

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
    material = "\x1f".join((turn.speaker.value, when, words))
    return hashlib.sha256(material.encode("utf-8", "replace")).hexdigest()[:32]


def pair_exchanges(turns: list[Turn]) -> list[Exchange]:
    """Turns in order -> exchanges. Replies that follow a user's turn in its session belong to it; a reply to nothing is left out."""
    exchanges: list[Exchange] = []
    for turn in turns:
        if turn.speaker is Speaker.USER:
            exchanges.append(Exchange(turn))
        elif exchanges and exchanges[-1].said.session == turn.session:
            last = exchanges[-1]
            reply = f"{last.reply}\n{turn.text}" if last.reply else turn.text
            exchanges[-1] = Exchange(last.said, reply)
    return exchanges
