"""`/why`: what the last answer rested on, with how it stands, by which path it was found, and the lines it was made from."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from pgmem_local.answering import cite
from pgmem_local.cli import show
from pgmem_local.cli.ask import path_text, path_to
from pgmem_local.cli.values import Entry, Status, entries
from pgmem_local.graph.nodes import Node
from pgmem_local.memory import PersonaMemory
from pgmem_local.talking.talk import Answered
from pgmem_local.words import keywords

_USED = "*"


def show_grounds(console: Console, memory: PersonaMemory, answered: Answered) -> None:
    """The notes that were shown to the model; a star marks those the reply has words in common with."""
    shown = frozenset(answered.grounds.notes.labels.values())
    found = [entry for entry in entries(answered.grounds.retrieval.evidence) if entry.node.id in shown]
    always = [node for node in answered.grounds.core.nodes if node.id not in shown]
    if not found and not always:
        show.line(console, "The memory held nothing on it: the answer is the model's own.", "dim")
        return
    heading: Status | None = None
    for entry in found:
        if entry.status is not heading:
            heading = entry.status
            show.line(console, show.HEADINGS[heading], "bold")
        for line in _lines(memory, answered, entry):
            show.line(console, line)
    if always:
        show.line(console, "In any case", "bold")
    for node in always:
        show.line(console, f"{_mark(answered, node)} {show.node_line(node)}")
    show.line(
        console, f"{_USED} has words in common with the answer; S/C: notes for it and against it; `/why ID` tells more", "dim"
    )


def _lines(memory: PersonaMemory, answered: Answered, entry: Entry) -> Iterator[str]:
    ranked, node = entry.ranked, entry.node
    path = path_text(path_to(memory, answered.grounds.retrieval, node.id))
    standing = f"S/C +{len(ranked.supporters)} -{len(ranked.challengers)}, validity {ranked.validity:.2f}"
    changed = "".join(f", until {show.day(newer.moment)} ({newer.id})" for newer in entry.replaced_by)
    yield f"{_mark(answered, node)} {show.node_line(node)}"
    yield f"      {path}, {standing}{changed}"
    about = f"{answered.message} {answered.reply}"
    for quote in cite(memory.graph, node.id, about).quotes[: show.QUOTES_SHOWN]:
        yield f"      {show.quote_line(quote)}"


def _mark(answered: Answered, node: Node) -> str:
    fresh = keywords(answered.reply) - keywords(answered.message)
    return _USED if node.keywords & fresh else " "
