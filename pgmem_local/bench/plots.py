"""Two pictures of a report: each headline metric with its interval, and accuracy against tokens. Needs matplotlib (extra `bench`)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pgmem_local.bench.runner import Report
from pgmem_local.bench.scoring.intervals import flat
from pgmem_local.bench.table import words
from pgmem_local.bench.tasks import Task


def draw(task: Task[Any], report: Report, out: Path) -> list[Path]:
    """The files drawn; none where matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        return []
    matplotlib.use("Agg")
    return [_draw_metrics(task, report, out), _draw_costs(task, report, out)]


def _draw_metrics(task: Task[Any], report: Report, out: Path) -> Path:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(2 + 1.3 * len(task.headline), 4), layout="constrained")
    width = 0.8 / len(report.systems)
    for place, system in enumerate(report.systems):
        values, spread = flat(report.metrics[system]), report.whole["intervals"][system]
        measured = [(at, name) for at, name in enumerate(task.headline) if name in spread]
        heights = [values[name] for _, name in measured]
        below = [max(0.0, values[name] - spread[name][0]) for _, name in measured]
        above = [max(0.0, spread[name][1] - values[name]) for _, name in measured]
        axes.bar([at + place * width for at, _ in measured], heights, width, yerr=[below, above], capsize=2, label=system)
    middle = 0.4 - width / 2
    places = [at + middle for at in range(len(task.headline))]
    axes.set_xticks(places, [words(name) for name in task.headline], rotation=20, ha="right")
    axes.set_ylim(0, 1)
    axes.set_title(f"{report.task}, {report.whole['model']['name']}, 95 % intervals")
    axes.legend(fontsize="small")
    path = out / f"{report.task}.png"
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
    return path


def _draw_costs(task: Task[Any], report: Report, out: Path) -> Path:
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    for system in report.systems:
        cost, value = report.whole["cost"][system], flat(report.metrics[system]).get(task.headline[0])
        tokens = cost.get(f"evaluated_per_{task.per}") or 0.0
        if value is not None and value == value:
            axes.scatter([tokens], [value])
            axes.annotate(system, (tokens, value), xytext=(4, 4), textcoords="offset points", fontsize="small")
    axes.set_xlabel(f"prompt tokens evaluated per {task.per}")
    axes.set_ylabel(words(task.headline[0]))
    axes.set_ylim(0, 1)
    path = out / f"{report.task}-tokens.png"
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
    return path
