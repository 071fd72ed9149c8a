"""What `pgmem ingest` was asked to read: paths and what is said about them -> a stream of exchanges for each, or why not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import typer

from pgmem_local.cli.progress import counted, plural
from pgmem_local.conversation import Exchange
from pgmem_local.errors import IngestError
from pgmem_local.ingest.formats import ReadOptions, Recognised
from pgmem_local.ingest.period import Period, Within
from pgmem_local.ingest.reader import Counts, Noted
from pgmem_local.ingest.registry import read_exchanges
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.untrusted import printable

SHOWN = 20
"""Rejects said on the terminal, and lines named in a remark; files of damaged records would hide everything else."""


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
                if len(self.read) == 1:
                    raise
                self._say(f"pgmem: {printable(str(error))}")
        if len(self.failures) == len(self.read):
            raise IngestError("nothing could be read; what was wrong with each path stands above")

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
                yield item, _share(exchanges.counts)
        read.outside, read.undated = within.outside, within.undated

    def _put_away(self, reject: Reject, unit: str) -> None:
        """Keep a reject and say it, until there are too many to say."""
        self._keep(reject)
        self._rejects_said += 1
        if self._rejects_said <= self._shown:
            self._say(printable(f"rejected: {reject.path} {unit} {reject.line}: {reject.reason}"))
        elif self._rejects_said == self._shown + 1:
            self._say("rejected: more")


def _share(counts: Counts) -> float | None:
    return min(1.0, counts.bytes_read / counts.bytes_to_read) if counts.bytes_to_read else None


def fields_to_map(written: str | None) -> dict[str, str]:
    """text=note,timestamp=when -> our names of fields to theirs."""
    pairs = [pair.split("=", 1) for pair in written.split(",")] if written else []
    if not all(len(pair) == 2 and pair[0].strip() and pair[1].strip() for pair in pairs):
        raise typer.BadParameter("write it as text=NAME,timestamp=NAME,role=NAME,session=NAME, as far as needed", param_hint="--map")
    return {ours.strip(): theirs.strip() for ours, theirs in pairs}


def remarks(read: Mapping[Path, PathRead]) -> Iterator[str]:
    """What there is to say about the records of each path, in lines for people; under its name where there are several."""
    for path, one in read.items():
        said = [printable(line) for line in _remarks(path, one)]
        if said and len(read) > 1:
            yield printable(f"{path}:")
        yield from (f"  {line}" for line in said)


def _remarks(path: Path, read: PathRead) -> Iterator[str]:
    counts = read.counts
    if counts.masked.count:
        where = _places(counts.masked, counts.unit, path)
        yield f"{counted(counts.masked.count, 'secret')} taken out before anything was stored ({where})"
    if counts.blank:
        yield f"blank lines: {counts.blank:,}"
    if counts.loose_replies:
        yield f"replies to nothing that was said, left out: {counts.loose_replies}"
    if read.outside + read.undated:
        yield f"of other days, left out: {read.outside}; without a date, left out: {read.undated}"
    for wording, noted in counts.notes.items():
        yield f"{noted.count:,}× {wording} ({_places(noted, counts.unit, path)})"


def _places(noted: Noted, unit: str, path: Path) -> str:
    """Where it was met: by number and, where the path holds several files, under the name of each; records are found by that alone."""
    places = list(dict.fromkeys(noted.places))
    named: dict[str, list[int]] = {}
    for file, number in places[:SHOWN]:
        named.setdefault(file, []).append(number)
    shown = "; ".join(_place(file.removeprefix(f"{path}/"), numbers, unit, file == str(path)) for file, numbers in named.items())
    return f"{shown} and more" if len(places) > SHOWN or noted.count > len(noted.places) else shown


def _place(name: str, numbers: Sequence[int], unit: str, alone: bool) -> str:
    if unit == "record" and not alone:
        return name
    found = f"{unit if len(numbers) == 1 else plural(unit)} {', '.join(map(str, numbers))}"
    return found if alone else f"{name} {found}"
