"""`pgmem recall`, `pgmem me` and `pgmem why`: what the memory holds, without any language model."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from pgmem_local.cli import show
from pgmem_local.cli.ask import chain_value, show_chain
from pgmem_local.cli.opening import open_to_look
from pgmem_local.cli.options import Where
from pgmem_local.cli.values import Status, entries, entry_value, node_value, print_json, quote_value
from pgmem_local.graph.edges import EvidenceEdge, Relation
from pgmem_local.graph.nodes import Context, Node, NodeId
from pgmem_local.ingest.untrusted import clean
from pgmem_local.memory import Reasons


def recall_evidence(question: str, where: Where, as_json: bool) -> None:
    """Print the ranked evidence on a question."""
    question = clean(question)
    with open_to_look(where) as memory:
        retrieval = memory.recall(question)
        found = list(entries(retrieval.evidence))
        chains = [chain_value(memory, path) for path in retrieval.company.paths]
        if as_json:
            print_json({"question": question, "evidence": [entry_value(entry) for entry in found], "chains": chains})
            return
        show.by_status(show.terminal(), found)
        show_chain(show.terminal(), memory, retrieval)


def show_portrait(where: Where, as_json: bool) -> None:
    """Print traits and States as they stand; what happened is left to `recall`."""
    with open_to_look(where) as memory:
        found = [entry for entry in entries(memory.me()) if entry.status is not Status.HAPPENED]
    if as_json:
        by_status = {status: [entry_value(e) for e in found if e.status is status] for status in Status}
        print_json(
            {
                "traits": [*by_status[Status.LASTING], *by_status[Status.CHALLENGED]],
                "states": by_status[Status.NOW],
                "changed": by_status[Status.CHANGED],
            }
        )
    else:
        show.by_status(show.terminal(), found)


def show_reasons(identifier: str, where: Where, as_json: bool) -> None:
    """Print how a node came about. Raises UnknownNode."""
    with open_to_look(where) as memory:
        reasons = memory.why(NodeId(identifier.strip().lower()))
    if as_json:
        print_json(reasons_value(reasons))
    else:
        print_reasons(show.terminal(), reasons)


def reasons_value(reasons: Reasons) -> dict[str, Any]:
    node = reasons.citation.node
    return {
        **node_value(node),
        "rests_on": [quote_value(quote) for quote in reasons.citation.quotes],
        "derived": [node_value(other) for other in reasons.derived],
        "evidence": [edge_value(node, edge, other) for edge, other in reasons.evidence],
    }


def edge_value(node: Node, edge: EvidenceEdge, other: Node) -> dict[str, Any]:
    probability = round(edge.probability, 4)
    return {"how": bearing(node, edge), "relation": edge.relation.value, "probability": probability, "node": node_value(other)}


def print_reasons(console: Console, reasons: Reasons) -> None:
    node = reasons.citation.node
    show.line(console, f"{node.kind.value}  {show.node_line(node)}", "bold")
    if isinstance(node, Context) and node.reply:
        show.line(console, f"  reply: {show.flat(node.reply)}")
    for quote in reasons.citation.quotes:
        show.line(console, f"  rests on      {show.quote_line(quote)}")
    for other in reasons.derived:
        show.line(console, f"  led to        {show.node_line(other)}")
    for edge, other in reasons.evidence:
        show.line(console, f"  {bearing(node, edge):<13} {show.node_line(other)}  ({edge.probability:.2f})")


def bearing(node: Node, edge: EvidenceEdge) -> str:
    """What an edge means seen from one of its ends: `replaces` and `replaced by` are the two ends of a shift."""
    if edge.relation is Relation.SHIFT_TO:
        return "replaced by" if edge.source == node.id else "replaces"
    return "supports" if edge.relation is Relation.SUPPORT else "contradicts"
