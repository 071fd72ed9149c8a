"""How far an ingest is: a bar on a terminal, a line every few seconds elsewhere. Always on standard error."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from pgmem_local.cli.opening import say
from pgmem_local.memory import Progress

LINE_SECONDS = 5.0
NEARLY = 0.99
"""A bar that is full would stand still while the last entries are stored."""
OF_LATE = 20.0
"""Seconds by whose speed the time left is told."""


class IngestProgress(Protocol):
    """Who is told how an ingest goes on; from the thread that works, but for `tick`, which comes several times a second."""

    def say(self, line: str) -> None: ...

    def stored(self, entries: int, share: float | None = None) -> None:
        """So many entries are stored (or, in a dry run, read), and so much of the file is read."""
        ...

    def learned(self, progress: Progress, notes: int = 0) -> None:
        """So many entries are learned, and so many notes came of them."""
        ...

    def tick(self) -> None: ...

    def close(self) -> None: ...


def progress_for_terminal() -> IngestProgress:
    return BarProgress() if sys.stderr.isatty() else LineProgress()


@contextmanager
def embedding_progress() -> Iterator[Callable[[int, int], None]]:
    """Hears how many of how many texts are embedded."""
    with closing(progress_for_terminal()) as progress:

        def report(done: int, total: int) -> None:
            progress.stored(done, done / total)
            progress.tick()

        yield report


def reached(progress: Progress, notes: int) -> str:
    return f"learned {progress.done}/{progress.total}" + (f", {counted(notes, 'note')}" if notes else "")


def pace(progress: Progress, seconds: float) -> str:
    """Tokens a second and, from the first entry on, the time that is left."""
    tokens = progress.spent.evaluated + progress.spent.written
    if not progress.done or seconds <= 0:
        return ""
    left = seconds / progress.done * (progress.total - progress.done)
    return f"{tokens / seconds:,.0f} tokens/s, {duration(left)} left"


class Reading:
    """Words for entries that are read one file after the other: how many and, where it is known how much there is to read, the time left.

    That goes by the speed of late: what the memory knows already takes no time, and what follows it does.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._reports = deque([(clock(), 0.0)])

    def told(self, entries: int, share: float | None) -> str:
        read = f"{counted(entries, 'entry')} read"
        if not share or share >= 1.0:  # all is read, and the last of it still being stored
            return read
        then, before = self._reached(share)
        passed, gained = self._clock() - then, share - before
        left = f", {duration(passed / gained * (1 - share))} left" if gained else ""
        return f"{read} ({share:.0%}){left}"

    def _reached(self, share: float) -> tuple[float, float]:
        """When how much was read: the report to measure from. A smaller share is that of the next path, begun at the last report."""
        last, before = self._reports[-1]
        if share < before:
            self._reports = deque([(last, 0.0)])
        self._reports.append((self._clock(), share))
        while len(self._reports) > 2 and self._reports[1][0] <= self._clock() - OF_LATE:
            self._reports.popleft()
        return self._reports[0]


def duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def counted(number: int, what: str, several: str | None = None) -> str:
    """1 record, 2,000 records."""
    return f"{number:,} {what if number == 1 else several or plural(what)}"


def plural(word: str) -> str:
    return word[:-1] + "ies" if word.endswith("y") else word + "s"


class LineProgress:
    """Plain lines; while one model call takes long, the last one is said again with the time that has passed."""

    def __init__(self, write: Callable[[str], None] = say, clock: Callable[[], float] = time.monotonic) -> None:
        self._write, self._clock = write, clock
        self._last = clock()
        self._reading = Reading(clock)
        self._began: float | None = None
        self._state = "beginning"

    def say(self, line: str) -> None:
        self._write(line)

    def stored(self, entries: int, share: float | None = None) -> None:
        self._state = self._reading.told(entries, share)

    def learned(self, progress: Progress, notes: int = 0) -> None:
        if self._began is None:
            self._began = self._clock()
        speed = pace(progress, self._clock() - self._began)
        self._state = reached(progress, notes) + (f", {speed}" if speed else "")
        if progress.done in (0, progress.total):
            self._line()

    def tick(self) -> None:
        if self._clock() - self._last >= LINE_SECONDS:
            self._line()

    def close(self) -> None:
        pass

    def _line(self) -> None:
        self._last = self._clock()
        passed = f" ({duration(self._last - self._began)})" if self._began is not None else ""
        self._write(self._state + passed)


class BarProgress:
    """A live bar, with a spinner that turns while a model call takes long."""

    def __init__(self) -> None:
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[pace]}", markup=False),
            TimeElapsedColumn(),
        )
        self._bars = Bars(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bars.add_task("beginning", total=None, pace="")
        self._began: float | None = None
        self._reading = Reading(time.monotonic)
        self._bars.start()

    def say(self, line: str) -> None:
        self._bars.console.print(line, markup=False, highlight=False, emoji=False, soft_wrap=True)

    def stored(self, entries: int, share: float | None = None) -> None:
        completed = min(share or 0.0, NEARLY)
        self._bars.update(self._task, description=self._reading.told(entries, share), completed=completed, total=1 if share else None)

    def learned(self, progress: Progress, notes: int = 0) -> None:
        if self._began is None:
            self._began = time.monotonic()
        self._bars.update(
            self._task,
            description=reached(progress, notes),
            completed=progress.done,
            total=progress.total,
            pace=pace(progress, time.monotonic() - self._began),
        )

    def tick(self) -> None:
        pass  # the bar turns by itself

    def close(self) -> None:
        self._bars.stop()
