"""What the memory knows, on a terminal. Stored and generated text is printed literally: no markup, no emoji codes, no control."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pgmem_local.answering import Citation, Quote
from pgmem_local.cli.values import Entry, Status, nearest_first
from pgmem_local.conversation import Moment, written_day
from pgmem_local.graph.nodes import Node, State
from pgmem_local.ingest.untrusted import printable

QUOTES_SHOWN = 3
"""Lines of the diary shown for one citation; `pgmem why` shows them all."""
_PIPE_WIDTH = 160

HEADINGS = {
    Status.NOW: "Now",
    Status.LASTING: "Lasting traits",
    Status.CHALLENGED: "Challenged traits",
    Status.CHANGED: "Earlier, since changed",
    Status.HAPPENED: "What happened",
}


def terminal() -> Console:
    """Standard output; a pipe gets wide tables instead of wrapped cells."""
    console = Console(markup=False, highlight=False, emoji=False)
    return console if console.is_terminal else Console(markup=False, highlight=False, emoji=False, width=_PIPE_WIDTH)


def line(console: Console, text: str, style: str = "") -> None:
    """One line or paragraph, wrapped by the terminal itself so that it can be copied whole."""
    console.print(Text(printable(text), style), soft_wrap=True)


def table(console: Console, columns: Sequence[str], rows: Iterable[Sequence[object]], right: Sequence[str] = ()) -> None:
    drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in columns:
        drawn.add_column(Text(name), justify="right" if name in right else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(printable(str(cell))) for cell in row))
    console.print(drawn)


def minute(moment: Moment | None) -> str:
    return f"{moment.local:%Y-%m-%d %H:%M}" if moment else "undated"


def flat(text: str) -> str:
    return " ".join(text.split())


def quote_line(quote: Quote) -> str:
    return f"{quote.context}  {minute(quote.moment)}  “{flat(quote.text)}”"


def citation(console: Console, cited: Citation, about: str) -> None:
    """The date and the words of the diary that a citation rests on, nearest first."""
    quotes = nearest_first(cited, about)
    for quote in quotes[:QUOTES_SHOWN]:
        line(console, f"  [{cited.node.id}] {minute(quote.moment)}  “{flat(quote.text)}”")
    if len(quotes) > QUOTES_SHOWN:
        line(console, f"  [{cited.node.id}] and {len(quotes) - QUOTES_SHOWN} lines more: pgmem why {cited.node.id}", "dim")


def node_line(node: Node, pinned: bool = False) -> str:
    """A node with its marks: pinned, your words, or the priority of what was inferred."""
    marks = ["pinned"] if pinned else []
    if isinstance(node, State):
        marks.append("your words" if node.stated else f"{node.priority.value} priority")
    return "  ".join([node.id, written_day(node.moment), *marks, flat(node.text)])


def by_status(console: Console, found: Iterable[Entry]) -> None:
    """Entries under a heading for each status, with what stands against them."""
    heading: Status | None = None
    for entry in found:
        if entry.status is not heading:
            heading = entry.status
            line(console, HEADINGS[heading], "bold")
        line(console, f"  {_standing(entry)}")


def _standing(entry: Entry) -> str:
    if entry.status is Status.CHANGED:
        (newer,) = entry.replaced_by
        return f"{node_line(entry.node, entry.ranked.pinned)} -> on {written_day(newer.moment)} {newer.id}: {flat(newer.text)}"
    against = [f"against it {node.id}: {flat(node.text)}" for node in entry.contradicted_by]
    against += [f"replaced on {written_day(node.moment)} by {node.id}: {flat(node.text)}" for node in entry.replaced_by]
    return node_line(entry.node, entry.ranked.pinned) + "".join(f"\n      {remark}" for remark in against)
