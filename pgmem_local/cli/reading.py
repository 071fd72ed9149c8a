"""What `pgmem ingest` was asked to read: paths and what is said about them -> a stream of exchanges for each, or why not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import typer

from pgmem_local.conversation import Exchange
from pgmem_local.errors import IngestError
from pgmem_local.ingest.exchanges import Exchanges
from pgmem_local.ingest.formats import ReadOptions, Recognised
from pgmem_local.ingest.period import Period, Within
from pgmem_local.ingest.reader import Counts, Noted
from pgmem_local.ingest.registry import read_exchanges
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.untrusted import printable

SHOWN = 20
"""Rejects said on the terminal, and lines named in a remark; files of damaged records would hide everything else."""
SEE_ABOVE = "see above, put the file right and run the same command again"


@dataclass(frozen=True)
class Request:
    """Which paths to read, as which format, with what the user says about them, and of which days."""

    paths: tuple[Path, ...]
    options: ReadOptions = field(default_factory=ReadOptions)
    format_name: str | None = None
    period: Period = field(default_factory=Period)


@dataclass
class PathRead:
    """What became of one path: its format, what its reader counted, how many entries were of other days, why it failed."""

    counts: Counts = field(default_factory=Counts)
    recognised: Recognised | None = None
    entries: int = 0
    outside: int = 0
    undated: int = 0
    failure: str | None = None

    @property
    def left_out(self) -> int:
        return self.counts.skipped + self.counts.loose_replies + self.outside + self.undated


class Paths:
    """Reads all paths of a request; what was told about each of them is in `read` as soon as it is known.

    say: hears the format of each path, failures, and the first `shown` rejects. keep: is given every reject.
    """

    def __init__(
        self, request: Request, say: Callable[[str], None], keep: Callable[[Reject], None], shown: float = SHOWN
    ) -> None:
        self._request, self._say, self._keep, self._shown = request, say, keep, shown
        self._rejects_said = 0
        self.read: dict[Path, PathRead] = {path: PathRead() for path in request.paths}

    @property
    def rejected(self) -> int:
        return sum(one.counts.rejected for one in self.read.values())

    @property
    def failures(self) -> dict[Path, str]:
        return {path: one.failure for path, one in self.read.items() if one.failure is not None}

    def __iter__(self) -> Iterator[tuple[Path, Exchange, float | None]]:
        """(path, exchange, share of the path that is read). Raises IngestError in the end where no path could be used."""
        for path, read in self.read.items():
            try:
                yield from ((path, exchange, share) for exchange, share in self._exchanges(path, read))
            except IngestError as error:
                read.failure = str(error)
                self._say(f"pgmem: {printable(str(error))}")
        if len(self.failures) == len(self.read):
            raise IngestError(f"nothing could be read; {SEE_ABOVE}")

    def _exchanges(self, path: Path, read: PathRead) -> Iterator[tuple[Exchange, float | None]]:
        exchanges = read_exchanges(path, self._request.options, self._request.format_name)
        read.counts, read.recognised = exchanges.counts, exchanges.recognised
        self._say(printable(f"{path}: {exchanges.recognised.format.title} ({exchanges.recognised.reason})"))
        within = Within(exchanges, self._request.period)
        for item in within:
            read.outside, read.undated = within.outside, within.undated
            if isinstance(item, Reject):
                self._put_away(item, read.counts.unit)
            else:
                read.entries += 1
                yield item, _share(exchanges)
        read.outside, read.undated = within.outside, within.undated

    def _put_away(self, reject: Reject, unit: str) -> None:
        """Keep a reject and say it, until there are too many to say."""
        self._keep(reject)
        self._rejects_said += 1
        if self._rejects_said <= self._shown:
            self._say(printable(f"rejected: {reject.path} {unit} {reject.line}: {reject.reason}"))
        elif self._rejects_said == self._shown + 1:
            self._say("rejected: more")


def _share(exchanges: Exchanges) -> float | None:
    return min(1.0, exchanges.counts.bytes_read / exchanges.size) if exchanges.size else None


def fields_to_map(written: str | None) -> dict[str, str]:
    """text=note,timestamp=when -> our names of fields to theirs."""
    pairs = [pair.split("=", 1) for pair in written.split(",")] if written else []
    if not all(len(pair) == 2 and pair[0].strip() and pair[1].strip() for pair in pairs):
        raise typer.BadParameter("write it as text=NAME,timestamp=NAME,role=NAME,session=NAME, as far as needed", param_hint="--map")
    return {ours.strip(): theirs.strip() for ours, theirs in pairs}


def remarks(path: Path, read: PathRead) -> Iterator[str]:
    """What there is to say about the records of a path, in lines for people."""
    counts, period = read.counts, read.outside + read.undated
    if counts.masked.count:
        where = _places(counts.masked, counts.unit)
        yield f"{path}: {counted(counts.masked.count, 'secret')} taken out before anything was stored ({where})"
    if counts.loose_replies:
        yield f"{path}: replies to nothing that was said, left out: {counts.loose_replies}"
    if period:
        yield f"{path}: of other days, left out: {read.outside}; without a date, left out: {read.undated}"
    for wording, noted in counts.notes.items():
        yield printable(f"{path}: {noted.count}× {wording} ({_places(noted, counts.unit)})")


def counted(number: int, what: str, several: str | None = None) -> str:
    """1 record, 2,000 records."""
    return f"{number:,} {what if number == 1 else several or _plural(what)}"


def _places(noted: Noted, unit: str) -> str:
    numbers = list(dict.fromkeys(noted.lines))
    shown = ", ".join(map(str, numbers[:SHOWN]))
    more = " and more" if len(numbers) > SHOWN or noted.count > len(noted.lines) else ""
    return f"{unit if len(numbers) == 1 else _plural(unit)} {shown}{more}"


def _plural(word: str) -> str:
    return word[:-1] + "ies" if word.endswith("y") else word + "s"
