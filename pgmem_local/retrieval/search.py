"""Looking something up (not in the paper, which only answers): words come in, nodes of every kind come out, best first.

What holds the very words comes before what only resembles them, so that a search for a name never hides its own lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from pgmem_local.graph.nodes import Kind, Node, NodeId
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.ports import VectorSearch
from pgmem_local.retrieval.query import Query
from pgmem_local.retrieval.seed import Scored, nearest_or_sharing, score
from pgmem_local.settings import SeedSettings

ALIKE = 0.3
"""Cosine from which a node that shares no word with the search is shown all the same; MiniLM gives unrelated texts about 0.1."""


def search(
    graph: PersonaGraph, vectors: VectorSearch, query: Query, literal: Sequence[NodeId], limit: int, settings: SeedSettings
) -> tuple[Node, ...]:
    """At most `limit` nodes: the literal hits as they come, then the others by φ."""
    candidates = {one for kind in Kind for one in nearest_or_sharing(graph, vectors, query, kind, settings)}
    resembling = [one.node.id for one in score(graph, vectors, query, candidates, settings) if _is_alike(one)]
    found = dict.fromkeys([*literal, *resembling])
    return tuple(graph[identifier] for identifier in islice(found, limit))


def _is_alike(scored: Scored) -> bool:
    return scored.overlap > 0 or scored.meaning >= ALIKE
