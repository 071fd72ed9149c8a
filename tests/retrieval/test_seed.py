from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pgmem_local.graph.nodes import RecallPriority, Scope
from pgmem_local.retrieval.seed import Seeds, find_seeds, overlap, score
from pgmem_local.settings import SeedSettings
from tests.builders import Sketch, plain_query

HIGH = RecallPriority.HIGH


def seeds_of(sketch: Sketch, question: str = "", **changed: Any) -> Seeds:
    return find_seeds(sketch.graph, sketch.search, plain_query(question), replace(SeedSettings(), **changed))


def test_overlap_is_the_share_of_query_keywords_a_node_carries() -> None:
    sketch = Sketch()
    node = sketch.state("green tea in the evening")
    assert overlap(plain_query("tea evening garden music"), sketch.graph[node]) == 2 / 4


def test_domain_labels_count_as_words_of_the_node() -> None:
    sketch = Sketch()
    sketch.state("espresso")
    labelled = replace(sketch.nodes[0], domains=frozenset({"coffe"}))
    assert overlap(plain_query("coffee"), labelled) == 1.0


def test_query_without_keywords_overlaps_with_nothing() -> None:
    sketch = Sketch()
    sketch.state("tea")
    assert overlap(plain_query("who are you?"), sketch.nodes[0]) == 0.0


@pytest.mark.parametrize(
    ("kind", "scope", "phi"),
    [
        ("context", None, 0.65 * 0.8 + 0.35 * 0.5),
        ("episode", Scope.NARROW, 0.60 * 0.8 + 0.40 * 0.5),
        ("state", Scope.NARROW, 0.60 * 0.8 + 0.40 * 0.5),
        ("state", Scope.BROAD, 0.85 * 0.8 + 0.15 * 0.5),
        ("trait", Scope.BROAD, 0.85 * 0.8 + 0.15 * 0.5),
    ],
)
def test_phi_weighs_meaning_and_words_by_kind_and_scope(kind: str, scope: Scope | None, phi: float) -> None:
    sketch = Sketch()
    extra = {} if scope is None else {"scope": scope}
    node = getattr(sketch, kind)("tea", cosine=0.8, **extra)
    scored = score(sketch.graph, sketch.search, plain_query("tea garden"), [node], SeedSettings())[0]
    assert (scored.meaning, scored.overlap, scored.phi) == pytest.approx((0.8, 0.5, phi))


def test_seeds_are_the_best_of_each_kind_within_budget() -> None:
    sketch = Sketch()
    states = [sketch.state(cosine=cosine) for cosine in (0.1, 0.9, 0.5)]
    trait, episode, context = sketch.trait(), sketch.episode(), sketch.context()
    seeds = seeds_of(sketch, states=2)
    assert [seed.node.id for seed in seeds.states] == [states[1], states[2]]
    assert [seed.node.id for seed in (*seeds.traits, *seeds.episodes, *seeds.contexts)] == [trait, episode, context]


def test_keyword_hit_outside_the_nearest_is_a_candidate() -> None:
    sketch = Sketch()
    named = sketch.state("Zenzi", cosine=-0.2)
    sketch.state(cosine=0.3)
    assert [seed.node.id for seed in seeds_of(sketch, "Zenzi", candidates=1, states=1).states] == [named]


def test_equal_scores_go_to_the_newer_and_then_to_the_smaller_id() -> None:
    sketch = Sketch()
    undated, old, new, twin = (sketch.state(day=day, cosine=0.5) for day in (None, 1, 9, 9))
    assert [seed.node.id for seed in seeds_of(sketch).states] == [new, twin, old, undated]


def test_active_persona_holds_high_priority_states_the_question_does_not_resemble() -> None:
    sketch = Sketch()
    sketch.state(cosine=0.9)
    allergy, _ = sketch.state(cosine=-0.3, priority=HIGH), sketch.state(cosine=0.1)
    seeds = seeds_of(sketch, states=1, candidates=1)
    assert [seed.node.id for seed in seeds.active_persona] == [allergy]


def test_active_persona_is_chosen_after_the_state_seeds_and_disjoint_from_them() -> None:
    sketch = Sketch()
    first, second, third = (sketch.state(cosine=cosine, priority=HIGH) for cosine in (0.9, 0.5, 0.4))
    seeds = seeds_of(sketch, states=1, active_persona=1)
    assert [seed.node.id for seed in seeds.states] == [first]
    assert [seed.node.id for seed in seeds.active_persona] == [second]
    assert third not in {seed.node.id for seed in seeds}


def test_superseded_state_is_no_active_persona() -> None:
    sketch = Sketch()
    old, new = sketch.state(cosine=0.3, priority=HIGH), sketch.state(cosine=0.2, priority=HIGH)
    sketch.shift(old, new)
    assert [seed.node.id for seed in seeds_of(sketch, states=0).active_persona] == [new]


def test_empty_memory_has_no_seeds() -> None:
    assert list(seeds_of(Sketch(), "tea")) == []
