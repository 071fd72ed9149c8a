from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from pgmem_local.graph.nodes import NodeId, RecallPriority
from pgmem_local.graph.signs import Sign
from pgmem_local.retrieval.expand import Pool, SignedPath, find_path
from pgmem_local.settings import ExpandSettings, RetrievalSettings, SeedSettings
from tests.builders import Sketch

ONE_SEED_A_KIND = SeedSettings(contexts=1, episodes=1, states=1, traits=1, active_persona=1, candidates=1)
ONLY_CONTEXTS = replace(ONE_SEED_A_KIND, episodes=0, states=0, traits=0, active_persona=0)


def pool_of(sketch: Sketch, seed: SeedSettings = ONE_SEED_A_KIND, hop_cap: int = 10) -> Pool:
    return sketch.retrieve(settings=RetrievalSettings(seed, ExpandSettings(hop_cap))).pool


def path_of(sketch: Sketch, target: NodeId) -> SignedPath | None:
    return find_path(sketch.graph, pool_of(sketch), target, ExpandSettings())


def test_context_seed_gives_way_to_all_that_was_made_from_it() -> None:
    sketch = Sketch()
    context, episode, state, trait = sketch.context(), sketch.episode(), sketch.state(), sketch.trait()
    sketch.derive(episode, context)
    sketch.derive(state, context)
    sketch.derive(trait, state)
    assert pool_of(sketch, ONLY_CONTEXTS).scores.keys() == {episode, state, trait}


def test_expansion_starts_from_what_a_context_gave() -> None:
    sketch = Sketch()
    context, state, friend = sketch.context(), sketch.state(), sketch.state()
    sketch.derive(state, context)
    sketch.support(state, friend)
    assert friend in pool_of(sketch, ONLY_CONTEXTS)


def test_plus_lets_a_path_go_on_and_minus_ends_it() -> None:
    sketch = Sketch()
    seed, friend, rival, behind = sketch.state(cosine=0.9), sketch.state(), sketch.state(), sketch.state()
    sketch.support(seed, friend)
    sketch.contradict(friend, rival)
    sketch.support(rival, behind)
    assert pool_of(sketch).scores.keys() == {seed, friend, rival}


def test_path_back_to_a_superseded_node_ends_there() -> None:
    sketch = Sketch()
    seed, old, behind = sketch.state(cosine=0.9), sketch.state(), sketch.state()
    sketch.shift(old, seed)
    sketch.support(old, behind)
    assert pool_of(sketch).scores.keys() == {seed, old}


@pytest.mark.parametrize(("hop_cap", "reached"), [(0, 1), (1, 2), (2, 3), (10, 4)])
def test_path_stops_at_the_hop_cap(hop_cap: int, reached: int) -> None:
    sketch = Sketch()
    chain = [sketch.state(cosine=0.9), *(sketch.state() for _ in range(3))]
    for one, other in pairwise(chain):
        sketch.support(one, other)
    assert len(pool_of(sketch, hop_cap=hop_cap)) == reached


def test_active_persona_is_in_the_pool_but_no_path_starts_from_it() -> None:
    sketch = Sketch()
    seed = sketch.state(cosine=0.9)
    salient, beside = sketch.state(priority=RecallPriority.HIGH), sketch.state()
    sketch.support(salient, beside)
    assert pool_of(sketch).scores.keys() == {seed, salient}


def test_no_path_starts_from_active_persona_that_a_context_gave() -> None:
    sketch = Sketch()
    context, salient, beside = sketch.context(), sketch.state(priority=RecallPriority.HIGH), sketch.state()
    sketch.derive(salient, context)
    sketch.support(salient, beside)
    assert pool_of(sketch, replace(ONLY_CONTEXTS, active_persona=1)).scores.keys() == {salient}


def test_node_met_by_a_minus_and_by_a_plus_is_walked_on_from() -> None:
    sketch = Sketch()
    seed, middle, both, behind = sketch.state(cosine=0.9), sketch.state(), sketch.state(), sketch.state()
    sketch.contradict(seed, both)
    sketch.support(seed, middle)
    sketch.support(middle, both)
    sketch.support(both, behind)
    assert behind in pool_of(sketch)


def test_successor_joins_the_pool_where_the_path_had_ended() -> None:
    sketch = Sketch()
    seed, old, new, newest = sketch.state(cosine=0.9), sketch.state(), sketch.state(), sketch.state()
    sketch.contradict(seed, old)
    sketch.shift(old, new)
    sketch.shift(new, newest)
    assert pool_of(sketch).scores.keys() == {seed, old, new, newest}


def test_expanded_node_has_its_own_phi() -> None:
    sketch = Sketch()
    seed, friend = sketch.state(cosine=0.9), sketch.state(cosine=0.5)
    sketch.support(seed, friend)
    assert pool_of(sketch).scores[friend].phi == pytest.approx(0.6 * 0.5)


def test_path_names_its_origin_steps_and_sign() -> None:
    sketch = Sketch()
    seed, friend, rival = sketch.state(cosine=0.9), sketch.state(), sketch.state()
    sketch.support(seed, friend)
    sketch.contradict(friend, rival)
    path = path_of(sketch, rival)
    assert path is not None
    assert path.origin == seed
    assert [(step.node, step.sign) for step in path.steps] == [(friend, Sign.PLUS), (rival, Sign.MINUS)]
    assert path.sign is Sign.MINUS


def test_shortest_path_is_shown() -> None:
    sketch = Sketch()
    seed, middle, both, behind = sketch.state(cosine=0.9), sketch.state(), sketch.state(), sketch.state()
    sketch.contradict(seed, both)
    sketch.support(seed, middle)
    sketch.support(middle, both)
    sketch.support(both, behind)
    to_both, to_behind = path_of(sketch, both), path_of(sketch, behind)
    assert to_both is not None
    assert [step.node for step in to_both.steps] == [both]
    assert to_behind is not None
    assert [step.node for step in to_behind.steps] == [middle, both, behind]
    assert to_behind.sign is Sign.PLUS


def test_origin_is_its_own_path_and_active_persona_has_none() -> None:
    sketch = Sketch()
    seed, salient = sketch.state(cosine=0.9), sketch.state(priority=RecallPriority.HIGH)
    assert path_of(sketch, seed) == SignedPath(seed)
    assert path_of(sketch, salient) is None
