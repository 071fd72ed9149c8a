from __future__ import annotations

import random
import time
from itertools import pairwise
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from pgmem_local.graph.edges import Judgement, Relation
from pgmem_local.graph.nodes import Kind, NodeId, node_id
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.graph.signs import Sign
from pgmem_local.retrieval.reach import REGION, signed_reach
from tests.builders import Sketch

STATES = [node_id(Kind.STATE, number) for number in range(6)]
Sets = dict[NodeId, set[NodeId]]


def graph_of(judgements: list[Judgement]) -> PersonaGraph:
    graph = PersonaGraph()
    graph.add(judgements=judgements)
    return graph


def by_enumeration(graph: PersonaGraph, members: set[NodeId], hop_cap: int) -> tuple[Sets, Sets]:
    """Every path inside the pool, written out one by one."""
    plus: Sets = {member: set() for member in members}
    minus: Sets = {member: set() for member in members}

    def go_on(start: NodeId, current: NodeId, sign: Sign, hops: int) -> None:
        if hops == hop_cap:
            return
        for following, step, _ in graph.steps(current):
            if following not in members:
                continue
            composed = sign.then(step)
            (plus if composed is Sign.PLUS else minus)[following].add(start)
            if composed is Sign.PLUS:
                go_on(start, following, composed, hops + 1)

    for member in members:
        go_on(member, member, Sign.PLUS, 0)
    return tuple({node: found - {node} for node, found in sets.items()} for sets in (plus, minus))  # type: ignore[return-value]


@st.composite
def judged_pairs(draw: st.DrawFn) -> list[Judgement]:
    pairs = [(one, other) for one in STATES for other in STATES if one < other]
    relations = draw(st.lists(st.sampled_from(Relation), min_size=len(pairs), max_size=len(pairs)))
    turned = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    ordered = [(other, one) if turn else (one, other) for (one, other), turn in zip(pairs, turned, strict=True)]
    return [Judgement(*pair, relation, 1.0, "drawn") for pair, relation in zip(ordered, relations, strict=True)]


@given(judged_pairs(), st.sets(st.sampled_from(STATES)), st.integers(0, 4), st.integers(1, 7))
@settings(max_examples=150, deadline=None)
def test_reach_is_what_enumerating_all_paths_finds(
    judgements: list[Judgement], members: set[NodeId], hop_cap: int, region: int
) -> None:
    graph = graph_of(judgements)
    with patch("pgmem_local.retrieval.reach.REGION", region):
        reach = signed_reach(graph, members, hop_cap)
    supporters, challengers = by_enumeration(graph, members, hop_cap)
    assert {member: reach.supporters(member) for member in members} == supporters
    assert {member: reach.challengers(member) for member in members} == challengers


def test_nothing_passes_a_minus() -> None:
    sketch = Sketch()
    far, rival, node = sketch.state(), sketch.state(), sketch.state()
    sketch.contradict(far, rival)
    sketch.support(rival, node)
    reach = signed_reach(sketch.graph, [far, rival, node], 10)
    assert reach.supporters(node) == {rival}
    assert reach.challengers(node) == frozenset()


def test_supporters_of_a_contradicting_node_contradict_with_it() -> None:
    sketch = Sketch()
    far, rival, node = sketch.state(), sketch.state(), sketch.state()
    sketch.support(far, rival)
    sketch.contradict(rival, node)
    reach = signed_reach(sketch.graph, [far, rival, node], 10)
    assert reach.challengers(node) == {far, rival}


def test_path_ends_at_the_hop_cap() -> None:
    sketch = Sketch()
    chain = [sketch.state() for _ in range(5)]
    for one, other in pairwise(chain):
        sketch.shift(one, other)
    reach = signed_reach(sketch.graph, chain, 3)
    assert reach.supporters(chain[4]) == set(chain[1:4])


def test_path_stays_inside_the_pool() -> None:
    sketch = Sketch()
    one, outside, other = sketch.state(), sketch.state(), sketch.state()
    sketch.support(one, outside)
    sketch.support(outside, other)
    reach = signed_reach(sketch.graph, [one, other], 10)
    assert reach.supporters(other) == frozenset()


def test_what_an_island_reaches_does_not_depend_on_the_size_of_the_pool() -> None:
    nodes = [node_id(Kind.STATE, number) for number in range(3 * REGION)]
    graph = graph_of([Judgement(one, other, Relation.SUPPORT, 1.0, "drawn") for one, other in zip(nodes[::2], nodes[1::2], strict=True)])
    reach = signed_reach(graph, nodes, 10)
    assert sorted(len(region.positions) for region in reach.regions) == [REGION] * 3
    assert all(reach.supporters(one) == {other} for one, other in zip(nodes[::2], nodes[1::2], strict=True))


def test_island_larger_than_a_region_stays_whole() -> None:
    nodes = [node_id(Kind.STATE, number) for number in range(REGION + 1)]
    graph = graph_of([Judgement(one, other, Relation.SHIFT_TO, 1.0, "drawn") for one, other in pairwise(nodes)])
    assert len(signed_reach(graph, nodes, REGION).supporters(nodes[-1])) == REGION


def test_reach_of_a_large_pool_takes_less_than_three_seconds() -> None:
    chance = random.Random(5)
    nodes = [node_id(Kind.STATE, number) for number in range(2_000)]
    kinds = [Relation.SUPPORT, Relation.CONTRADICT, Relation.SHIFT_TO]
    pairs = [chance.sample(nodes, 2) for _ in range(20_000)]
    graph = graph_of([Judgement(one, other, chance.choice(kinds), 1.0, "drawn") for one, other in pairs])
    start = time.perf_counter()
    reach = signed_reach(graph, nodes, 10)
    assert time.perf_counter() - start < 3
    assert len(reach.supporters(nodes[0])) > 1_000
