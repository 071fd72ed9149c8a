"""How a pull tells whoever started it what happens; the callers decide how that looks."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Progress:
    """Where one file stands. `fetched` leaves out what an earlier, broken-off pull had brought."""

    file: str
    done: int
    total: int
    fetched: int
    seconds: float

    @property
    def rate(self) -> float:
        """Bytes a second."""
        return self.fetched / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        return (self.total - self.done) / self.rate if self.rate > 0 else None


class Reporter(Protocol):
    """Hears what a pull does."""

    def say(self, line: str) -> None: ...

    def progress(self, progress: Progress) -> None: ...


class Meter:
    """Turns "so many bytes are here" into Progress for one file."""

    def __init__(self, reporter: Reporter, file: str, total: int) -> None:
        self._reporter, self._file, self._total = reporter, file, total
        self._began, self._resumed = time.monotonic(), 0

    def resume(self, done: int) -> None:
        """The clock starts now, with `done` bytes from before."""
        self._began, self._resumed = time.monotonic(), done
        self.at(done)

    def at(self, done: int) -> None:
        fetched = max(done - self._resumed, 0)
        self._reporter.progress(Progress(self._file, done, self._total, fetched, time.monotonic() - self._began))
