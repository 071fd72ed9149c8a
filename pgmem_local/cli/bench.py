"""`pgmem bench TASK` and `pgmem bench compare`: the options. What runs them is imported when a command runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pgmem_local.bench.catalogue import TASK_SUMMARIES
from pgmem_local.cli.options import AsJson, ModelName

bench_app = typer.Typer(
    name="bench", help="Measure this memory and plain baselines on this machine, without any judge.", no_args_is_help=True
)

Systems = Annotated[
    str | None, typer.Option("--systems", metavar="A,B", help="Which to compare, such as rag,pgmem; rag@600 has a budget of its own.")
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="At most this many items of each case, evenly chosen.")]
Seed = Annotated[int, typer.Option("--seed", help="For folds, shuffles and intervals.")]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for results, and for memories that later runs use again.")]
Data = Annotated[Path | None, typer.Option("--data", metavar="PATH", help="A file or folder of the same format as the shipped data.")]
Budget = Annotated[int, typer.Option("--budget", min=50, help="Tokens of context a question, for every memory but `full`.")]
Generate = Annotated[Path | None, typer.Option("--generate", metavar="DIR", help="Write new scenarios into DIR instead, for --data.")]
Scenarios = Annotated[int, typer.Option("--scenarios", min=1, help="With --generate: how many.")]
Questions = Annotated[int, typer.Option("--questions", min=5, help="With --generate: how many each, over K = 1 to 5 as in the paper.")]
RetrievalOnly = Annotated[bool, typer.Option("--retrieval-only", help="Ask no model for answers; the same as memhop-retrieval.")]
Judge = Annotated[
    bool, typer.Option("--judge", help="prefeval, implexconv: also write free answers and let the same model judge them. It judges weakly.")
]
Every = Annotated[int, typer.Option("--every", min=1, help="prefeval: sessions between two rounds of questions.")]


def _named(systems: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in systems.split(",") if part.strip()) if systems else ()


def _add_task(name: str, summary: str) -> None:
    def run(
        systems: Systems = None,
        model: ModelName = None,
        limit: Limit = None,
        seed: Seed = 0,
        out: Out = Path("bench-results"),
        data: Data = None,
        budget: Budget = 1200,
        every: Every = 1,
        judge: Judge = False,
        as_json: AsJson = False,
    ) -> None:
        from pgmem_local.bench.workbench import Options
        from pgmem_local.cli.benchmarking import run_benchmark

        run_benchmark(name, Options(_named(systems), limit, seed, budget, data, every, judge), model, out, as_json)

    run.__doc__ = f"{summary}\n\nExample: pgmem bench {name} --limit 20"
    bench_app.command(name)(run)


@bench_app.command("memhop", help=f"{TASK_SUMMARIES['memhop']}\n\nExample: pgmem bench memhop --generate scenarios --scenarios 10")
def memhop(
    systems: Systems = None,
    model: ModelName = None,
    limit: Limit = None,
    seed: Seed = 0,
    out: Out = Path("bench-results"),
    data: Data = None,
    budget: Budget = 1200,
    retrieval_only: RetrievalOnly = False,
    generate: Generate = None,
    scenarios: Scenarios = 10,
    questions: Questions = 100,
    as_json: AsJson = False,
) -> None:
    from pgmem_local.bench.workbench import Options
    from pgmem_local.cli.benchmarking import generate_scenarios, run_benchmark

    if generate is not None:
        generate_scenarios(generate, scenarios, questions, seed, as_json)
        return
    options = Options(_named(systems), limit, seed, budget, data)
    run_benchmark("memhop-retrieval" if retrieval_only else "memhop", options, model, out, as_json)


for _name, _summary in TASK_SUMMARIES.items():
    if _name != "memhop":
        _add_task(_name, _summary)


@bench_app.command("compare")
def compare_runs(
    first: Annotated[Path, typer.Argument(metavar="A.json", help="The run to start from.", show_default=False)],
    second: Annotated[Path, typer.Argument(metavar="B.json", help="The run to compare with it.", show_default=False)],
    system: Annotated[str | None, typer.Option("--system", help="A system of B; else every system in both.")] = None,
    against: Annotated[str | None, typer.Option("--against", help="The system of A to compare it with; else the same.")] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Show what B gains over A on the same items, with paired 95 % intervals.

    Example: pgmem bench compare old/diary.json new/diary.json --system pgmem --against rag
    """
    from pgmem_local.cli.benchmarking import show_comparison

    show_comparison(first, second, system, against, seed, as_json)
