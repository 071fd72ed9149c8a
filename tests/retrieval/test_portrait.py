from __future__ import annotations

import time
from itertools import islice, pairwise

from pgmem_local.graph.edges import Judgement, Relation
from pgmem_local.graph.nodes import Kind, State, node_id
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.retrieval.portrait import portrait
from pgmem_local.settings import RetrievalSettings
from tests.builders import on_day


def test_portrait_of_a_large_memory_takes_less_than_three_seconds() -> None:
    numbers = range(1, 8_001)
    states = [State(node_id(Kind.STATE, number), "", on_day(number), frozenset(), frozenset()) for number in numbers]
    pairs = islice(pairwise(states), 0, None, 2)
    graph = PersonaGraph()
    graph.add(states, (), [Judgement(one.id, other.id, Relation.SUPPORT, 1.0, "drawn") for one, other in pairs])
    start = time.process_time()
    evidence = portrait(graph, RetrievalSettings())
    assert time.process_time() - start < 3
    assert all(len(entry.supporters) == 1 for entry in evidence.states)
