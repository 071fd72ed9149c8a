"""What the commands of `control.py` do and print. Before anything is lost for good the owner is asked; a script says --yes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import typer

from pgmem_local.cli import show
from pgmem_local.cli.opening import open_memory, open_to_look
from pgmem_local.cli.options import Where
from pgmem_local.cli.progress import counted
from pgmem_local.cli.values import node_value, print_json, timestamp
from pgmem_local.control.erasing import Receipt
from pgmem_local.control.forgetting import ForgetPlan, Selection
from pgmem_local.control.history import Event, History
from pgmem_local.control.safekeeping import Kept
from pgmem_local.errors import ChangeRefused
from pgmem_local.graph.nodes import Context, Kind, Node, NodeId
from pgmem_local.ingest.untrusted import clean, printable
from pgmem_local.memory import PersonaMemory

NODES_SHOWN = 20
"""Of what would be forgotten; --json shows all."""


@dataclass(frozen=True)
class Wish:
    """What to forget, as it was typed."""

    ids: tuple[str, ...]
    text: str | None
    entity: str | None
    since: datetime | None
    until: datetime | None
    source: str | None
    everything: bool

    def selection(self) -> Selection:
        return Selection(
            tuple(map(node_id, self.ids)),
            self.text and clean(self.text),
            self.entity and clean(self.entity),
            self.since.date() if self.since else None,
            self.until.date() if self.until else None,
            self._file(),
            self.everything,
        )

    def _file(self) -> str | None:
        """A path as ingest noted it; a bare name stays one, since the file may have been read anywhere."""
        if self.source is None or Path(self.source).name == self.source:
            return self.source
        return str(Path(self.source).absolute())


def node_id(typed: str) -> NodeId:
    return NodeId(typed.strip().lower())


# ------------------------------------------------------------------ looking


def show_found(text: str, limit: int, where: Where, as_json: bool) -> None:
    with open_to_look(where) as memory:
        found, pinned = memory.search(clean(text), limit), memory.graph.pinned
    if as_json:
        print_json({"text": text, "found": [node_value(node) for node in found]})
        return
    console = show.terminal()
    for node in found:
        show.line(console, show.node_line(node, node.id in pinned))
    if not found:
        show.line(console, "nothing found")


def show_node(identifier: str, where: Where, as_json: bool) -> None:
    with open_to_look(where) as memory:
        node = memory.get(node_id(identifier))
        value = full_value(memory, node)
    if as_json:
        print_json(value)
        return
    console = show.terminal()
    for name, content in value.items():
        if content not in (None, [], False):
            listed = ", ".join(content) if isinstance(content, list) else content
            show.line(console, f"{name + ':':<12} {listed}")


def full_value(memory: PersonaMemory, node: Node) -> dict[str, Any]:
    """All that is kept of one node."""
    said = {"session": node.session, "author": node.author, "reply": node.reply} if isinstance(node, Context) else {}
    return {
        **node_value(node),
        **said,
        "pinned": node.id in memory.graph.pinned,
        "keywords": sorted(node.keywords),
        "domains": sorted(node.domains),
        "sources": memory.graph.sources(node.id),
        "derived": memory.graph.derived(node.id),
        "replaced_by": memory.graph.replaced_by(node.id),
    }


def show_history(identifier: str, where: Where, as_json: bool) -> None:
    with open_to_look(where) as memory:
        told = memory.history(node_id(identifier))
    if as_json:
        print_json(history_value(told))
        return
    console = show.terminal()
    show.line(console, f"{told.node.kind.value}  {show.node_line(told.node, told.pinned)}", "bold")
    for event in told.events:
        show.line(console, f"  {event_line(event)}")


def history_value(told: History) -> dict[str, Any]:
    return {**node_value(told.node), "pinned": told.pinned, "events": [event_value(event) for event in told.events]}


def event_value(event: Event) -> dict[str, Any]:
    other = None if event.other is None else node_value(event.other)
    return {"timestamp": timestamp(event.moment), "happening": event.happening.value, "node": other}


def event_line(event: Event) -> str:
    other = "" if event.other is None else f"{event.other.id}  {show.flat(event.other.text)}"
    return f"{show.minute(event.moment):<16}  {event.happening.value:<15} {other}".rstrip()


# ------------------------------------------------------------------ saying


def keep_statement(text: str, where: Where, as_json: bool) -> None:
    with open_memory(where) as memory:
        state = memory.remember(text)
        _print_kept(memory, state, as_json)


def keep_correction(identifier: str, text: str, where: Where, as_json: bool) -> None:
    with open_memory(where) as memory:
        state = memory.correct(node_id(identifier), text)
        _print_kept(memory, state, as_json)


def _print_kept(memory: PersonaMemory, state: Node, as_json: bool) -> None:
    replaced = [memory.graph[one] for one in memory.graph.replaces(state.id)]
    if as_json:
        print_json({**node_value(state), "replaces": [node_value(node) for node in replaced]})
        return
    console = show.terminal()
    show.line(console, show.node_line(state))
    for node in replaced:
        show.line(console, f"  replaces {show.node_line(node)}")


def set_pin(identifier: str, pinned: bool, where: Where, as_json: bool) -> None:
    with open_memory(where) as memory:
        node = memory.pin(node_id(identifier)) if pinned else memory.unpin(node_id(identifier))
    if as_json:
        print_json({**node_value(node), "pinned": pinned})
    else:
        show.line(show.terminal(), show.node_line(node, pinned))


def take_back(where: Where, as_json: bool) -> None:
    with open_memory(where) as memory:
        told = memory.undo()
    if as_json:
        print_json({"undone": told})
    else:
        show.line(show.terminal(), told)


# ------------------------------------------------------------------ forgetting


def forget_selection(wish: Wish, where: Where, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Show what would go, ask, do it, and show the receipt."""
    selection = wish.selection()
    with open_memory(where) as memory:
        plan = memory.plan_forgetting(selection)
        if dry_run or not plan or not yes:
            _print_plan(plan, as_json and (dry_run or not plan))
        if dry_run or not plan:
            return
        if not yes:
            ask_owner("Forget this for good?")
        receipt = memory.forget(plan)
    if as_json:
        print_json(asdict(receipt))
    else:
        for line in receipt_lines(receipt):
            typer.echo(line)


def ask_owner(question: str) -> None:
    """Go on only if the owner says so. Raises ChangeRefused where nobody can be asked."""
    if not sys.stdin.isatty():
        raise ChangeRefused("nothing was changed: there is no terminal to ask on; add --yes once --dry-run shows the right things")
    typer.confirm(question, abort=True, err=True)


def _print_plan(plan: ForgetPlan, as_json: bool) -> None:
    if as_json:
        print_json(plan_value(plan))
        return
    for line in plan_lines(plan):
        typer.echo(printable(line))


def plan_value(plan: ForgetPlan) -> dict[str, Any]:
    return {
        "removed": [node_value(node) for kind in Kind for node in plan.of_kind(kind)],
        "rewritten": [one.old.id for one in plan.retold if one.text is not None],
        "to_rebuild": [one.old.id for one in plan.retold if one.text is None],
        "read_again": list(plan.pending_again),
        "holds_again": [node_value(node) for node in plan.holds_again],
        "judgements": plan.judgements,
        "entities": plan.entities,
        "facts": plan.facts,
        "sentences": plan.sentences,
        "names": plan.names,
        "reject_lines": plan.reject_lines,
        "history_lines": plan.history_lines,
    }


def plan_lines(plan: ForgetPlan) -> Iterator[str]:
    """What would go, in lines for people."""
    if not plan:
        yield "nothing that is remembered meets this"
        return
    nodes = [node for kind in Kind for node in plan.of_kind(kind)]
    yield f"to be forgotten: {_own_counts({kind: len(plan.of_kind(kind)) for kind in Kind}, plan.judgements)}"
    yield from (f"  {show.node_line(node)}" for node in nodes[:NODES_SHOWN])
    if len(nodes) > NODES_SHOWN:
        yield f"  and {len(nodes) - NODES_SHOWN} more; --dry-run --json lists all"
    yield from _others_lines(plan)
    for retelling in plan.retold:
        how = "told anew from what stays" if retelling.text is not None else "gone until the next learning tells it anew"
        yield f"{retelling.old.id} is {how}"
    if plan.pending_again:
        yield f"read again by the next learning: {', '.join(plan.pending_again)}"
    yield from (f"holds again, since nothing replaces it any more: {show.node_line(node)}" for node in plan.holds_again)
    if plan.reject_lines or plan.history_lines:
        yield f"also: {counted(plan.reject_lines, 'rejected record')}, {counted(plan.history_lines, 'line')} typed into the chat"


def _own_counts(nodes: Mapping[Kind, int], judgements: int) -> str:
    """The lines of the owner, what was made of them, and what was judged of that."""
    names = {kind: "line" if kind is Kind.CONTEXT else kind.value for kind in Kind}
    return ", ".join([*(counted(nodes[kind], names[kind]) for kind in Kind), counted(judgements, "relation")])


def _others_lines(gone: ForgetPlan | Receipt) -> Iterator[str]:
    if gone.entities or gone.facts or gone.sentences or gone.names:
        counts = (
            counted(gone.entities, "person or place", "people or places"),
            counted(gone.facts, "fact"),
            counted(gone.sentences, "profile sentence"),
            counted(gone.names, "name you gave", "names you gave"),
        )
        yield f"of others: {', '.join(counts)}"


def receipt_lines(receipt: Receipt) -> Iterator[str]:
    """What went, in lines for people."""
    nodes = {Kind.CONTEXT: receipt.contexts, Kind.EPISODE: receipt.episodes, Kind.STATE: receipt.states, Kind.TRAIT: receipt.traits}
    yield f"forgotten: {_own_counts(nodes, receipt.judgements)}, {counted(receipt.vectors, 'vector')}"
    yield from _others_lines(receipt)
    if receipt.rewritten or receipt.to_rebuild or receipt.read_again:
        yield (
            f"{counted(receipt.rewritten, 'episode')} told anew, {receipt.to_rebuild} to be told anew and "
            f"{counted(receipt.read_again, 'line')} to be read again by the next learning (`pgmem learn` or `pgmem chat`)"
        )
    if receipt.reject_lines or receipt.history_lines or receipt.files:
        yield (
            f"{counted(receipt.reject_lines, 'rejected record')}, {counted(receipt.history_lines, 'line')} typed into the chat and "
            f"{counted(receipt.files, 'derived file')} removed"
        )


# ------------------------------------------------------------------ keeping safe


def write_backup(path: Path, where: Where, as_json: bool) -> None:
    with open_to_look(where) as memory:
        _print_safe(memory.backup(path), "backed up to", as_json)


def read_backup(path: Path, where: Where, yes: bool, as_json: bool) -> None:
    with open_memory(where) as memory:
        if not yes and len(memory.graph):
            ask_owner(f"Replace the memory in {memory.store.place.folder} by {path}?")
        _print_safe(memory.restore(path), "restored from", as_json)


def _print_safe(kept: Kept, how: str, as_json: bool) -> None:
    if as_json:
        print_json({"path": str(kept.path), "bytes": kept.size, "counts": dict(kept.counts)})
        return
    nodes = ", ".join(counted(kept.counts[kind.value], kind.value) for kind in Kind)
    typer.echo(printable(f"{how} {kept.path}: {nodes}; checked"))
