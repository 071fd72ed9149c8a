"""What the memory knows, as JSON values: nodes, citations and evidence. Nothing is left out for the terminal's sake here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

import typer

from pgmem_local.answering import Citation, Quote
from pgmem_local.conversation import Moment
from pgmem_local.graph.nodes import Node, State
from pgmem_local.retrieval.assemble import Evidence, Ranked
from pgmem_local.words import keywords


class Status(str, Enum):
    """How an entry of the evidence stands."""

    NOW = "now"
    LASTING = "lasting"
    CHALLENGED = "challenged"
    CHANGED = "changed"
    HAPPENED = "happened"


@dataclass(frozen=True)
class Entry:
    """One entry of the evidence with its status, and the nodes that contradict or replaced it."""

    status: Status
    ranked: Ranked
    contradicted_by: tuple[Node, ...] = ()
    replaced_by: tuple[Node, ...] = ()

    @property
    def node(self) -> Node:
        return self.ranked.node


def entries(evidence: Evidence) -> Iterator[Entry]:
    """Everything in the evidence, what holds before what no longer does, each kind best first."""
    yield from (Entry(Status.NOW, state) for state in evidence.states)
    yield from (Entry(Status.LASTING, trait) for trait in evidence.traits)
    yield from (Entry(Status.CHALLENGED, one.trait, one.contradicted_by, one.replaced_by) for one in evidence.challenged)
    yield from (Entry(Status.CHANGED, one.state, replaced_by=(one.replaced_by,)) for one in evidence.changed)
    yield from (Entry(Status.HAPPENED, episode) for episode in evidence.episodes)


def timestamp(moment: Moment | None) -> str | None:
    return moment.isoformat() if moment else None


def node_value(node: Node) -> dict[str, Any]:
    value: dict[str, Any] = {"id": node.id, "kind": node.kind.value, "timestamp": timestamp(node.moment), "text": node.text}
    if isinstance(node, State):
        value |= {"priority": node.priority.value, "polarity": node.polarity.value, "stated": node.stated}
    return value


def entry_value(entry: Entry) -> dict[str, Any]:
    ranked = entry.ranked
    return {
        **node_value(entry.node),
        "status": entry.status.value,
        "pinned": ranked.pinned,
        "phi": round(ranked.phi, 4),
        "validity": round(ranked.validity, 4),
        "evidence": evidence_value(ranked),
        "psi": round(ranked.psi, 4),
        "contradicted_by": [node.id for node in entry.contradicted_by],
        "replaced_by": [node.id for node in entry.replaced_by],
    }


def evidence_value(ranked: Ranked) -> dict[str, float]:
    """How many notes speak for a node and against it, what they weigh, and what time has left of its validity."""
    return {
        "supporters": len(ranked.supporters),
        "challengers": len(ranked.challengers),
        "supporting": round(ranked.weight.supporting, 4),
        "contradicting": round(ranked.weight.contradicting, 4),
        "freshness": round(ranked.weight.freshness, 4),
    }


def citation_value(citation: Citation, about: str) -> dict[str, Any]:
    """A citation by the line it rests on most; `note` is what the memory made of it."""
    quotes = [quote_value(quote) for quote in nearest_first(citation, about)]
    first = quotes[0] if quotes else node_value(citation.node)
    return {
        "id": citation.node.id,
        "timestamp": first["timestamp"],
        "text": first["text"],
        "note": citation.node.text,
        "quotes": quotes,
    }


def quote_value(quote: Quote) -> dict[str, Any]:
    return {"context": quote.context, "timestamp": timestamp(quote.moment), "text": quote.text}


def nearest_first(citation: Citation, about: str) -> list[Quote]:
    """The quotes of a citation, those first that share most words with what it is cited for."""
    wanted = keywords(about)
    return sorted(citation.quotes, key=lambda quote: -len(keywords(quote.text) & wanted))


def print_json(value: object) -> None:
    """ASCII only: no terminal or pipe can spoil it."""
    typer.echo(json.dumps(value, indent=2))
