"""Stage 1, seed retrieval (PGMem, section 4.3.1): a query comes in, the nodes that resemble it most come out, kind by kind.

Departures. φ is not computed for every node of the memory but for the nearest by meaning united with all that share a
keyword with the query; what is in neither has no overlap and a smaller cosine. The paper does not say whether the Active
Persona Set is chosen before or after the State seeds: here it is chosen after them, from the States left over, so that a
high-priority State the query resembles stays where expansion may start from, and the set adds only what would be missed.
What the owner pinned is in the set whatever its budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from math import inf

from pgmem_local.graph.nodes import Kind, Node, NodeId, RecallPriority, Scope, State, kind_of, number_of
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.ports import VectorSearch
from pgmem_local.retrieval.query import Query
from pgmem_local.settings import SeedSettings

_COSINE_DIGITS = 6
"""float32 sums differ in the last digits with the batch they stand in; ranks must not."""


@dataclass(frozen=True)
class Scored:
    """A node, sem(q,v), ov(q,v) and φ(q,v)."""

    node: Node
    meaning: float
    overlap: float
    phi: float


@dataclass(frozen=True)
class Seeds:
    """[W_0] The best nodes of each kind and the Active Persona Set, each best first; no node stands in two of them."""

    contexts: tuple[Scored, ...] = ()
    episodes: tuple[Scored, ...] = ()
    states: tuple[Scored, ...] = ()
    traits: tuple[Scored, ...] = ()
    active_persona: tuple[Scored, ...] = ()

    def __iter__(self) -> Iterator[Scored]:
        return chain(self.contexts, self.episodes, self.states, self.traits, self.active_persona)


def find_seeds(graph: PersonaGraph, vectors: VectorSearch, query: Query, settings: SeedSettings) -> Seeds:
    """The seeds of a query."""

    def best(kind: Kind, budget: int) -> tuple[Scored, ...]:
        return tuple(score(graph, vectors, query, nearest_or_sharing(graph, vectors, query, kind, settings), settings)[:budget])

    contexts, episodes = best(Kind.CONTEXT, settings.contexts), best(Kind.EPISODE, settings.episodes)
    states, traits = best(Kind.STATE, settings.states), best(Kind.TRAIT, settings.traits)
    chosen = {seed.node.id for seed in (*episodes, *states, *traits)}
    left_over = _active_persona(graph) - graph.pinned - chosen
    active = score(graph, vectors, query, left_over, settings)[: settings.active_persona]
    pinned = score(graph, vectors, query, graph.pinned - chosen, settings)
    return Seeds(contexts, episodes, states, traits, active_persona=(*pinned, *active))


def score(
    graph: PersonaGraph, vectors: VectorSearch, query: Query, identifiers: Iterable[NodeId], settings: SeedSettings
) -> list[Scored]:
    """Nodes with their φ, best first."""
    ordered = sorted(identifiers)
    if not ordered:
        return []
    cosines = vectors.vectors(ordered) @ query.vector
    scored = [
        _score_one(query, graph[identifier], round(float(cosine), _COSINE_DIGITS), settings)
        for identifier, cosine in zip(ordered, cosines, strict=True)
    ]
    return sorted(scored, key=lambda one: (-one.phi, *precedence(one.node)))


def precedence(node: Node) -> tuple[float, str, int]:
    """What decides between equals: the newer moment, then the id, s2 before s10. A node without a moment counts as oldest."""
    return (-node.moment.utc.timestamp() if node.moment else inf), node.kind.value, number_of(node.id)


def overlap(query: Query, node: Node) -> float:
    """[ov] Equation 5: the share of the query's keywords that the node carries."""
    return len(query.keywords & (node.keywords | node.domains)) / max(len(query.keywords), 1)


def weights(node: Node, settings: SeedSettings) -> tuple[float, float]:
    """[w_sem, w_ov] by kind and scope."""
    if node.kind is Kind.CONTEXT:
        return settings.context_weights
    return settings.broad_weights if node.scope is Scope.BROAD else settings.narrow_weights


def _score_one(query: Query, node: Node, meaning: float, settings: SeedSettings) -> Scored:
    """[φ] Equation 6."""
    shared = overlap(query, node)
    by_meaning, by_words = weights(node, settings)
    return Scored(node, meaning, shared, by_meaning * meaning + by_words * shared)


def nearest_or_sharing(
    graph: PersonaGraph, vectors: VectorSearch, query: Query, kind: Kind, settings: SeedSettings
) -> set[NodeId]:
    """The nodes of a kind worth a score: those nearest in meaning, and all that share a word with the query."""
    nearest = {identifier for identifier, _ in vectors.nearest(kind, query.vector, settings.candidates)}
    return nearest | {identifier for identifier in graph.with_keyword(query.keywords) if kind_of(identifier) is kind}


def _active_persona(graph: PersonaGraph) -> set[NodeId]:
    """High-priority States that nothing superseded."""
    states = (node for node in graph.of_kind(Kind.STATE) if isinstance(node, State))
    return {state.id for state in states if state.priority is RecallPriority.HIGH and not graph.replaced_by(state.id)}
