"""`pgmem ingest`: paths -> exchanges, stored as they come -> learned; then what came of every record."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import inf
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import typer

from pgmem_local.cli.background import attended
from pgmem_local.cli.learning import Learned, learn, learned_lines, learned_value, summed_up
from pgmem_local.cli.opening import open_memory, say
from pgmem_local.cli.options import Where
from pgmem_local.cli.progress import IngestProgress, counted, progress_for_terminal
from pgmem_local.cli.reading import SHOWN, Paths, Request, remarks
from pgmem_local.cli.values import print_json
from pgmem_local.control.editing import Edit, EditedEntries
from pgmem_local.conversation import Exchange
from pgmem_local.errors import IngestError, StoreBusy
from pgmem_local.ingest.rejects import RejectsFile
from pgmem_local.ingest.untrusted import printable
from pgmem_local.memory import PersonaMemory
from pgmem_local.ports import Spent
from pgmem_local.store.sqlite import Added

BATCH = 64
"""Exchanges stored in one transaction."""
FIRST_BATCH = 4
"""Fewer at first, so that it shows soon how fast it goes."""
SOME_REJECTED = 3

Item = TypeVar("Item")


@dataclass
class Intake:
    """What became of the entries of all paths. Every one is new, a new version of one that was known, known, or known and now has its
    missing reply."""

    paths: Paths
    entries: int = 0
    new: int = 0
    changed: int = 0
    known: int = 0
    completed: int = 0

    def add(self, added: Added) -> None:
        self.new += len(added.new)
        self.changed += len(added.changed)
        self.known += added.known
        self.completed += len(added.completed)
        self.entries += len(added.new) + len(added.changed) + added.known + len(added.completed)


@dataclass(frozen=True)
class Ingested:
    """An ingest that has ended: what was read, and what was learned from it."""

    intake: Intake
    learned: Learned
    rejects: Path | None

    @property
    def exit_code(self) -> int:
        return exit_code(self.intake.paths)


@dataclass(frozen=True)
class Effort:
    """How much learning may cost: minutes of it, or none at all."""

    minutes: float | None = None
    without_model: bool = False


def exit_code(paths: Paths) -> int:
    if paths.failures:
        return 1
    return SOME_REJECTED if paths.rejected else 0


def ingest_paths(request: Request, where: Where, effort: Effort, as_json: bool) -> int:
    """Take the paths in and print what came of it; the exit code."""
    progress = progress_for_terminal()
    progress.say(f"reading {', '.join(printable(str(path)) for path in request.paths)} …")

    def stopped() -> None:
        progress.close()
        say("pgmem: stopped; what is stored and learned stays. Run the same command again to continue.")

    try:
        done = attended(lambda: _ingest(request, where, effort, progress), stopped, progress.tick)
    finally:
        progress.close()
    if as_json:
        print_json(as_value(done))
    else:
        for line in summary(done):
            typer.echo(line)
    return done.exit_code


def _ingest(request: Request, where: Where, effort: Effort, progress: IngestProgress) -> Ingested:
    since = time.monotonic()
    with open_memory(where, progress.say) as memory:
        before = Counter(memory.store.counts())
        with RejectsFile(memory.store.rejects_file) as rejects:
            shown = SHOWN if rejects.path else inf
            intake = take_in(memory, Paths(request, progress.say, rejects.add, shown), rejects, progress)
        if effort.without_model:
            memory.vectors.save()
            spent = Spent()
        else:
            spent = learn(memory, progress, since, effort.minutes).spent
        return Ingested(intake, summed_up(memory, before, spent, since), memory.store.rejects_file)


def take_in(memory: PersonaMemory, paths: Paths, rejects: RejectsFile, progress: IngestProgress) -> Intake:
    """Store what the paths hold. Raises IngestError where not one of them could be used."""
    intake, edited = Intake(paths), memory.edited_entries()
    try:
        for batch in _batches(paths):
            for path, items in groupby(batch, key=itemgetter(0)):
                file = path.absolute()
                _observe(memory, intake, edited.hold_back([exchange for _, exchange, _ in items], file), file)
            progress.stored(intake.entries, batch[-1][2])
    except IngestError as error:
        _settle(memory, intake, edited, progress)
        if not paths.rejected or rejects.path is None:
            raise
        raise IngestError(f"{error}; what was rejected is in {rejects.path}") from error
    _settle(memory, intake, edited, progress)
    return intake


def _observe(memory: PersonaMemory, intake: Intake, exchanges: Sequence[Exchange], file: Path) -> None:
    if exchanges:
        intake.add(memory.observe(exchanges, file))


def _settle(memory: PersonaMemory, intake: Intake, edited: EditedEntries, progress: IngestProgress) -> None:
    """Store what waited for the end. An edited entry whose earlier version is in use is kept beside it: no words are lost."""
    settled = edited.settled({path.absolute() for path in intake.paths.failures})
    edits, others = list(settled.edits), list(settled.others)
    try:
        while edits:
            intake.add(memory.replace_earlier(edits[:BATCH]))
            del edits[:BATCH]
            progress.stored(intake.entries, 1.0)
    except StoreBusy:
        progress.say(_kept_both(edits))
        others += [(edit.exchange, edit.file) for edit in edits]
    for batch in _batches(others):
        for file, items in groupby(batch, key=itemgetter(1)):
            _observe(memory, intake, [exchange for exchange, _ in items], file)
        progress.stored(intake.entries, 1.0)


def _kept_both(edits: Sequence[Edit]) -> str:
    what = counted(len(edits), "edited entry")
    earlier = " ".join(edit.earlier.id for edit in edits)
    return f"pgmem: another process is learning; {what} kept beside the earlier version, which `pgmem forget {earlier}` removes"


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Items a few at a time, also those before one that cannot be read; then its IngestError."""
    source, size = iter(items), FIRST_BATCH
    batch: list[Item] = []
    try:
        for item in source:
            batch.append(item)
            if len(batch) == size:
                yield batch
                batch, size = [], min(2 * size, BATCH)
    except IngestError:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def as_value(done: Ingested) -> dict[str, Any]:
    intake, read = done.intake, done.intake.paths.read
    return {
        "entries": intake.entries,
        "new": intake.new,
        "changed": intake.changed,
        "known": intake.known,
        "completed": intake.completed,
        "rejected": intake.paths.rejected,
        "skipped": sum(one.left_out for one in read.values()),
        "blank": sum(one.counts.blank for one in read.values()),
        "secrets_masked": sum(one.counts.masked.count for one in read.values()),
        "rejects_file": str(done.rejects) if intake.paths.rejected and done.rejects else None,
        "formats": {str(path): one.recognised.format.name for path, one in read.items() if one.recognised},
        "failed_files": {str(path): reason for path, reason in intake.paths.failures.items()},
        **learned_value(done.learned),
    }


def summary(done: Ingested) -> Iterator[str]:
    """What came of it, in lines for people."""
    intake = done.intake
    completed = f", {intake.completed} with their missing reply" if intake.completed else ""
    changed = f"{intake.changed:,} changed, " if intake.changed else ""
    yield f"{counted(intake.entries, 'entry')} read: {intake.new:,} new, {changed}{intake.known:,} known{completed}"
    if intake.paths.rejected:
        yield f"{counted(intake.paths.rejected, 'record')} rejected, {_repair(intake.paths, done.rejects)}"
    yield from remarks(intake.paths.read)
    yield from learned_lines(done.learned)


def _repair(paths: Paths, rejects: Path | None) -> str:
    if rejects is None:
        return "kept nowhere, since the memory is encrypted; repair what is named above where it stands and ingest it again"
    foreign = [one for one in paths.read.values() if one.counts.rejected and one.recognised and one.recognised.format.name != "jsonl"]
    place = 'put {"timestamp", "text"} or a chat turn in place of each `raw`' if foreign else "repair what is there"
    return f"kept in {rejects}; {place} and ingest that file"
