"""`pgmem learn`, and the second half of `pgmem ingest`: what is pending -> learned, for as long as one wants to wait."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import typer

from pgmem_local.cli.background import attended
from pgmem_local.cli.opening import open_memory, say
from pgmem_local.cli.options import Where
from pgmem_local.cli.progress import IngestProgress, counted, duration, progress_for_terminal
from pgmem_local.cli.values import print_json
from pgmem_local.graph.edges import Relation
from pgmem_local.graph.nodes import Kind
from pgmem_local.memory import PersonaMemory, Progress
from pgmem_local.ports import Spent


@dataclass(frozen=True)
class Learned:
    """What learning brought (nodes and relations by name), what it cost, and how many entries still wait."""

    counts: Counter[str]
    spent: Spent
    seconds: float
    pending: int

    @property
    def model_calls(self) -> int:
        return self.spent.calls + self.spent.reads


def learn(memory: PersonaMemory, progress: IngestProgress, since: float, minutes: float | None = None) -> Learned:
    """Learn what is pending, until `minutes` after `since` (time.monotonic); the window in hand is finished."""
    before, notes = Counter(memory.store.counts()), _notes(memory)
    deadline = None if minutes is None else since + 60 * minutes

    def reached(so_far: Progress) -> None:
        progress.learned(so_far, _notes(memory) - notes)

    spent = memory.learn(reached, enough=lambda: deadline is not None and time.monotonic() >= deadline)
    return summed_up(memory, before, spent, since)


def _notes(memory: PersonaMemory) -> int:
    return sum(len(memory.graph.of_kind(kind)) for kind in (Kind.STATE, Kind.EPISODE, Kind.TRAIT))


def summed_up(memory: PersonaMemory, before: Counter[str], spent: Spent, since: float) -> Learned:
    """What has changed in the memory from `before` to now."""
    counts = Counter(memory.store.counts())
    pending = counts["pending"]
    counts.subtract(before)
    return Learned(counts, spent, time.monotonic() - since, pending)


def learn_pending(where: Where, minutes: float | None, as_json: bool) -> int:
    """Learn what earlier commands left pending and print what came of it; the exit code."""
    progress = progress_for_terminal()

    def stopped() -> None:
        progress.close()
        say("pgmem: stopped; what has been learned stays. Run `pgmem learn` again to continue.")

    def work() -> Learned:
        since = time.monotonic()
        with open_memory(where, progress.say) as memory:
            return learn(memory, progress, since, minutes)

    try:
        done = attended(work, stopped, progress.tick)
    finally:
        progress.close()
    if as_json:
        print_json(learned_value(done))
    else:
        for line in learned_lines(done):
            typer.echo(line)
    return 0


def learned_value(done: Learned) -> dict[str, Any]:
    spent = done.spent
    return {
        "learned": {name.value: done.counts[name.value] for name in (*Kind, *Relation)},
        "turns_learned": done.counts["turns_learned"],
        "pending": done.pending,
        "model_calls": done.model_calls,
        "tokens": {"evaluated": spent.evaluated, "reused": spent.reused, "written": spent.written},
        "seconds": round(done.seconds, 1),
    }


def learned_lines(done: Learned) -> Iterator[str]:
    counts, spent = done.counts, done.spent
    if counts["turns_learned"] or done.model_calls:
        nodes = ", ".join(counted(counts[kind.value], kind.value) for kind in (Kind.STATE, Kind.EPISODE, Kind.TRAIT))
        relations = ", ".join(f"{counts[relation.value]} {relation.value}" for relation in Relation if relation is not Relation.IRRELEVANT)
        yield f"{counted(counts['turns_learned'], 'entry')} learned: {nodes}; relations: {relations}"
        yield (
            f"{counted(done.model_calls, 'model call')}, {spent.evaluated:,} tokens evaluated, {spent.reused:,} reused, "
            f"{spent.written:,} written, {duration(done.seconds)}"
        )
    else:
        yield f"nothing learned, no model call, {duration(done.seconds)}"
    if done.pending:
        waiting = f"{counted(done.pending, 'entry')} still to be learned"
        yield f"{waiting}: `pgmem learn` goes on with that, at any time; `pgmem recall` finds them already"
