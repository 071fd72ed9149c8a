"""What every format's reader offers, and what it counts so that nothing is lost without a word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from pgmem_local.conversation import Turn
from pgmem_local.ingest.rejects import Reject

_LINES_NAMED = 100


@dataclass
class Noted:
    """How often something worth telling was met, and where (the first hundred): in which file, at which line."""

    count: int = 0
    places: list[tuple[str, int]] = field(default_factory=list)

    def add(self, file: str, line: int, times: int = 1) -> None:
        self.count += times
        if len(self.places) < _LINES_NAMED:
            self.places.append((file, line))

    @property
    def lines(self) -> list[int]:
        return [line for _, line in self.places]


@dataclass
class Counts:
    """What was met so far. Every record is exactly one of turn, rejected, skipped: records = turns + rejected + skipped.

    skipped: turns of tools and others who are neither the user nor the assistant; `notes` says which.
    loose_replies: assistant turns that answer nothing the user said, so that no exchange holds them.
    bytes_to_read: of all files that will be read, 0 where that cannot be known.
    notes: what was assumed or repaired, by its wording. unit: what the numbers of `Noted` count, lines or records.
    """

    records: int = 0
    blank: int = 0
    turns: int = 0
    rejected: int = 0
    skipped: int = 0
    loose_replies: int = 0
    bytes_read: int = 0
    bytes_to_read: int = 0
    masked: Noted = field(default_factory=Noted)
    notes: dict[str, Noted] = field(default_factory=dict)
    unit: str = "line"

    def note(self, file: str, line: int, wording: str) -> None:
        self.notes.setdefault(wording, Noted()).add(file, line)


class Reader(Protocol):
    """One file of one format, read once from beginning to end in constant memory.

    Iterating raises IngestError where the file cannot be used at all, at the latest when its end was reached without one turn.
    """

    counts: Counts

    def __iter__(self) -> Iterator[Turn | Reject]: ...
