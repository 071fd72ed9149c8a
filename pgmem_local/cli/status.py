"""`pgmem status`: what goes on in a memory, seen from outside. Opens no model and takes no lock that anybody waits for."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from datetime import datetime

import typer

from pgmem_local.cli.opening import passphrase_prompt
from pgmem_local.cli.options import Where
from pgmem_local.cli.progress import duration
from pgmem_local.cli.values import print_json
from pgmem_local.store.learning import Learner, current_learner
from pgmem_local.store.place import Place, locate
from pgmem_local.store.sqlite import MemoryStore


@dataclass(frozen=True)
class Status:
    """A memory as it stands: entries, those learned and those that wait, when its files changed, and who learns."""

    folder: str
    entries: int
    learned: int
    pending: int
    last_written: str | None
    learner: Learner | None

    def seconds_left(self, now: float) -> float | None:
        """From the pace so far; None before the first entry is learned."""
        if self.learner is None or not self.learner.done:
            return None
        return (now - self.learner.began) / self.learner.done * (self.learner.total - self.learner.done)


def show_status(where: Where, as_json: bool) -> None:
    """Print how the memory stands."""
    place = locate(where.home, where.profile)
    status, now = read_status(place), time.time()
    left = status.seconds_left(now)
    if as_json:
        print_json({**asdict(status), "learning": status.learner is not None, "seconds_left": left and round(left)})
        return
    typer.echo(status.folder)
    typer.echo(_learning(status.learner, left, now))
    typer.echo(f"{status.entries} entries: {status.learned} learned, {status.pending} pending")
    typer.echo(f"last written {status.last_written or 'never'}")


def read_status(place: Place) -> Status:
    """How a memory stands; one that does not exist is empty, and is not begun by asking for it."""
    learner, written = current_learner(place.learning_lock), _last_written(place)
    counts = {"context": 0, "pending": 0}
    if place.database.exists():
        with MemoryStore.open(place.home, place.profile, prompt=passphrase_prompt()) as store:
            counts = store.counts()
    learned = counts["context"] - counts["pending"]
    return Status(str(place.folder), counts["context"], learned, counts["pending"], written, learner)


def _last_written(place: Place) -> str | None:
    """When the database or its log changed last."""
    files = (place.database, place.database.with_name(f"{place.database.name}-wal"))
    times = [path.stat().st_mtime for path in files if path.exists() and path.stat().st_size]
    return datetime.fromtimestamp(max(times)).astimezone().isoformat(timespec="seconds") if times else None


def _learning(learner: Learner | None, left: float | None, now: float) -> str:
    if learner is None:
        return "nobody is learning"
    pace = f", about {duration(left)} left" if left is not None else ""
    since = duration(now - learner.began)
    return f"process {learner.process} has been learning for {since}: {learner.done} of {learner.total} done{pace}"
