"""Running a benchmark and comparing two runs for the terminal: models opened and closed, progress, tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import typer

from pgmem_local.bench.compare import Comparison, compare
from pgmem_local.bench.generation.scenario import generate
from pgmem_local.bench.machine import Weights
from pgmem_local.bench.plots import draw
from pgmem_local.bench.runner import Report, run_task
from pgmem_local.bench.table import number, words, write_table
from pgmem_local.bench.tasks import TASKS
from pgmem_local.bench.workbench import Options, Step, Workbench
from pgmem_local.cli.opening import say
from pgmem_local.cli.progress import duration
from pgmem_local.cli.values import print_json
from pgmem_local.errors import IngestError
from pgmem_local.runtime import opening
from pgmem_local.runtime.model_files import find_model

PROGRESS_SECONDS = 5.0


def run_benchmark(name: str, options: Options, model: str | None, out: Path, as_json: bool) -> None:
    """Open the models, run, write and print."""
    task = TASKS[name]
    if options.judge and not task.checks:
        raise IngestError(f"{name} has no free answers to judge; leave out --judge, or use it with prefeval or implexconv")
    task.files(options.data)  # says what is missing before a model is loaded
    found = find_model(model)
    chat = opening.open_chat_model(model, loading=lambda name: say(f"loading {name} …"))
    try:
        bench = Workbench(chat, opening.open_embedder(), out / "cache", options, ProgressLines().hear)
        report = run_task(task, bench, out, Weights.of(found.name, found.path))
    finally:
        chat.close()
    table = write_table(task, report)
    page = out / f"{name}.md"
    page.write_text(table, encoding="utf-8")
    if not draw(task, report, out):
        say("no plots: they need matplotlib; get it with `pip install 'pgmem-local[bench]'`")
    _print(report, table, as_json)
    say(f"written to {out / name}.json and {page}")


def _print(report: Report, table: str, as_json: bool) -> None:
    if as_json:
        print_json(report.summary)
    else:
        typer.echo(table)


class ProgressLines:
    """What is being done and how long it will take, on standard error, at most one line in a few seconds."""

    def __init__(self, write: Callable[[str], None] = say, clock: Callable[[], float] = time.monotonic) -> None:
        self._write, self._clock = write, clock
        self._doing, self._began, self._first = "", clock(), 0
        self._said = float("-inf")

    def hear(self, step: Step) -> None:
        now = self._clock()
        if step.doing != self._doing:
            self._doing, self._began, self._first = step.doing, now, step.done
        elif now - self._said < PROGRESS_SECONDS and step.done < step.total:
            return
        self._said = now
        done = step.done - self._first
        left = (now - self._began) / done * (step.total - step.done) if done > 0 else None
        ahead = f", {duration(left)} left" if left else ""
        self._write(f"{step.doing}: {step.done}/{step.total}{ahead}")


def generate_scenarios(folder: Path, scenarios: int, questions: int, seed: int, as_json: bool) -> None:
    """Write new MemHop scenarios, and say how they are run."""
    lines = ProgressLines()
    written = generate(folder, scenarios, questions, seed, lambda done: lines.hear(Step("writing scenarios", done, scenarios)))
    if as_json:
        print_json({"folder": str(folder), "files": [path.name for path in written], "seed": seed})
    else:
        typer.echo(f"{len(written)} scenarios of {questions} questions; run them with `pgmem bench memhop --data {folder}`")


def show_comparison(first: Path, second: Path, system: str | None, against: str | None, seed: int, as_json: bool) -> None:
    """Print what the second run gains over the first."""
    found = compare(first, second, system, against, seed)
    if as_json:
        print_json({"comparisons": [_comparison_value(one) for one in found]})
        return
    for one in found:
        typer.echo("\n".join(_comparison_lines(one)))


def _comparison_lines(one: Comparison) -> Sequence[str]:
    rows = [
        f"| {words(name)} | {gain.difference:+.3f} | {number(gain.interval.low, 3)} to {number(gain.interval.high, 3)} | "
        f"{'yes' if gain.certain else 'no'} |"
        for name, gain in one.gains.items()
    ]
    title = f"{one.task}: {one.ours} (B) minus {one.theirs} (A), {one.items} items"
    return [title, "", "| metric | difference | 95 % interval | without zero |", "| --- | ---: | ---: | --- |", *rows, ""]


def _comparison_value(one: Comparison) -> dict[str, Any]:
    gains = {
        name: {"difference": gain.difference, "interval": [gain.interval.low, gain.interval.high], "certain": gain.certain}
        for name, gain in one.gains.items()
    }
    return {"task": one.task, "ours": one.ours, "theirs": one.theirs, "items": one.items, "differences": gains}
