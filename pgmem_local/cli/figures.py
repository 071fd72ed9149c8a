"""`pgmem stats`: what the memory holds and what each turn cost to learn, next to the paper's figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pgmem_local.cli import show
from pgmem_local.cli.opening import open_to_look
from pgmem_local.cli.options import Where
from pgmem_local.cli.values import print_json
from pgmem_local.memory import PersonaMemory
from pgmem_local.ports import Spent

SERVING = frozenset({"answer", "chat"})
"""Tasks that serve the owner instead of learning from a turn."""


@dataclass(frozen=True)
class PerTurn:
    """What learning one turn costs. A call writes; a read only looks at log-probabilities, which the paper does not do."""

    evaluated: float | None
    reused: float | None
    written: float | None
    calls: float | None
    reads: float | None
    seconds: float | None


PAPER = PerTurn(evaluated=3436, reused=None, written=413, calls=2.75, reads=None, seconds=None)


def per_turn(spent: Mapping[str, Spent], turns: int) -> PerTurn:
    """The mean over all turns learned; nothing where none was."""
    total = sum((cost for task, cost in spent.items() if task not in SERVING), Spent())
    if not turns:
        return PerTurn(None, None, None, None, None, None)
    return PerTurn(**{name: round(value / turns, 2) for name, value in asdict(total).items()})


def show_figures(where: Where, as_json: bool) -> None:
    """Print counts and costs."""
    with open_to_look(where) as memory:
        if as_json:
            counts, spent = memory.store.counts(), memory.store.spent()
            mean = per_turn(spent, counts["turns_learned"])
            print_json(figures_value(str(memory.store.place.folder), counts, spent, mean))
        else:
            show_tables(memory)


def show_tables(memory: PersonaMemory) -> None:
    """Counts and costs on the terminal."""
    counts, spent = memory.store.counts(), memory.store.spent()
    _show(str(memory.store.place.folder), counts, spent, per_turn(spent, counts["turns_learned"]))


def figures_value(place: str, counts: Mapping[str, int], spent: Mapping[str, Spent], mean: PerTurn) -> dict[str, Any]:
    return {
        "folder": place,
        "counts": dict(counts),
        "tasks": {task: asdict(cost) for task, cost in spent.items()},
        "per_turn": asdict(mean),
        "paper_per_turn": asdict(PAPER),
    }


def _show(place: str, counts: Mapping[str, int], spent: Mapping[str, Spent], mean: PerTurn) -> None:
    console = show.terminal()
    show.line(console, place)
    show.table(console, ("what", "count"), counts.items(), right=("count",))
    columns = ("task", "calls", "reads", "evaluated", "reused", "written", "seconds")
    rows = [(task, s.calls, s.reads, s.evaluated, s.reused, s.written, f"{s.seconds:.1f}") for task, s in spent.items()]
    show.line(console, "\nCost of learning (calls write, reads only look at probabilities; tokens)", "bold")
    show.table(console, columns, rows, right=columns[1:])
    show.line(console, "\nPer turn", "bold")
    ours, paper = asdict(mean), asdict(PAPER)
    names = {"evaluated": "tokens evaluated", "reused": "tokens reused", "written": "tokens written"}
    table = [(names.get(name, name), _number(ours[name]), _number(paper[name])) for name in ours]
    show.table(console, ("", "here", "paper"), table, right=("here", "paper"))


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"
