from __future__ import annotations

import pytest

from pgmem_local.graph.nodes import Node, NodeId
from pgmem_local.retrieval.assemble import Evidence, Ranked, assemble
from pgmem_local.retrieval.expand import Pool
from pgmem_local.retrieval.reach import signed_reach
from pgmem_local.retrieval.seed import score
from pgmem_local.settings import AssembleSettings, SeedSettings
from tests.builders import Sketch, on_day, plain_query

DEFAULTS = AssembleSettings()


def evidence_of(sketch: Sketch, settings: AssembleSettings = DEFAULTS, without: tuple[NodeId, ...] = ()) -> Evidence:
    """The evidence of a pool that holds every node drawn except `without`."""
    members = {node.id for node in sketch.nodes} - set(without)
    scored = score(sketch.graph, sketch.search, plain_query(), members, SeedSettings())
    pool = Pool({one.node.id: one for one in scored}, frozenset(members), signed_reach(sketch.graph, members, 10))
    return assemble(sketch.graph, pool, settings)


def ids(entries: tuple[Ranked, ...] | tuple[Node, ...]) -> list[NodeId]:
    return [entry.node.id if isinstance(entry, Ranked) else entry.id for entry in entries]


def test_validity_and_rank_are_equations_9_and_10() -> None:
    sketch = Sketch()
    state, friend, rival = sketch.state(cosine=0.5), sketch.episode(), sketch.state(cosine=-0.5)
    other_friend = sketch.episode()
    sketch.support(friend, state)
    sketch.support(other_friend, state)
    sketch.contradict(rival, state)
    first = evidence_of(sketch).states[0]
    assert first.node.id == state
    assert first.supporters == {friend, other_friend}
    assert first.challengers == {rival}
    assert first.phi == pytest.approx(0.6 * 0.5)
    assert first.validity == pytest.approx((2 + 1) / (2 + 1 + 2))
    assert first.psi == pytest.approx(0.5 * 0.6 + 0.5 * 0.3)


def test_settings_choose_smoothing_and_weight() -> None:
    sketch = Sketch()
    state, friend = sketch.state(cosine=0.5), sketch.episode()
    sketch.support(friend, state)
    entry = evidence_of(sketch, AssembleSettings(smoothing=0.5, validity_weight=0.25)).states[0]
    assert entry.validity == pytest.approx(1.5 / 2)
    assert entry.psi == pytest.approx(0.25 * 0.75 + 0.75 * 0.3)


def test_node_without_evidence_is_half_valid() -> None:
    sketch = Sketch()
    sketch.state()
    assert evidence_of(sketch).states[0].validity == 0.5


def test_superseded_state_is_no_longer_current_but_stays_readable() -> None:
    sketch = Sketch()
    old, new = sketch.state(day=3, cosine=0.9), sketch.state(day=30)
    sketch.shift(old, new)
    evidence = evidence_of(sketch)
    assert ids(evidence.states) == [new]
    changed = evidence.changed[0]
    assert (changed.state.node.id, changed.replaced_by.id, changed.changed) == (old, new, on_day(30))


def test_superseded_state_stays_current_where_its_successor_is_not_in_the_pool() -> None:
    sketch = Sketch()
    old, new = sketch.state(), sketch.state()
    sketch.shift(old, new)
    assert ids(evidence_of(sketch, without=(new,)).states) == [old]


def test_chain_of_changes_names_each_next_state() -> None:
    sketch = Sketch()
    bus, bicycle, train = (sketch.state(day=day) for day in (1, 2, 3))
    sketch.shift(bus, bicycle)
    sketch.shift(bicycle, train)
    sketch.shift(bus, train)
    evidence = evidence_of(sketch)
    assert ids(evidence.states) == [train]
    assert {one.state.node.id: one.replaced_by.id for one in evidence.changed} == {bus: bicycle, bicycle: train}


def test_chain_is_followed_through_a_node_outside_the_pool() -> None:
    sketch = Sketch()
    bus, bicycle, train = (sketch.state(day=day) for day in (1, 2, 3))
    sketch.shift(bus, bicycle)
    sketch.shift(bicycle, train)
    evidence = evidence_of(sketch, without=(bicycle,))
    assert ids(evidence.states) == [train]
    assert evidence.changed[0].replaced_by.id == train


def test_dated_successor_tells_when_a_state_ended() -> None:
    sketch = Sketch()
    old, undated, dated = (sketch.state(day=day) for day in (1, None, 3))
    sketch.shift(old, undated)
    sketch.shift(old, dated)
    assert evidence_of(sketch).changed[0].changed == on_day(3)


def test_judgements_in_a_circle_leave_their_nodes_current() -> None:
    sketch = Sketch()
    one, other = sketch.state(), sketch.state()
    sketch.shift(one, other)
    sketch.shift(other, one)
    assert set(ids(evidence_of(sketch).states)) == {one, other}


def test_circle_with_a_way_out_is_superseded_by_what_follows() -> None:
    sketch = Sketch()
    one, other, last = sketch.state(), sketch.state(), sketch.state()
    sketch.shift(one, other)
    sketch.shift(other, one)
    sketch.shift(other, last)
    assert ids(evidence_of(sketch).states) == [last]


def test_superseded_node_is_no_evidence_for_its_successor() -> None:
    sketch = Sketch()
    old, new = sketch.state(), sketch.state()
    sketch.shift(old, new)
    evidence = evidence_of(sketch)
    assert evidence.states[0].supporters == frozenset()
    assert evidence.changed[0].state.challengers == {new}


@pytest.mark.parametrize(("supporting", "challenged"), [(2, True), (3, False)])
def test_trait_is_challenged_up_to_a_support_ratio_of_seven_tenths(supporting: int, challenged: bool) -> None:
    sketch = Sketch()
    trait, rival = sketch.trait(), sketch.state()
    sketch.contradict(rival, trait)
    for _ in range(supporting):
        sketch.support(sketch.episode(), trait)
    evidence = evidence_of(sketch)
    assert bool(evidence.challenged) is challenged
    assert bool(evidence.traits) is not challenged
    if challenged:
        assert ids(evidence.challenged[0].contradicted_by) == [rival]
        assert evidence.challenged[0].replaced_by == ()


def test_ratio_that_meets_the_limit_exactly_is_challenged() -> None:
    sketch = Sketch()
    trait, rival = sketch.trait(), sketch.state()
    sketch.contradict(rival, trait)
    sketch.support(sketch.episode(), trait)
    assert evidence_of(sketch, AssembleSettings(challenged_ratio=0.5)).challenged


def test_trait_nothing_speaks_for_or_against_is_stable() -> None:
    sketch = Sketch()
    trait = sketch.trait()
    assert ids(evidence_of(sketch).traits) == [trait]


def test_replaced_trait_is_challenged() -> None:
    sketch = Sketch()
    old, new = sketch.trait(cosine=0.9), sketch.trait()
    sketch.shift(old, new)
    evidence = evidence_of(sketch)
    assert ids(evidence.traits) == [new]
    assert evidence.challenged[0].trait.node.id == old
    assert ids(evidence.challenged[0].replaced_by) == [new]


def test_trait_replaced_through_a_trait_outside_the_pool_is_challenged() -> None:
    sketch = Sketch()
    old, between, new = sketch.trait(), sketch.trait(), sketch.trait()
    sketch.shift(old, between)
    sketch.shift(between, new)
    challenged = evidence_of(sketch, without=(between,)).challenged
    assert [(one.trait.node.id, ids(one.replaced_by)) for one in challenged] == [(old, [new])]


def test_replaced_trait_takes_a_place_only_where_one_is_left() -> None:
    sketch = Sketch()
    old, new = sketch.trait(cosine=0.9), sketch.trait()
    sketch.shift(old, new)
    evidence = evidence_of(sketch, AssembleSettings(traits=1))
    assert ids(evidence.traits) == [new]
    assert evidence.challenged == ()


def test_each_kind_is_kept_within_its_budget() -> None:
    sketch = Sketch()
    for _ in range(30):
        old = sketch.state()
        sketch.trait()
        sketch.episode()
        sketch.shift(old, sketch.state())
    evidence = evidence_of(sketch)
    kept = (evidence.traits, evidence.states, evidence.changed, evidence.episodes)
    assert [len(entries) for entries in kept] == [5, 18, 6, 4]
    assert len(evidence.ranked) == 33


def test_equal_ranks_go_to_the_higher_phi_then_the_newer_then_the_smaller_id() -> None:
    sketch = Sketch()
    undated, old, new, twin = (sketch.state(day=day) for day in (None, 1, 9, 9))
    near, far, friend = sketch.state(cosine=0.9), sketch.state(cosine=-0.9), sketch.episode()
    supported = sketch.state(cosine=-1.0)
    sketch.support(friend, supported)
    ranked = evidence_of(sketch, AssembleSettings(validity_weight=1.0, fading=None)).states
    assert ids(ranked) == [supported, near, new, twin, old, undated, far]


def test_what_changed_is_ranked_by_relevance_alone() -> None:
    sketch = Sketch()
    near, far, new = sketch.state(cosine=0.4), sketch.state(cosine=0.3), sketch.state()
    sketch.shift(near, new)
    sketch.shift(far, new)
    for _ in range(3):
        sketch.support(sketch.episode(), far)
    changed = evidence_of(sketch).changed
    assert ids(tuple(one.state for one in changed)) == [near, far]
    assert [one.state.validity for one in changed] == [0.0, 0.0]


def test_evidence_of_an_empty_pool_is_empty() -> None:
    assert not evidence_of(Sketch())
    assert evidence_of(Sketch()).ranked == ()
