"""How far an ingest is: a bar on a terminal, a line every few seconds elsewhere. Always on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from pgmem_local.cli.opening import say
from pgmem_local.memory import Progress

LINE_SECONDS = 5.0


class IngestProgress(Protocol):
    """Who is told how an ingest goes on; from the thread that works, but for `tick`, which comes several times a second."""

    def say(self, line: str) -> None: ...

    def stored(self, entries: int, share: float | None = None) -> None:
        """So many entries are stored (or, in a dry run, read), and so much of the file is read."""
        ...

    def learned(self, progress: Progress) -> None: ...

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


def pace(progress: Progress, seconds: float) -> str:
    """Tokens a second and, from the first entry on, the time that is left."""
    tokens = progress.spent.evaluated + progress.spent.written
    if not progress.done or seconds <= 0:
        return ""
    left = seconds / progress.done * (progress.total - progress.done)
    return f"{tokens / seconds:,.0f} tokens/s, {duration(left)} left"


def taken_in(entries: int, share: float | None, seconds: float) -> str:
    """Entries so far and, where the length of the file is known, how much of it is read and the time that is left."""
    if not share:
        return f"{entries:,} entries read"
    return f"{entries:,} entries read, {share:.0%} of the file, {duration(seconds / share * (1 - share))} left"


def duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


class LineProgress:
    """Plain lines; while one model call takes long, the last one is said again with the time that has passed."""

    def __init__(self, write: Callable[[str], None] = say, clock: Callable[[], float] = time.monotonic) -> None:
        self._write, self._clock = write, clock
        self._last = self._started = clock()
        self._began: float | None = None
        self._state = "working"

    def say(self, line: str) -> None:
        self._write(line)

    def stored(self, entries: int, share: float | None = None) -> None:
        self._state = taken_in(entries, share, self._clock() - self._started)

    def learned(self, progress: Progress) -> None:
        if self._began is None:
            self._began = self._clock()
        speed = pace(progress, self._clock() - self._began)
        self._state = f"learned {progress.done}/{progress.total}" + (f", {speed}" if speed else "")
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
        self._task = self._bars.add_task("working", total=None, pace="")
        self._began: float | None = None
        self._started = time.monotonic()
        self._bars.start()

    def say(self, line: str) -> None:
        self._bars.console.print(line, markup=False, highlight=False, emoji=False, soft_wrap=True)

    def stored(self, entries: int, share: float | None = None) -> None:
        description = taken_in(entries, share, time.monotonic() - self._started)
        self._bars.update(self._task, description=description, completed=share or 0, total=1 if share else None)

    def learned(self, progress: Progress) -> None:
        if self._began is None:
            self._began = time.monotonic()
        self._bars.update(
            self._task,
            description=f"learned {progress.done}/{progress.total}",
            completed=progress.done,
            total=progress.total,
            pace=pace(progress, time.monotonic() - self._began),
        )

    def tick(self) -> None:
        pass  # the bar turns by itself

    def close(self) -> None:
        self._bars.stop()
