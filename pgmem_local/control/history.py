"""How a node came about and what became of it, in order of time: a graph and the owner's acts come in, events come out. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from pgmem_local.conversation import Moment
from pgmem_local.graph.acts import Act, Deed
from pgmem_local.graph.edges import EvidenceEdge, Relation
from pgmem_local.graph.nodes import Kind, Node, NodeId, number_of
from pgmem_local.graph.persona_graph import PersonaGraph


class Happening(str, Enum):
    """What happened to a node, seen from that node."""

    SAID = "said"
    SAID_AGAIN = "said again"
    MADE_FROM = "made from"
    SUPPORTED = "supported by"
    CONTRADICTED = "contradicted by"
    REPLACES = "replaces"
    REPLACED = "replaced by"
    CORRECTS = "corrects"
    CORRECTED = "corrected by"
    LED_TO = "led to"
    PINNED = "pinned"
    UNPINNED = "unpinned"


@dataclass(frozen=True)
class Event:
    """One thing that happened, when, and the other node it involves: the line said, the note that took its place."""

    moment: Moment | None
    happening: Happening
    other: Node | None = None


@dataclass(frozen=True)
class History:
    """A node with all that happened to it, oldest first; what has no time comes last."""

    node: Node
    events: tuple[Event, ...]
    pinned: bool = False
    stated: bool = False


_OF_ACT = {Deed.PIN: Happening.PINNED, Deed.UNPIN: Happening.UNPINNED}


def tell_history(graph: PersonaGraph, identifier: NodeId, acts: Sequence[Act]) -> History:
    """The history of a node. Raises UnknownNode."""
    node = graph[identifier]
    corrections = {(act.target, act.node) for act in acts if act.deed is Deed.CORRECT}
    events = [
        *_origins(graph, identifier),
        *(_of_edge(graph, identifier, edge, corrections) for edge in graph.evidence(identifier)),
        *(Event(graph[one].moment, Happening.LED_TO, graph[one]) for one in graph.derived(identifier)),
        *(Event(act.moment, _OF_ACT[act.deed]) for act in acts if act.node == identifier and act.deed in _OF_ACT),
    ]
    stated = graph.is_stated(identifier)
    return History(node, tuple(sorted(events, key=_by_time)), identifier in graph.pinned, stated)


def _origins(graph: PersonaGraph, identifier: NodeId) -> Iterator[Event]:
    """The lines and notes a node was made from: the first line that said it, then those that said it again."""
    sources = [graph[source] for source in graph.sources(identifier)]
    lines = _oldest_first(source for source in sources if source.kind is Kind.CONTEXT)
    again = Happening.MADE_FROM if graph[identifier].kind is Kind.EPISODE else Happening.SAID_AGAIN
    first = again if again is Happening.MADE_FROM else Happening.SAID
    yield from (Event(line.moment, again if place else first, line) for place, line in enumerate(lines))
    yield from (Event(source.moment, Happening.MADE_FROM, source) for source in sources if source.kind is not Kind.CONTEXT)


def _of_edge(graph: PersonaGraph, identifier: NodeId, edge: EvidenceEdge, corrections: set[tuple[NodeId | None, NodeId | None]]) -> Event:
    forward = edge.source == identifier
    other = graph[edge.target if forward else edge.source]
    return Event(_later(graph[identifier], other), _happening(edge, forward, (edge.source, edge.target) in corrections), other)


def _happening(edge: EvidenceEdge, forward: bool, corrected: bool) -> Happening:
    if edge.relation is Relation.SUPPORT:
        return Happening.SUPPORTED
    if edge.relation is Relation.CONTRADICT:
        return Happening.CONTRADICTED
    if corrected:
        return Happening.CORRECTED if forward else Happening.CORRECTS
    return Happening.REPLACED if forward else Happening.REPLACES


def _later(one: Node, other: Node) -> Moment | None:
    """When two nodes came together: with the later of them."""
    moments = [node.moment for node in (one, other) if node.moment is not None]
    return max(moments, key=lambda moment: moment.utc, default=None)


def _oldest_first(nodes: Iterable[Node]) -> list[Node]:
    return sorted(nodes, key=lambda node: (*_when(node.moment), number_of(node.id)))


def _by_time(event: Event) -> tuple[bool, float]:
    return _when(event.moment)


def _when(moment: Moment | None) -> tuple[bool, float]:
    return moment is None, moment.utc.timestamp() if moment else 0.0
