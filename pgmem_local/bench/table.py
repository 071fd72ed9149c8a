"""A report as a Markdown table. Its first sentence says whether a plain baseline beats ours, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from pgmem_local.bench.runner import CHECKS, Report
from pgmem_local.bench.scoring.intervals import flat
from pgmem_local.bench.tasks import Task
from pgmem_local.bench.tasks.questions import JUDGED
from pgmem_local.bench.workbench import JOINED, OURS


@dataclass(frozen=True)
class _Column:
    """How one cost is shown."""

    title: str
    scale: float = 1.0
    digits: int = 1


_MIB = 1 / 2**20
_COSTS = {
    **{
        f"{name}_per_{unit}": _Column(f"{name} / {unit}")
        for unit in ("turn", "question")
        for name in ("evaluated", "reused", "written", "calls", "reads")
    },
    "seconds_times_raw_per_turn": _Column("time of a turn, × raw", digits=2),
    "seconds_times_raw_per_question": _Column("time of a question, × raw", digits=2),
    "notes_tokens_per_question": _Column("notes / question"),
    "peak_memory_bytes": _Column("peak memory, MiB", _MIB, 0),
    "disk_bytes": _Column("on disk, MiB", _MIB, 2),
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
    if report.whole["judge"]:
        parts += [judge_line(report), judged_table(report)]
    if any(CHECKS in found for found in report.metrics.values()):
        parts.append("What each memory holds of what was planted, as shares of it; up to `not facts held` less is better:")
        parts.append(checks_table(report))
    costs = f"Costs, in tokens and calls; × raw: {raw_speed(report)}; peak memory is that of the whole process, model included:"
    return "\n\n".join([*parts, costs, costs_table(task, report)]) + "\n"


def verdict(task: Task[Any], report: Report) -> str:
    """Where a plain baseline beats what our user gets, in one sentence."""
    ours = next((one for name in (JOINED, OURS) for one in report.systems if one.partition("@")[0] == name), None)
    if ours is None:
        return f"{OURS} was not run."
    plain = [system for system in report.systems if system.partition("@")[0] in task.plain]
    found = {system: beaten for system in plain if (beaten := _better(task, report, ours, system))}
    if found:
        return "; ".join(f"**{system} beats {ours}** in {', '.join(map(words, names))}" for system, names in found.items()) + "."
    return f"None of {', '.join(plain)} beats {ours} in any column." if plain else "No plain baseline was run."


def _better(task: Task[Any], report: Report, own: str, system: str) -> list[str]:
    ours, theirs = flat(report.metrics[own]), flat(report.metrics[system])
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


def judge_line(report: Report) -> str:
    """What the judged columns are worth."""
    judge = report.whole["judge"]
    found = (
        f"{check} {number(one['share'])} (kappa {number(one['kappa'])})" for check, one in judge["agreement"].items()
    )
    return (
        "**Weak judge**: the model that answered also judged, so these columns prove little. Its agreement with "
        f"{judge['labelled_answers']} labelled answers: {', '.join(found)}. Score: checks that are as they should be, 0 to 4."
    )


def judged_table(report: Report) -> str:
    names = list(dict.fromkeys(name for found in report.metrics.values() for name in flat({JUDGED: found.get(JUDGED, {})})))
    rows = []
    for system in report.systems:
        values, spread = flat(report.metrics[system]), report.whole["intervals"][system]
        rows.append([system, *(_with_interval(values, spread, name) for name in names)])
    return _table(["weak judge", *(words(name.removeprefix(f"{JUDGED}.")) for name in names)], rows)


def checks_table(report: Report) -> str:
    found = {system: flat({CHECKS: report.metrics[system].get(CHECKS, {})}) for system in report.systems}
    names = list(dict.fromkeys(name for checks in found.values() for name in checks))
    rows = [[system, *(number(checks.get(name)) for name in names)] for system, checks in found.items()]
    return _table(["", *(words(name.removeprefix(f"{CHECKS}.")) for name in names)], rows)


def costs_table(task: Task[Any], report: Report) -> str:
    costs: Mapping[str, Mapping[str, float | None]] = report.whole["cost"]
    used = {name: column for name, column in _COSTS.items() if any(costs[system].get(name) for system in report.systems)}
    rows = [[system, *(_cost(costs[system].get(name), column) for name, column in used.items())] for system in report.systems]
    return _table(["", *(column.title.replace(task.per, task.item) for column in used.values())], rows)


def _cost(value: float | None, column: _Column) -> str:
    return number(None if value is None else value * column.scale, column.digits)


def raw_speed(report: Report) -> str:
    """What × raw is a multiple of."""
    speed = report.whole["raw_speed"]
    return f"the model alone reads {number(speed['prompt'], 0)} and writes {number(speed['written'], 1)} tokens a second here"


def words(name: str) -> str:
    """accuracy_by_k.3 and evidence_recall_by_k.3 -> `K=3`, recall.support -> `recall support`."""
    return name.replace("accuracy_by_k.", "K=").replace("evidence_recall_by_k.", "K=").replace(".", " ").replace("_", " ")


def number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None or isnan(value) else f"{value:,.{digits}f}"


def _with_interval(values: Mapping[str, float], spread: Mapping[str, Sequence[float]], name: str) -> str:
    value = number(values.get(name))
    return f"{value} ({number(spread[name][0])}–{number(spread[name][1])})" if name in spread else value


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
