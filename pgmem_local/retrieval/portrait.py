"""What the owner is like now: the whole persona graph through the same assembly as a question's evidence, without a question.

λ is 1 and budgets have no end: validity alone ranks, and everything is shown.
"""

from __future__ import annotations

from dataclasses import replace

from pgmem_local.graph.nodes import Kind
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.retrieval.assemble import Evidence, assemble
from pgmem_local.retrieval.expand import Pool
from pgmem_local.retrieval.reach import signed_reach
from pgmem_local.retrieval.seed import Scored
from pgmem_local.settings import RetrievalSettings


def portrait(graph: PersonaGraph, settings: RetrievalSettings) -> Evidence:
    """All Traits, States and Episodes by kind and status."""
    nodes = [node for kind in (Kind.TRAIT, Kind.STATE, Kind.EPISODE) for node in graph.of_kind(kind)]
    members = [node.id for node in nodes]
    pool = Pool(
        scores={node.id: Scored(node, 0.0, 0.0, 0.0) for node in nodes},
        origins=frozenset(members),
        reach=signed_reach(graph, members, settings.expand.hop_cap),
    )
    everything = len(nodes)
    budgets = replace(
        settings.assemble, validity_weight=1.0, traits=everything, states=everything, changed_states=everything, episodes=everything
    )
    return assemble(graph, pool, budgets)
