"""Reading a sample in a test: a format and its files -> what came out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pgmem_local.conversation import Turn
from pgmem_local.ingest.formats import Format, ReadOptions
from pgmem_local.ingest.reader import Counts
from pgmem_local.ingest.rejects import Reject
from tests.ingest.laws import OPTIONS, HeldSource

SAMPLES = Path(__file__).parent / "samples"


@dataclass(frozen=True)
class Read:
    """What a reader gave, and what it counted."""

    items: list[Turn | Reject]
    counts: Counts

    @property
    def turns(self) -> list[Turn]:
        return [item for item in self.items if isinstance(item, Turn)]

    @property
    def texts(self) -> list[str]:
        return [turn.text for turn in self.turns]

    @property
    def rejects(self) -> list[Reject]:
        return [item for item in self.items if isinstance(item, Reject)]

    @property
    def notes(self) -> dict[str, int]:
        return {wording: noted.count for wording, noted in self.counts.notes.items()}


def sample(name: str) -> bytes:
    return (SAMPLES / name).read_bytes()


def read(one: Format, files: Mapping[str, bytes] | bytes, options: ReadOptions = OPTIONS) -> Read:
    """All that a format reads in these files, one of which may be given as its bytes alone."""
    reader = one.read(HeldSource(files if isinstance(files, Mapping) else {"export": files}), options)
    return Read(list(reader), reader.counts)
