"""A report as a Markdown table. Its first sentence says whether a plain baseline beats ours, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from pgmem_local.bench.runner import Report
from pgmem_local.bench.scoring.intervals import flat
from pgmem_local.bench.tasks import Task
from pgmem_local.bench.workbench import OURS

COSTS = {
    "evaluated_per_turn": "evaluated / turn",
    "written_per_turn": "written / turn",
    "calls_per_turn": "calls / turn",
    "evaluated_per_question": "evaluated / question",
    "written_per_question": "written / question",
    "notes_tokens_per_question": "notes / question",
}


def write_table(task: Task[Any], report: Report) -> str:
    """The whole page."""
    settings = report.whole["settings"]
    about = f"Model {report.whole['model']['name']}, {settings['budget']} tokens of context a question, seed {settings['seed']}"
    parts = [f"# {report.task}", verdict(task, report), f"{about}. In brackets 95 % intervals.", metrics_table(task, report)]
    if controls := flat(report.whole["controls"]):
        parts.append("Controls: " + ", ".join(f"{words(name)} {number(value)}" for name, value in controls.items()) + ".")
    if report.whole["share_of_oracle"]:
        parts.append("As a share of what the gold evidence gets (oracle):")
        parts.append(shares_table(task, report))
    return "\n\n".join([*parts, "Tokens and calls:", costs_table(report)]) + "\n"


def verdict(task: Task[Any], report: Report) -> str:
    """Where a plain baseline beats ours, in one sentence."""
    if OURS not in report.systems:
        return f"{OURS} was not run."
    plain = [system for system in report.systems if system.partition("@")[0] in task.plain]
    found = {system: beaten for system in plain if (beaten := _better(task, report, system))}
    if found:
        return "; ".join(f"**{system} beats {OURS}** in {', '.join(map(words, names))}" for system, names in found.items()) + "."
    return f"None of {', '.join(plain)} beats {OURS} in any column." if plain else "No plain baseline was run."


def _better(task: Task[Any], report: Report, system: str) -> list[str]:
    ours, theirs = flat(report.metrics[OURS]), flat(report.metrics[system])
    signs = {name: -1 if name in task.lower else 1 for name in task.decisive}
    nothing = float("nan")
    return [name for name, sign in signs.items() if sign * theirs.get(name, nothing) > sign * ours.get(name, nothing)]


def metrics_table(task: Task[Any], report: Report) -> str:
    rows = []
    for system in report.systems:
        values, spread = flat(report.metrics[system]), report.whole["intervals"][system]
        rows.append([system, *(_with_interval(values, spread, name) for name in task.headline)])
    return _table(["", *map(words, task.headline)], rows)


def shares_table(task: Task[Any], report: Report) -> str:
    shares: Mapping[str, Mapping[str, float]] = report.whole["share_of_oracle"]
    names = [name for name in task.headline if name not in task.lower]
    return _table(["", *map(words, names)], [[system, *(number(found.get(name)) for name in names)] for system, found in shares.items()])


def costs_table(report: Report) -> str:
    costs: Mapping[str, Mapping[str, float | None]] = report.whole["cost"]
    used = {name: title for name, title in COSTS.items() if any(costs[system].get(name) is not None for system in report.systems)}
    rows = [[system, *(number(costs[system].get(name), 1) for name in used)] for system in report.systems]
    return _table(["", *used.values()], rows)


def words(name: str) -> str:
    """accuracy_by_k.3 -> `K=3`, recall.support -> `recall support`."""
    return name.replace("accuracy_by_k.", "K=").replace(".", " ").replace("_", " ")


def number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None or isnan(value) else f"{value:,.{digits}f}"


def _with_interval(values: Mapping[str, float], spread: Mapping[str, Sequence[float]], name: str) -> str:
    value = number(values.get(name))
    return f"{value} ({number(spread[name][0])}–{number(spread[name][1])})" if name in spread else value


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
