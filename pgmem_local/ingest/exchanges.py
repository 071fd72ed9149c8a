"""A file -> the exchanges that become Contexts: the input of PGMem, Algorithm 1.

Where more formats are read, this is the place that tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, tzinfo
from pathlib import Path

from pgmem_local.conversation import Exchange, Turn, pair_exchanges
from pgmem_local.errors import IngestError
from pgmem_local.ingest.jsonl import JsonLines
from pgmem_local.ingest.reader import Counts, Reader
from pgmem_local.ingest.rejects import Reject


class Exchanges:
    """A reader's turns as exchanges, with its rejects in between; `counts` is complete once the iteration has ended."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    @property
    def counts(self) -> Counts:
        return self._reader.counts

    def __iter__(self) -> Iterator[Exchange | Reject]:
        found = False
        for item in pair_exchanges(self._reader):
            if isinstance(item, Turn):
                self.counts.loose_replies += 1
                continue
            found = found or isinstance(item, Exchange)
            yield item
        if not found:
            raise IngestError(
                "nothing was read: every turn is the assistant's and answers nothing; the user's turns need the role 'user'"
            )


def read_exchanges(path: Path, zone: tzinfo | None = None, now: datetime | None = None) -> Exchanges:
    """Exchanges and rejects of one file. `zone` is for times without one; None means this computer's."""
    return Exchanges(JsonLines(path, zone, now))
