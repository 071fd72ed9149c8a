"""Which notes meet: near in event time, alike in meaning or words, never twice and never with their own source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pgmem_local.construction.pair import (
    Neighbourhood,
    Pair,
    closest,
    distant_pairs,
    local_episode_pairs,
    local_state_pairs,
    local_trait_pairs,
    unique,
)
from pgmem_local.graph.nodes import Kind, Node, NodeId
from pgmem_local.settings import ConstructionSettings
from tests.builders import Sketch
from tests.construction.builders import SETTINGS, pair, state
from tests.fakes import HashEmbedder


def neighbourhood(sketch: Sketch) -> Neighbourhood:
    return Neighbourhood(sketch.graph, sketch.search)


def sketch_with_contexts(count: int = 10) -> Sketch:
    sketch = Sketch(HashEmbedder())
    for number in range(count):
        sketch.context(f"context {number}", day=number)
    return sketch


def told(sketch: Sketch, text: str, day: int | None, *contexts: str, kind: Callable[..., NodeId] | None = None) -> NodeId:
    """A State (or another node) made from these Contexts."""
    made = (kind or sketch.state)(text, day)
    sketch.derive(made, *map(NodeId, contexts))
    return made


def ids(pairs: list[Pair]) -> list[tuple[NodeId, NodeId]]:
    return [(one.earlier.id, one.later.id) for one in pairs]


def partners(node: Node, pairs: list[Pair]) -> list[NodeId]:
    return [one.later.id if one.earlier.id == node.id else one.earlier.id for one in pairs]


class TestPair:
    def test_earlier_is_the_earlier_in_event_time_whichever_was_learned_first(self) -> None:
        sketch = sketch_with_contexts()
        newer, older = told(sketch, "tea", 9, "c1"), told(sketch, "coffee", 2, "c2")
        near = neighbourhood(sketch)
        for one, other in ((newer, older), (older, newer)):
            found = near.pair(sketch.graph[one], sketch.graph[other])
            assert found is not None
            assert (found.earlier.id, found.later.id) == (older, newer)
            assert found.dated

    def test_order_is_uncertain_without_both_times_or_at_the_same_instant(self) -> None:
        assert not pair(state("a", 1), state("b", None, 2)).dated
        assert not pair(state("a", 1), state("b", 1, 2)).dated

    def test_cosine_is_that_of_the_vectors(self) -> None:
        sketch = sketch_with_contexts()
        same, other = told(sketch, "green tea", 1, "c1"), told(sketch, "green tea", 2, "c2")
        found = neighbourhood(sketch).pair(sketch.graph[same], sketch.graph[other])
        assert found is not None
        assert found.cosine == pytest.approx(1.0)

    def test_notes_on_the_same_words_are_no_evidence_for_each_other(self) -> None:
        sketch = sketch_with_contexts()
        one, other = told(sketch, "tea", 1, "c1"), told(sketch, "cake", 1, "c1")
        assert neighbourhood(sketch).pair(sketch.graph[one], sketch.graph[other]) is None

    def test_note_never_meets_what_it_was_made_from(self) -> None:
        sketch = sketch_with_contexts()
        one, other, alone = told(sketch, "tea", 1, "c1"), told(sketch, "cake", 2, "c2"), told(sketch, "rain", 3, "c3")
        trait = told(sketch, "enjoys", 3, one, other, kind=sketch.trait)
        near = neighbourhood(sketch)
        assert partners(sketch.graph[trait], near.pairs(sketch.graph[trait], sketch.graph.of_kind(Kind.STATE))) == [alone]

    def test_pair_judged_before_is_never_judged_again_not_even_an_irrelevant_one(self) -> None:
        sketch = sketch_with_contexts()
        one, other = told(sketch, "tea", 1, "c1"), told(sketch, "cake", 2, "c2")
        sketch.irrelevant(other, one)
        assert neighbourhood(sketch).pair(sketch.graph[one], sketch.graph[other]) is None

    def test_node_never_meets_itself(self) -> None:
        sketch = sketch_with_contexts()
        one = told(sketch, "tea", 1, "c1")
        assert neighbourhood(sketch).pair(sketch.graph[one], sketch.graph[one]) is None

    def test_unique_keeps_each_pair_once_in_either_order(self) -> None:
        one, other = state("a", 1, 1), state("b", 2, 2)
        assert unique([pair(one, other, 0.1), pair(other, one, 0.2)]) == [pair(one, other, 0.1)]


class TestLocalPairs:
    def test_new_state_meets_the_states_nearest_in_event_time_not_the_last_learned(self) -> None:
        sketch = sketch_with_contexts()
        for number, day in enumerate((50, 10, 11, 90, 12, 13), start=2):
            told(sketch, f"note {number}", day, f"c{number}")
        new = told(sketch, "new", 12, "c1")
        near = neighbourhood(sketch)
        found = partners(sketch.graph[new], local_state_pairs(near, sketch.graph[new], ConstructionSettings(recent_states=4)))
        assert {sketch.graph[one].text for one in found} == {"note 3", "note 4", "note 6", "note 7"}

    def test_undated_states_count_as_far_away(self) -> None:
        sketch = sketch_with_contexts()
        undated, far = told(sketch, "undated", None, "c1"), told(sketch, "far", 300, "c2")
        new = told(sketch, "new", 1, "c3")
        near = neighbourhood(sketch)
        assert [node.id for node in near.nearest_in_time(sketch.graph[new], Kind.STATE, 2)] == [far, undated]

    def test_state_of_the_lesson_being_made_is_met_too(self) -> None:
        sketch = sketch_with_contexts()
        near = neighbourhood(sketch)
        first, second = state("drinks tea", 1, 1), state("drinks coffee", 2, 2)
        for one, source in ((first, "c1"), (second, "c2")):
            near.add(one, HashEmbedder().embed([one.text])[0], [NodeId(source)])
        assert ids(local_state_pairs(near, second, SETTINGS)) == [(first.id, second.id)]
        near.forget(first.id)
        assert local_state_pairs(near, second, SETTINGS) == []

    def test_episode_meets_the_previous_one(self) -> None:
        sketch = sketch_with_contexts()
        before = told(sketch, "the day before", 1, "c1", "c2", kind=sketch.episode)
        told(sketch, "long ago", 0, "c9", kind=sketch.episode)
        new = told(sketch, "today", 3, "c3", "c4", kind=sketch.episode)
        assert partners(sketch.graph[new], local_episode_pairs(neighbourhood(sketch), sketch.graph[new])) == [before]

    @pytest.mark.parametrize("source", ["c1", "c3"])
    def test_episode_whose_exchanges_left_a_state_meets_nothing(self, source: str) -> None:
        sketch = sketch_with_contexts()
        told(sketch, "the day before", 1, "c1", "c2", kind=sketch.episode)
        told(sketch, "drinks tea", 1, source)
        new = told(sketch, "today", 3, "c3", "c4", kind=sketch.episode)
        assert local_episode_pairs(neighbourhood(sketch), sketch.graph[new]) == []

    def test_trait_meets_recent_notes_and_the_previous_trait(self) -> None:
        sketch = sketch_with_contexts()
        recent = told(sketch, "recent", 8, "c8")
        previous = told(sketch, "is calm", 4, "c1", "c2", kind=sketch.trait)
        new = told(sketch, "is kind", 8, "c3", "c4", kind=sketch.trait)
        found = partners(sketch.graph[new], local_trait_pairs(neighbourhood(sketch), sketch.graph[new], [sketch.graph[recent]]))
        assert found == [recent, previous]


class TestDistantPairs:
    def test_state_meets_old_states_alike_in_meaning_or_in_words(self) -> None:
        sketch = Sketch(HashEmbedder(akin={"alcohol": "pub"}))
        for number in range(8):
            sketch.context("", day=number)
        by_meaning, stranger = told(sketch, "pub", 0, "c1"), told(sketch, "trains", 1, "c2")
        by_words = told(sketch, "stopped stamps coins shells maps", 2, "c3")
        new = told(sketch, "stopped alcohol", 400, "c4")
        few = ConstructionSettings(state_top_by_meaning=1, state_top_by_words=1)
        found = partners(sketch.graph[new], distant_pairs(neighbourhood(sketch), [sketch.graph[new]], few))
        assert found == [by_meaning, by_words]
        assert stranger not in found

    def test_most_words_in_common_come_first(self) -> None:
        sketch = sketch_with_contexts()
        few, many = told(sketch, "tea", 1, "c1"), told(sketch, "tea with lemon and honey", 2, "c2")
        new = told(sketch, "honey, lemon, tea", 3, "c3")
        near = neighbourhood(sketch)
        assert [node.id for node in near.by_words(sketch.graph[new], Kind.STATE, 2)] == [many, few]

    def test_each_kind_has_its_top(self) -> None:
        sketch = sketch_with_contexts(30)
        for number in range(1, 13):
            told(sketch, f"tea {number}", number, f"c{number}")
            told(sketch, f"tea day {number}", number, f"c{number + 13}", kind=sketch.episode)
        trait = told(sketch, "tea", 20, "c29", "c30", kind=sketch.trait)
        tops = ConstructionSettings(trait_top_states=3, trait_top_episodes=2)
        found = partners(sketch.graph[trait], distant_pairs(neighbourhood(sketch), [sketch.graph[trait]], tops))
        assert [one[0] for one in found] == ["s", "s", "s", "e", "e"]

    def test_pair_of_two_new_states_comes_once(self) -> None:
        sketch = sketch_with_contexts()
        one, other = told(sketch, "green tea", 1, "c1"), told(sketch, "black tea", 2, "c2")
        new = [sketch.graph[one], sketch.graph[other]]
        assert ids(distant_pairs(neighbourhood(sketch), new, SETTINGS)) == [(one, other)]


@pytest.mark.parametrize(("again", "orders"), [(3, True), (9, False)])
def test_note_said_again_later_was_not_replaced_in_between(again: int, orders: bool) -> None:
    sketch = sketch_with_contexts()
    home = told(sketch, "lives in Graz", 0, "c1", f"c{again + 1}")
    other = told(sketch, "lives in Linz", 5, "c6")
    found = neighbourhood(sketch).pair(sketch.graph[home], sketch.graph[other])
    assert found is not None
    assert found.dated is orders


def test_of_pairs_equally_alike_those_of_one_domain_are_closest() -> None:
    tea, espresso, chair = (
        replace(state(text, number, number), domains=frozenset({label}))
        for number, (text, label) in enumerate((("drinks tea", "drink"), ("drinks espresso", "drink"), ("has a chair", "home")), 1)
    )
    far, near = pair(chair, tea, cosine=0.3), pair(espresso, tea, cosine=0.2)
    assert closest([far, near], [tea.id], 1) == [near]
    assert closest([replace(far, cosine=0.4), near], [tea.id], 1) == [replace(far, cosine=0.4)]
    assert closest([far, near], [tea.id], 2, least=0.32) == [near]
    assert closest([far, near], [tea.id], 2, least=0.4, sure=1) == [near]
