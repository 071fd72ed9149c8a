"""What evidence weighs: by probability and by distinct remarks, never less for more of it; and what time leaves of a node."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgmem_local.graph.nodes import Context, NodeId, RecallPriority, Scope
from pgmem_local.retrieval.assemble import looking_back
from pgmem_local.retrieval.reach import signed_reach
from pgmem_local.retrieval.weigh import Voice, Weight, counted, distinct_weight, weighed
from pgmem_local.settings import AssembleSettings, FadingSettings, RetrievalSettings, Weighing
from tests.builders import Sketch, plain_query

FADING = FadingSettings()
YEAR = 365


def weights(sketch: Sketch, fading: FadingSettings | None = FADING) -> dict[NodeId, Weight]:
    """The weights of a pool that holds all but the Contexts, as pools do once all is learned."""
    return _weights(sketch, None, fading)


def _weights(sketch: Sketch, shuffler: random.Random | None, fading: FadingSettings | None) -> dict[NodeId, Weight]:
    graph = sketch.graph_in_order_of(shuffler)
    members = {node.id for node in sketch.nodes if not isinstance(node, Context)}
    return weighed(graph, signed_reach(graph, members, 10), members, fading)


def remark(sketch: Sketch, text: str = "", day: int = 0) -> NodeId:
    """A State with a Context of its own."""
    state = sketch.state(day=day)
    sketch.derive(state, sketch.context(text, day))
    return state


# ------------------------------------------------------------------ probability


def test_supporter_counts_with_the_probability_of_its_best_path() -> None:
    sketch = Sketch()
    far, near, node = (remark(sketch) for _ in range(3))
    sketch.support(far, near, 0.5)
    sketch.support(near, node, 0.8)
    sketch.support(far, node, 0.3)
    found = weights(sketch)[node]
    assert found.supporting == pytest.approx(0.8 + 0.5 * 0.8)
    assert found.contradicting == 0


def test_challenger_counts_with_its_probability_and_brings_its_supporters() -> None:
    sketch = Sketch()
    far, rival, node = (remark(sketch) for _ in range(3))
    sketch.support(far, rival, 0.5)
    sketch.contradict(rival, node, 0.6)
    assert weights(sketch)[node].contradicting == pytest.approx(0.6 + 0.5 * 0.6)


# ------------------------------------------------------------------ distinct sources


def test_ten_notes_of_one_remark_are_one_source() -> None:
    sketch = Sketch()
    node, said = remark(sketch), sketch.context("tea", 1)
    for number in range(10):
        note = sketch.state(day=1)
        sketch.derive(note, said)
        sketch.support(note, node, 0.5 + number / 100)
    assert weights(sketch)[node].supporting == pytest.approx(0.59)


def test_remark_repeated_on_one_day_is_one_source_and_on_another_day_a_second() -> None:
    sketch = Sketch()
    node = remark(sketch, "pubs")
    for day in (1, 1, 1, 2):
        sketch.support(remark(sketch, "Tea, please.", day), node)
    assert weights(sketch)[node].supporting == 2


def test_what_rests_on_the_same_remark_as_a_state_says_nothing_new_about_it() -> None:
    sketch = Sketch()
    said = sketch.context("tea")
    state, episode = sketch.state(), sketch.episode()
    sketch.derive(state, said)
    sketch.derive(episode, said)
    sketch.support(episode, state)
    assert weights(sketch)[state].supporting == 0


def test_episode_with_a_further_remark_counts() -> None:
    sketch = Sketch()
    said, further = sketch.context("tea"), sketch.context("more tea")
    state, episode = sketch.state(), sketch.episode()
    sketch.derive(state, said)
    sketch.derive(episode, said, further)
    sketch.support(episode, state)
    assert weights(sketch)[state].supporting == 1


def test_trait_is_supported_by_what_it_was_inferred_from() -> None:
    sketch = Sketch()
    states = [remark(sketch, f"remark {number}") for number in range(3)]
    trait = sketch.trait()
    sketch.derive(trait, *states)
    for state in states:
        sketch.support(state, trait)
    assert weights(sketch)[trait].supporting == 3


def test_state_said_again_has_that_for_it() -> None:
    sketch = Sketch()
    state = remark(sketch, "tea", 0)
    sketch.derive(state, sketch.context("tea again", 3), sketch.context("and tea", 9))
    assert weights(sketch)[state].supporting == 2


# ------------------------------------------------------------------ properties

VOICES = st.lists(
    st.builds(
        Voice, st.sampled_from((0.125, 0.25, 0.5, 0.75, 1.0)), st.frozensets(st.integers(0, 5), min_size=1, max_size=3)
    ),
    max_size=6,
)
KNOWN = st.frozensets(st.integers(0, 5), max_size=2)


def best_by_trial(voices: list[Voice], known: frozenset[int]) -> float:
    """Every way to give voices sources, tried one by one."""
    free = sorted({source for voice in voices for source in voice.sources} - known)  # type: ignore[type-var]
    seats = [*free, *([None] * len(voices))]
    return max(
        sum(voice.weight for voice, seat in zip(voices, chosen, strict=True) if seat is not None and seat in voice.sources)
        for chosen in set(permutations(seats, len(voices)))
    )


@given(st.lists(VOICES.map(lambda found: found[0] if found else Voice(0.5, frozenset({1}))), max_size=3), KNOWN)
@settings(max_examples=60, deadline=None)
def test_weight_is_the_greatest_that_distinct_sources_allow(voices: list[Voice], known: frozenset[int]) -> None:
    assert distinct_weight(voices, known) == pytest.approx(best_by_trial(voices, known))


@given(VOICES, KNOWN)
@settings(deadline=None)
def test_weight_lies_between_nothing_and_the_count_of_voices_and_of_sources(voices: list[Voice], known: frozenset[int]) -> None:
    sources = {source for voice in voices for source in voice.sources} - known
    assert 0 <= distinct_weight(voices, known) <= min(len(voices), len(sources))


@given(VOICES, st.randoms(use_true_random=False), KNOWN)
@settings(deadline=None)
def test_order_of_voices_changes_nothing(voices: list[Voice], shuffler: random.Random, known: frozenset[int]) -> None:
    shuffled = list(voices)
    shuffler.shuffle(shuffled)
    assert distinct_weight(shuffled, known) == distinct_weight(voices, known)


@given(VOICES, VOICES, KNOWN)
@settings(deadline=None)
def test_more_voices_never_weigh_less(voices: list[Voice], more: list[Voice], known: frozenset[int]) -> None:
    assert distinct_weight([*voices, *more], known) >= distinct_weight(voices, known)


@st.composite
def sketches(draw: st.DrawFn) -> Sketch:
    """A few States and Episodes over a few Contexts, with any evidence between them."""
    sketch = Sketch()
    contexts = [sketch.context(f"line {number}", number) for number in range(4)]
    nodes = [draw(st.sampled_from((sketch.state, sketch.episode, sketch.trait)))(day=draw(st.integers(0, 400))) for _ in range(6)]
    for node in nodes:
        sketch.derive(node, *draw(st.sets(st.sampled_from(contexts), max_size=3)))
    for one, other in draw(st.lists(st.sampled_from([(a, b) for a in nodes for b in nodes if a < b]), unique=True)):
        relate = draw(st.sampled_from((sketch.support, sketch.contradict)))
        relate(one, other, draw(st.sampled_from((0.25, 0.5, 1.0))))
    return sketch


@given(sketches())
@settings(max_examples=60, deadline=None)
def test_nothing_weighs_more_than_the_papers_count_and_what_was_said_again(sketch: Sketch) -> None:
    graph = sketch.graph
    members = {node.id for node in sketch.nodes if not isinstance(node, Context)}
    counts = counted(signed_reach(graph, members, 10), members)
    for identifier, weight in weights(sketch).items():
        again = max(len(graph.contexts_behind(identifier)) - 1, 0)
        assert 0 <= weight.supporting <= counts[identifier].supporting + again
        assert 0 <= weight.contradicting <= counts[identifier].contradicting
        assert 0 < weight.freshness <= 1


@given(sketches(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_order_in_which_a_graph_grew_changes_nothing(sketch: Sketch, shuffler: random.Random) -> None:
    assert _weights(sketch, shuffler, FADING) == weights(sketch)


@given(sketches(), st.sampled_from((0.25, 0.5, 1.0)), st.integers(0, 400))
@settings(max_examples=60, deadline=None)
def test_more_distinct_evidence_never_lowers_validity(sketch: Sketch, probability: float, day: int) -> None:
    state = remark(sketch, "what it is about", 0)
    said = sketch.context("distinct", 400)
    before = validity(sketch, state)
    friend = sketch.state(day=day)
    sketch.derive(friend, said)
    sketch.support(friend, state, probability)
    assert validity(sketch, state) >= before


def validity(sketch: Sketch, state: NodeId) -> float:
    found = weights(sketch)[state]
    return found.freshness * (found.supporting + 1) / (found.supporting + found.contradicting + 2)


# ------------------------------------------------------------------ time


def faded(sketch: Sketch, node: NodeId, years: float = 1, fading: FadingSettings | None = FADING) -> float:
    sketch.episode("newest", int(years * YEAR))
    return weights(sketch, fading)[node].freshness


@pytest.mark.parametrize(
    ("scope", "priority", "half_life"),
    [
        (Scope.NARROW, RecallPriority.LOW, FADING.narrow_low),
        (Scope.BROAD, RecallPriority.LOW, FADING.broad_low),
        (Scope.NARROW, RecallPriority.HIGH, FADING.narrow_high),
        (Scope.BROAD, RecallPriority.HIGH, FADING.broad_high),
    ],
)
def test_state_fades_by_scope_and_priority(scope: Scope, priority: RecallPriority, half_life: float) -> None:
    sketch = Sketch()
    assert faded(sketch, sketch.state(scope=scope, priority=priority), 3) == pytest.approx(0.5 ** (3 * YEAR / half_life))


def test_trait_hardly_fades_and_an_episode_does_not() -> None:
    sketch = Sketch()
    trait, episode = sketch.trait(), sketch.episode()
    assert faded(sketch, trait) > 0.96
    assert faded(sketch, episode) == 1.0


def test_statement_pinned_and_undated_states_do_not_fade() -> None:
    sketch = Sketch()
    stated, pinned, undated = sketch.state(stated=True), sketch.state(), sketch.state(day=None)
    sketch.pinned = [pinned]
    assert {faded(sketch, node, 5) for node in (stated, pinned, undated)} == {1.0}


def test_state_is_as_old_as_the_last_time_it_was_said() -> None:
    sketch = Sketch()
    state = remark(sketch, "tea")
    sketch.derive(state, sketch.context("tea again", YEAR))
    assert faded(sketch, state) == 1.0


def test_supporter_renews_a_state_as_far_as_it_is_probable() -> None:
    sketch = Sketch()
    state = sketch.state()
    sketch.support(sketch.state(day=3 * YEAR), state, 0.75)
    assert faded(sketch, state, 3) == pytest.approx(0.75)


def test_old_unsupported_state_ranks_below_a_fresh_one_that_is_as_near() -> None:
    sketch = Sketch()
    old, fresh = sketch.state(day=0, cosine=0.51), sketch.state(day=2 * YEAR, cosine=0.5)
    fading = RetrievalSettings(assemble=AssembleSettings(fading=FADING))
    ranked = [entry.node.id for entry in sketch.retrieve(settings=fading).evidence.states]
    assert ranked == [fresh, old]
    past = [entry.node.id for entry in sketch.retrieve(replace(plain_query(), past=True), fading).evidence.states]
    assert past == [old, fresh]


def test_question_about_the_past_is_shown_more_of_what_changed() -> None:
    sketch = Sketch()
    new = sketch.state(day=99)
    for day in range(20):
        sketch.shift(sketch.state(day=day), new)
    assert len(sketch.retrieve().evidence.changed) == 6
    assert len(sketch.retrieve(replace(plain_query(), past=True)).evidence.changed) == 12


def test_looking_back_shows_no_history_where_there_is_to_be_none() -> None:
    assert looking_back(AssembleSettings(changed_states=0)).changed_states == 0


def test_papers_formula_knows_neither_probability_nor_source_nor_time() -> None:
    sketch = Sketch()
    said, state = sketch.context("tea"), sketch.state(cosine=0.5)
    for _ in range(3):
        note = sketch.episode(day=900)
        sketch.derive(note, said)
        sketch.support(note, state, 0.3)
    papers = RetrievalSettings(assemble=AssembleSettings(weighing=Weighing.COUNTED, fading=None))
    (entry,) = sketch.retrieve(settings=papers).evidence.states
    assert entry.weight == Weight(3, 0)
    assert entry.validity == pytest.approx(4 / 5)
    assert sketch.retrieve().evidence.states[0].weight.supporting == pytest.approx(0.3)
