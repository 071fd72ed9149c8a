"""`pgmem ingest`: files -> exchanges, stored as they come -> learned; then what came of every record."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from itertools import islice
from pathlib import Path
from typing import Any

import typer

from pgmem_local.cli.background import attended
from pgmem_local.cli.opening import open_memory, say
from pgmem_local.cli.options import Where
from pgmem_local.cli.progress import IngestProgress, duration, progress_for_terminal
from pgmem_local.cli.values import print_json
from pgmem_local.conversation import Exchange
from pgmem_local.errors import IngestError
from pgmem_local.graph.edges import Relation
from pgmem_local.graph.nodes import Kind
from pgmem_local.ingest import Counts, Noted, ReadOptions, Reject, RejectsFile, named_zone, printable, read_exchanges
from pgmem_local.memory import PersonaMemory
from pgmem_local.ports import Spent
from pgmem_local.store.sqlite import Added

BATCH = 64
"""Exchanges stored in one transaction."""
SHOWN = 20
"""Rejects said on the terminal, and lines named in a remark; files of damaged records would hide everything else."""
SOME_REJECTED = 3


@dataclass
class Intake:
    """What became of the records of all files. Every entry is new, known, or known and now has its missing reply."""

    entries: int = 0
    new: int = 0
    known: int = 0
    completed: int = 0
    rejects_shown: int = 0
    counts: dict[Path, Counts] = field(default_factory=dict)
    failures: dict[Path, str] = field(default_factory=dict)

    def add(self, added: Added) -> None:
        self.new += len(added.new)
        self.known += added.known
        self.completed += added.completed
        self.entries += len(added.new) + added.known + added.completed

    @property
    def rejected(self) -> int:
        return sum(counts.rejected for counts in self.counts.values())

    @property
    def skipped(self) -> int:
        return sum(counts.skipped + counts.loose_replies for counts in self.counts.values())

    @property
    def masked(self) -> int:
        return sum(counts.masked.count for counts in self.counts.values())


@dataclass(frozen=True)
class Ingested:
    """An ingest that has ended: what was read, what was learned from it (nodes and relations by name), what it cost."""

    intake: Intake
    learned: Counter[str]
    spent: Spent
    seconds: float
    rejects: Path

    @property
    def model_calls(self) -> int:
        return self.spent.calls + self.spent.reads

    @property
    def exit_code(self) -> int:
        if self.intake.failures:
            return 1
        return SOME_REJECTED if self.intake.rejected else 0


def ingest_files(files: Sequence[Path], where: Where, zone_name: str | None, as_json: bool) -> int:
    """Take the files in and print what came of it; the exit code."""
    zone = named_zone(zone_name) if zone_name else None
    progress = progress_for_terminal()
    progress.say(f"reading {', '.join(printable(str(path)) for path in files)} …")

    def stopped() -> None:
        progress.close()
        say("pgmem: stopped; what has been learned stays. Run the same command again to continue.")

    try:
        done = attended(lambda: _ingest(files, where, zone, progress), stopped, progress.tick)
    finally:
        progress.close()
    if as_json:
        print_json(as_value(done))
    else:
        for line in summary(done):
            typer.echo(line)
    return done.exit_code


def _ingest(files: Sequence[Path], where: Where, zone: tzinfo | None, progress: IngestProgress) -> Ingested:
    began = time.monotonic()
    with open_memory(where, progress.say) as memory:
        before = Counter(memory.store.counts())
        with RejectsFile(memory.store.place.rejects) as rejects:
            intake = take_in(memory, files, zone, rejects, progress)
        spent = memory.learn(progress.learned)
        learned = Counter(memory.store.counts())
        learned.subtract(before)
        return Ingested(intake, learned, spent, time.monotonic() - began, memory.store.place.rejects)


def take_in(
    memory: PersonaMemory, files: Iterable[Path], zone: tzinfo | None, rejects: RejectsFile, progress: IngestProgress
) -> Intake:
    """Store what the files hold. Raises IngestError where not one of them could be used."""
    intake = Intake()
    for path in dict.fromkeys(files):
        intake.counts[path] = Counts()
        try:
            exchanges = read_exchanges(path, ReadOptions(zone=zone))
            intake.counts[path] = exchanges.counts
            for batch in _batches(_kept(exchanges, intake, rejects, progress)):
                intake.add(memory.observe(batch))
                progress.stored(intake.entries)
        except IngestError as error:
            intake.failures[path] = str(error)
            progress.say(f"pgmem: {printable(str(error))}")
    if intake.failures.keys() == intake.counts.keys():
        raise IngestError(_nothing_used(intake, rejects))
    return intake


def _nothing_used(intake: Intake, rejects: RejectsFile) -> str:
    kept = f"; what was rejected is in {rejects.path}" if intake.rejected else ""
    return f"nothing could be read{kept}; see above, put the file right and run the same command again"


def _kept(
    stream: Iterable[Exchange | Reject], intake: Intake, rejects: RejectsFile, progress: IngestProgress
) -> Iterator[Exchange]:
    """The exchanges; each reject is put away and said, until there are too many to say."""
    for item in stream:
        if isinstance(item, Exchange):
            yield item
            continue
        rejects.add(item)
        intake.rejects_shown += 1
        if intake.rejects_shown <= SHOWN:
            progress.say(printable(f"rejected: {item.path} line {item.line}: {item.reason}"))
        elif intake.rejects_shown == SHOWN + 1:
            progress.say(f"rejected: more; all of them are in {rejects.path}")


def _batches(exchanges: Iterable[Exchange]) -> Iterator[list[Exchange]]:
    source = iter(exchanges)
    while batch := list(islice(source, BATCH)):
        yield batch


def as_value(done: Ingested) -> dict[str, Any]:
    intake, spent = done.intake, done.spent
    return {
        "entries": intake.entries,
        "new": intake.new,
        "known": intake.known,
        "completed": intake.completed,
        "rejected": intake.rejected,
        "skipped": intake.skipped,
        "secrets_masked": intake.masked,
        "rejects_file": str(done.rejects) if intake.rejected else None,
        "failed_files": {str(path): reason for path, reason in intake.failures.items()},
        "learned": {name.value: done.learned[name.value] for name in (*Kind, *Relation)},
        "turns_learned": done.learned["turns_learned"],
        "model_calls": done.model_calls,
        "tokens": {"evaluated": spent.evaluated, "reused": spent.reused, "written": spent.written},
        "seconds": round(done.seconds, 1),
    }


def summary(done: Ingested) -> Iterator[str]:
    """What came of it, in lines for people."""
    intake, learned, spent = done.intake, done.learned, done.spent
    completed = f", {intake.completed} with their missing reply" if intake.completed else ""
    yield f"{intake.entries} entries read: {intake.new} new, {intake.known} known{completed}"
    yield from _remarks(done)
    nodes = ", ".join(f"{learned[kind.value]} {kind.value}s" for kind in (Kind.STATE, Kind.EPISODE, Kind.TRAIT))
    relations = ", ".join(
        f"{learned[relation.value]} {relation.value}" for relation in Relation if relation is not Relation.IRRELEVANT
    )
    yield f"{learned['turns_learned']} entries learned: {nodes}; relations: {relations}"
    yield (
        f"{done.model_calls} model calls, {spent.evaluated:,} tokens evaluated, {spent.reused:,} reused, "
        f"{spent.written:,} written, {duration(done.seconds)}"
    )


def _remarks(done: Ingested) -> Iterator[str]:
    intake = done.intake
    if intake.rejected:
        yield f"{_count(intake.rejected, 'record')} rejected, kept in {done.rejects}; repair what is there and ingest that file"
    for path, counts in intake.counts.items():
        if counts.masked.count:
            yield f"{path}: {_count(counts.masked.count, 'secret')} taken out before anything was stored ({_lines(counts.masked)})"
        if counts.loose_replies:
            yield f"{path}: replies to nothing that was said, left out: {counts.loose_replies}"
        for wording, noted in counts.notes.items():
            yield printable(f"{path}: {noted.count}× {wording} ({_lines(noted)})")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _lines(noted: Noted) -> str:
    lines = list(dict.fromkeys(noted.lines))
    shown = ", ".join(map(str, lines[:SHOWN]))
    more = " and more" if len(lines) > SHOWN or noted.count > len(noted.lines) else ""
    return f"{'line' if len(lines) == 1 else 'lines'} {shown}{more}"
