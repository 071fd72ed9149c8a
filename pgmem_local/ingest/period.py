"""The days an ingest is limited to, by when things happened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Generic, TypeVar

from pgmem_local.conversation import Exchange

Other = TypeVar("Other")


@dataclass(frozen=True)
class Period:
    """From the first day to the last, both included, as the writer names them; None is open."""

    since: date | None = None
    until: date | None = None

    @property
    def is_open(self) -> bool:
        return self.since is None and self.until is None

    def holds(self, day: date) -> bool:
        return (self.since is None or self.since <= day) and (self.until is None or day <= self.until)


class Within(Generic[Other]):
    """A stream of exchanges less those of other days; all else passes. Counts what it leaves out.

    Where a day is asked for, an entry without a date is left out too: nothing says that it belongs there.
    """

    def __init__(self, stream: Iterable[Exchange | Other], period: Period) -> None:
        self._stream, self._period = stream, period
        self.outside = self.undated = 0

    def __iter__(self) -> Iterator[Exchange | Other]:
        for item in self._stream:
            if not isinstance(item, Exchange) or self._period.is_open:
                yield item
            elif item.said.moment is None:
                self.undated += 1
            elif self._period.holds(item.said.moment.day):
                yield item
            else:
                self.outside += 1
