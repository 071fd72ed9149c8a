"""Turns -> the exchanges that become Contexts: the input of PGMem, Algorithm 1."""

from __future__ import annotations

from collections.abc import Iterator

from pgmem_local.conversation import Exchange, Turn, pair_exchanges
from pgmem_local.errors import IngestError
from pgmem_local.ingest.formats import Recognised
from pgmem_local.ingest.reader import Counts, Reader
from pgmem_local.ingest.rejects import Reject


class Exchanges:
    """A reader's turns as exchanges, with its rejects in between; `counts` is complete once the iteration has ended.

    recognised: the format that was taken, and why.
    """

    def __init__(self, reader: Reader, recognised: Recognised) -> None:
        self._reader = reader
        self.recognised = recognised

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
