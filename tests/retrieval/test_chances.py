from __future__ import annotations

import random
import time
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgmem_local.graph.edges import Judgement, Relation
from pgmem_local.graph.nodes import Kind, NodeId, node_id
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.graph.signs import Sign
from pgmem_local.retrieval.chances import arrivals
from pgmem_local.retrieval.reach import signed_reach
from tests.retrieval.test_reach import STATES, graph_of

Table = dict[tuple[NodeId, NodeId, Sign], float]


@st.composite
def doubted_pairs(draw: st.DrawFn) -> list[Judgement]:
    pairs = [(one, other) for one in STATES for other in STATES if one < other]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True))
    return [
        Judgement(one, other, draw(st.sampled_from(Relation)), draw(st.sampled_from((0.25, 0.5, 0.75, 1.0))), "drawn")
        for one, other in chosen
    ]


def by_enumeration(graph: PersonaGraph, members: set[NodeId], hop_cap: int) -> Table:
    best: Table = {}

    def go_on(start: NodeId, current: NodeId, chances: list[float]) -> None:
        if len(chances) == hop_cap:
            return
        for following, sign, edge in graph.steps(current):
            if following not in members:
                continue
            walked = [*chances, edge.probability]
            key = (start, following, sign)
            best[key] = max(best.get(key, 0.0), prod(walked))
            if sign is Sign.PLUS:
                go_on(start, following, walked)

    for member in members:
        go_on(member, member, [])
    return {key: chance for key, chance in best.items() if key[0] != key[1]}


def computed(graph: PersonaGraph, members: set[NodeId], hop_cap: int, block: int) -> Table:
    reach = signed_reach(graph, members, hop_cap)
    return {
        (origin, one.target, sign): float(chances[position])
        for region in reach.regions
        for one in arrivals(graph, region, block)
        for sign, chances in ((Sign.PLUS, one.plus), (Sign.MINUS, one.minus))
        for origin, position in region.positions.items()
        if origin != one.target and chances[position] > 0
    }


@given(doubted_pairs(), st.sets(st.sampled_from(STATES)), st.integers(0, 4), st.integers(1, 7))
@settings(max_examples=100, deadline=None)
def test_best_path_is_the_most_probable_of_all(judgements: list[Judgement], members: set[NodeId], hop_cap: int, block: int) -> None:
    graph = graph_of(judgements)
    assert computed(graph, members, hop_cap, block) == pytest.approx(by_enumeration(graph, members, hop_cap))


def test_best_paths_of_a_large_pool_take_less_than_three_seconds() -> None:
    chance = random.Random(5)
    nodes = [node_id(Kind.STATE, number) for number in range(1_000)]
    kinds = [Relation.SUPPORT, Relation.CONTRADICT, Relation.SHIFT_TO]
    pairs = [chance.sample(nodes, 2) for _ in range(3_000)]
    graph = graph_of([Judgement(one, other, chance.choice(kinds), chance.uniform(0.4, 1.0), "drawn") for one, other in pairs])
    reach = signed_reach(graph, nodes, 10)
    start = time.process_time()
    assert sum(1 for region in reach.regions for _ in arrivals(graph, region)) == 1_000
    assert time.process_time() - start < 3
