"""One task, run for every system and written down: one JSON to repeat it by, one table to read, plots where matplotlib is there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import isnan
from pathlib import Path
from typing import Any, TypeVar

from pgmem_local.bench.datasets.files import digest
from pgmem_local.bench.journal import Build, Journal, Outcome
from pgmem_local.bench.judging import measure_judge, read_labelled
from pgmem_local.bench.machine import MemoryWatch, RawSpeed, Weights, describe_code, describe_machine, measure_speed
from pgmem_local.bench.scoring.intervals import Metrics, flat, intervals, mean
from pgmem_local.bench.tasks import Task
from pgmem_local.bench.workbench import Step, Workbench, code_digest
from pgmem_local.ports import Spent
from pgmem_local.settings import Settings

Result = TypeVar("Result")
ORACLE = "oracle"
CHECKS = "hygiene"


@dataclass(frozen=True)
class Report:
    """A finished run: what was measured, and the whole of what is written to the JSON file."""

    task: str
    systems: tuple[str, ...]
    whole: Mapping[str, Any]

    @property
    def metrics(self) -> Mapping[str, Metrics]:
        found: Mapping[str, Metrics] = self.whole["metrics"]
        return found

    @property
    def summary(self) -> dict[str, Any]:
        """All but the results of single items."""
        return {name: value for name, value in self.whole.items() if name != "items"}


def run_task(task: Task[Result], bench: Workbench, out: Path, weights: Weights) -> Report:
    """Run what is missing, and measure all of it."""
    systems = bench.options.systems or task.systems
    data = digest(task.files(bench.options.data))
    speed = measure_speed(bench.model)
    stamp = _stamp(bench, data, weights)
    judge = _judge(task, bench)
    journal = Journal(bench.cache / f"{task.name}-{stamp}.jsonl", stamp)
    with MemoryWatch() as watch:
        for place, system in enumerate(systems):
            bench.report(Step(f"{task.name}: {system}", place, len(systems)))
            watch.take()
            for one in task.run(bench, system, journal):
                journal.add(system, replace(one, memory_bytes=watch.take()))
    whole = {
        "task": task.name,
        **describe_code(),
        "model": asdict(weights),
        "embedder": bench.embedder.identity,
        "machine": describe_machine(),
        "settings": _settings(bench, data),
        "raw_speed": asdict(speed),
        **_measured(task, bench, systems, journal, speed),
        "controls": task.controls(bench),
        "judge": judge,
        "items": {system: [_item(one) for one in journal.outcomes(system).values()] for system in systems},
    }
    report = Report(task.name, tuple(systems), whole)
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(whole, indent=1, ensure_ascii=False)
    (out / f"{task.name}.json").write_text(f"{text}\n", encoding="utf-8", errors="replace")
    return report


def _judge(task: Task[Any], bench: Workbench) -> dict[str, Any] | None:
    """How far the judge can be trusted, where it is asked for; None where it is not."""
    if not (bench.options.judge and task.checks):
        return None
    found = measure_judge(bench, task.checks)
    return {"agreement": {check: asdict(one) for check, one in found.items()}, "labelled_answers": len(read_labelled())}


def _stamp(bench: Workbench, data: str, weights: Weights) -> str:
    """What all results of one journal have in common; systems may be added."""
    options = bench.options
    told = (options.budget, options.seed, options.limit, options.every, options.judge)
    parts = (data, weights.sha256 or weights.name, bench.embedder.identity, told, code_digest())
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:12]


def _settings(bench: Workbench, data: str) -> dict[str, Any]:
    options = bench.options
    return {
        "seed": options.seed,
        "limit": options.limit,
        "budget": options.budget,
        "every": options.every,
        "judge": options.judge,
        "data": options.data.name if options.data else "shipped",
        "data_sha256": data,
        "context_tokens": bench.model.context_tokens,
        "memory": asdict(Settings(answer=bench.answering)),
    }


def _item(one: Outcome) -> dict[str, Any]:
    return {**one.result, "spent": asdict(one.spent)}


def _measured(task: Task[Any], bench: Workbench, systems: Sequence[str], journal: Journal, speed: RawSpeed) -> dict[str, Any]:
    results = {system: [task.read(one.result) for one in journal.outcomes(system).values()] for system in systems}
    metrics = {system: task.measure(found) for system, found in results.items()}
    spread = {system: intervals(found, task.measure, bench.options.seed) for system, found in results.items()}
    costs = {system: _cost(task, journal.builds(system), journal.outcomes(system), speed) for system in systems}
    checks = {system: _checks(journal.builds(system).values()) for system in systems}
    return {
        "metrics": {system: {**metrics[system], **checks[system]} for system in systems},
        "intervals": {system: {name: [one.low, one.high] for name, one in found.items()} for system, found in spread.items()},
        "share_of_oracle": _shares(metrics),
        "cost": costs,
    }


def _checks(builds: Iterable[Build]) -> Metrics:
    """What was checked of built memories, averaged over them."""
    found: dict[str, list[float]] = {}
    for build in builds:
        for name, value in build.checks.items():
            found.setdefault(name, []).extend([] if value is None else [value])
    return {CHECKS: {name: mean(values) for name, values in found.items()}} if found else {}


def _shares(metrics: Mapping[str, Metrics]) -> dict[str, dict[str, float]]:
    """Each metric as a share of what the gold evidence gets: what is missing there, the model cannot do."""
    if ORACLE not in metrics:
        return {}
    best = flat(metrics[ORACLE])
    return {
        system: {name: round(value / best[name], 4) for name, value in flat(found).items() if best.get(name, 0) > 0 and not isnan(value)}
        for system, found in metrics.items()
        if system != ORACLE
    }


def _cost(
    task: Task[Any], builds: Mapping[str, Build], outcomes: Mapping[str, Outcome], speed: RawSpeed
) -> dict[str, float | None]:
    asked = sum((one.spent for one in outcomes.values()), Spent())
    built = sum((one.spent for one in builds.values()), Spent())
    turns = sum(one.turns for one in builds.values())
    taken = [one.memory_bytes for one in builds.values()] + [one.memory_bytes for one in outcomes.values()]
    shown = [one.result["notes_tokens"] for one in outcomes.values() if "notes_tokens" in one.result]
    if task.per == "turn":
        costs = _each(asked, len(outcomes), "turn", speed)
    else:
        costs = _each(built, turns, "turn", speed) | _each(asked, len(outcomes), "question", speed)
    return costs | {
        "notes_tokens_per_question": sum(shown) / len(shown) if shown else None,
        "disk_bytes": sum(one.disk_bytes for one in builds.values()),
        "peak_memory_bytes": max(taken, default=None),
    }


def _each(spent: Spent, count: int, unit: str, speed: RawSpeed) -> dict[str, float | None]:
    """Means, and the seconds as a multiple of what the raw model would take for the same tokens one after another."""
    means = {f"{name}_per_{unit}": value / count if count else 0.0 for name, value in asdict(spent).items()}
    predicted = speed.seconds(spent)
    return {**means, f"seconds_times_raw_per_{unit}": spent.seconds / predicted if predicted else None}
