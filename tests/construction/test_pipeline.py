"""Algorithm 1, step by step and from end to end on a tiny diary."""

from __future__ import annotations

import pytest

from pgmem_local.construction.extract import Reading
from pgmem_local.construction.pipeline import close_chunk, consolidate, learn_contexts
from pgmem_local.construction.reveal import Glance
from pgmem_local.graph.edges import Relation
from pgmem_local.graph.nodes import Context, Kind, Polarity, RecallPriority, State, Trait
from pgmem_local.graph.persona_graph import PersonaGraph
from tests.builders import on_day
from tests.construction.builders import Bench
from tests.fakes import HashEmbedder
from tests.reader import Reader

GRAZ, LINZ = "lives in Graz", "lives in Linz"
MOVES = Reader(
    {"Graz": GRAZ, "Linz": LINZ},
    {(GRAZ, LINZ): Relation.SHIFT_TO, (LINZ, GRAZ): Relation.SHIFT_TO},
)


def current(graph: PersonaGraph) -> list[str]:
    return [node.text for node in graph.of_kind(Kind.STATE) if not graph.replaced_by(node.id)]


class TestLearnContexts:
    def test_state_comes_with_source_time_and_labels_of_its_context(self) -> None:
        bench = Bench(Reader({"tea": "cannot stand tea"}))
        said = bench.context("I can't stand tea.", day=7)
        bench.learn(learn_contexts, said)
        (state,) = bench.graph.of_kind(Kind.STATE)
        assert isinstance(state, State)
        assert state.moment == on_day(7)
        assert bench.graph.sources(state.id) == [said.id]

    def test_lesson_of_each_context_stands_alone_and_needs_only_those_before_it(self) -> None:
        bench = Bench(Reader({"tea": "drinks tea", "coffee": "drinks coffee"}, {("tea", "coffee"): Relation.CONTRADICT}))
        contexts = [bench.context("I drink tea.", 1), bench.context("Rain.", 2), bench.context("I drink coffee.", 3)]
        first, second, third = bench.learn(learn_contexts, *contexts)
        assert [lesson.learned for lesson in (first, second, third)] == [(one.id,) for one in contexts]
        assert [len(lesson.nodes) for lesson in (first, second, third)] == [1, 0, 1]
        assert first.judgements == second.judgements == ()
        (judgement,) = third.judgements
        assert (judgement.source, judgement.target, judgement.relation) == (first.nodes[0].id, third.nodes[0].id, Relation.CONTRADICT)

    def test_prompts_of_a_window_are_asked_together(self) -> None:
        model = Reader({"tea": "drinks tea"})
        bench = Bench(model)
        bench.learn(learn_contexts, *(bench.context(f"I drink tea {number}.", number) for number in range(4)))
        tasks = model.tasks()
        assert tasks == sorted(tasks, key=["state_probes", "state_note"].index)
        assert tasks.count("state_note") == 4

    def test_state_said_again_is_one_node_with_two_sources(self) -> None:
        for windows in (1, 2):
            bench = Bench(Reader({"Graz": GRAZ}))
            contexts = [bench.context("I live in Graz.", 1), bench.context("Graz, where I live.", 9)]
            for window in ([contexts] if windows == 1 else [[one] for one in contexts]):
                bench.learn(learn_contexts, *window)
            (state,) = bench.graph.of_kind(Kind.STATE)
            assert bench.graph.sources(state.id) == [one.id for one in contexts]

    def test_ten_repeats_are_one_state_and_not_judged_again(self) -> None:
        model = Reader({"Graz": GRAZ})
        bench = Bench(model)
        for day in range(10):
            bench.learn(learn_contexts, bench.context("I live in Graz.", day))
        assert len(bench.graph.of_kind(Kind.STATE)) == 1
        assert "judge_letters" not in model.tasks()

    def test_same_note_is_one_state_whatever_polarity_was_read_of_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        bench = Bench(Reader({"Graz": GRAZ}))
        contexts = [bench.context("My home is Graz.", 1), bench.context("I live in Graz.", 2), bench.context("Graz again.", 3)]
        for one, polarity in zip(contexts, Polarity, strict=True):
            seen = Glance(1.0, polarity, RecallPriority.LOW)
            monkeypatch.setattr("pgmem_local.construction.extract.glance", lambda *_, seen=seen: [seen])
            bench.learn(learn_contexts, one)
        (state,) = bench.graph.of_kind(Kind.STATE)
        assert bench.graph.sources(state.id) == [one.id for one in contexts]

    def test_state_is_kept_and_found_with_the_day_it_tells_of(self) -> None:
        bench = Bench(Reader({"tent": "bought a tent"}))
        bench.learn(learn_contexts, bench.context("Yesterday I bought a tent.", 2))
        (state,) = bench.graph.of_kind(Kind.STATE)
        assert state.text == "User bought a tent (Yesterday, 2026-01-02)."
        again = bench.annotator.annotate([state.text])[0]
        assert state.keywords == again.keywords
        assert bench.search.vectors([state.id])[0] == pytest.approx(again.vector)

    def test_affirmed_and_denied_are_two_states(self) -> None:
        model = Reader({"every": "eats meat", "not ": "does not eat meat"})
        bench = Bench(model)
        bench.learn(learn_contexts, bench.context("I eat meat every day.", 1), bench.context("I do not eat meat.", 2))
        one, other = bench.graph.of_kind(Kind.STATE)
        assert one.keywords == other.keywords
        assert bench.texts(Kind.STATE) == ["User eats meat", "User does not eat meat"]

    def test_who_moves_away_and_comes_back_lives_there_now(self) -> None:
        for windows in (1, 3):
            bench = Bench(MOVES)
            contexts = [bench.context(f"I live in {town}.", day) for day, town in enumerate(("Graz", "Linz", "Graz"))]
            for window in ([contexts] if windows == 1 else [[one] for one in contexts]):
                bench.learn(learn_contexts, *window)
            assert current(bench.graph) == [f"User {GRAZ}"]
            assert bench.graph.sources(bench.graph.of_kind(Kind.STATE)[-1].id) == [contexts[-1].id]

    def test_who_came_back_and_says_so_again_is_still_one_state_more(self) -> None:
        bench = Bench(MOVES)
        for day, town in enumerate(("Graz", "Linz", "Graz", "Graz", "Graz")):
            bench.learn(learn_contexts, bench.context(f"I live in {town}.", day))
        assert bench.texts(Kind.STATE) == [f"User {GRAZ}", f"User {LINZ}", f"User {GRAZ}"]

    def test_older_entry_learned_later_does_not_replace_what_is_newer(self) -> None:
        bench = Bench(MOVES)
        bench.learn(learn_contexts, bench.context("I live in Linz.", 500))
        bench.learn(learn_contexts, bench.context("I live in Graz.", 1))
        assert current(bench.graph) == [f"User {LINZ}"]

    def test_undated_entry_replaces_nothing(self) -> None:
        bench = Bench(MOVES)
        bench.learn(learn_contexts, bench.context("I live in Linz.", 500), bench.context("I live in Graz.", None))
        assert set(current(bench.graph)) == {f"User {LINZ}", f"User {GRAZ}"}


class TestCloseChunk:
    def test_episode_rests_on_every_context_of_the_chunk_and_has_the_time_of_the_last(self) -> None:
        bench = Bench(Reader({}))
        contexts = [bench.context("Soup.", 4), bench.context("Rain.", 3)]
        lesson = close_chunk(bench.desk, 7, contexts)
        (episode,) = lesson.nodes
        assert lesson.closes == 7
        assert [edge.source for edge in lesson.sources] == [one.id for one in contexts]
        assert episode.moment == on_day(4)
        assert set(lesson.vectors) == {episode.id}

    def test_episode_is_judged_against_the_previous_one(self) -> None:
        bench = Bench(Reader({}, {("pub", "hard evening"): Relation.CONTRADICT}))
        bench.land(close_chunk(bench.desk, 1, [bench.context("A pub night with beer.", 1)]))
        lesson = close_chunk(bench.desk, 2, [bench.context("A hard evening, the pub, the beer.", 2)])
        assert [judgement.relation for judgement in lesson.judgements] == [Relation.CONTRADICT]

    def test_own_state_is_no_evidence_for_the_episode(self) -> None:
        bench = Bench(Reader({"tea": "drinks tea"}, {("tea", "tea"): Relation.SUPPORT}))
        contexts = [bench.context("I drink tea.", 1), bench.context("Tea weather.", 1)]
        bench.learn(learn_contexts, contexts[0])
        assert close_chunk(bench.desk, 1, contexts).judgements == ()

    def test_chunk_without_a_word_closes_without_an_episode(self) -> None:
        bench = Bench(Reader({}))
        lesson = close_chunk(bench.desk, 3, [bench.context("  ")])
        assert (lesson.nodes, lesson.closes) == ((), 3)


class TestConsolidate:
    def bench(self) -> tuple[Bench, list[Context]]:
        notes = {"piano": "carried the piano upstairs", "phone": "taught Mr Berg the phone", "hall": "painted the hall of the school"}
        bench = Bench(Reader(notes, trait="User helps the people next door", shown_by=("piano", "phone", "hall")))
        contexts = [bench.context("Carried the piano upstairs.", 1), bench.context("Taught Mr Berg his phone.", 2)]
        bench.learn(learn_contexts, *contexts)
        return bench, contexts

    def test_trait_rests_on_its_witnesses_and_the_pass_is_marked(self) -> None:
        bench, contexts = self.bench()
        lesson = consolidate(bench.desk, contexts)
        (trait,) = lesson.nodes
        assert isinstance(trait, Trait)
        assert lesson.consolidates
        assert trait.moment == on_day(2)
        assert {edge.source for edge in lesson.sources} == {node.id for node in bench.graph.of_kind(Kind.STATE)}

    def test_pass_without_a_trait_is_marked_too(self) -> None:
        bench, contexts = self.bench()
        assert isinstance(bench.desk.model, Reader)
        bench.desk.model.trait = "none"
        lesson = consolidate(bench.desk, contexts)
        assert (lesson.nodes, lesson.consolidates) == ((), True)

    def test_trait_seen_again_gains_witnesses_instead_of_a_twin(self) -> None:
        bench, contexts = self.bench()
        bench.land(consolidate(bench.desk, contexts))
        later = bench.context("Painted the hall of the school.", 9)
        bench.learn(learn_contexts, later)
        lesson = consolidate(bench.desk, [*contexts, later])
        bench.land(lesson)
        (trait,) = bench.graph.of_kind(Kind.TRAIT)
        assert len(bench.graph.sources(trait.id)) == 3
        assert bench.graph.contexts_behind(trait.id) == [*(one.id for one in contexts), later.id]

    def test_offline_pass_finds_what_no_local_pair_could(self) -> None:
        bench = Bench(Reader({"pub": "loves the pub", "alcohol": "has stopped alcohol"} | {f"n{i}": f"has n{i}" for i in range(9)},
                             {("pub", "alcohol"): Relation.SHIFT_TO}), HashEmbedder(akin={"alcohol": "pub"}))  # fmt: skip
        bench.learn(learn_contexts, bench.context("I love the pub.", 0))
        bench.learn(learn_contexts, *(bench.context(f"I have n{i}.", 10 + i) for i in range(9)))
        stopped = bench.context("I stopped alcohol.", 40)
        bench.learn(learn_contexts, stopped)
        assert "User loves the pub" in current(bench.graph)
        bench.land(consolidate(bench.desk, [stopped]))
        assert "User loves the pub" not in current(bench.graph)

    def test_second_pass_judges_nothing_twice(self) -> None:
        bench, contexts = self.bench()
        bench.land(consolidate(bench.desk, contexts))
        model = bench.desk.model
        assert isinstance(model, Reader)
        model.trait = "none"
        model.asked.clear()
        consolidate(bench.desk, contexts)
        assert "judge_letters" not in model.tasks()


DIARY = ("I love lively pubs.", "Pub quiz with Imani, two beers.", "I stopped drinking alcohol.", "Hard evening: the pub, and water.")


@pytest.fixture
def diary() -> Bench:
    """Four days, learned as Algorithm 1 goes: a context, its chunk, and a trait and an offline pass every two chunks."""
    model = Reader(
        {"lively": "loves lively pubs", "quiz": "drank two beers at the pub quiz", "stopped": "has stopped drinking alcohol"},
        {
            ("lively pubs", "stopped"): Relation.SHIFT_TO,
            ("lively pubs", "quiz"): Relation.SUPPORT,
            ("stopped", "Hard evening"): Relation.SUPPORT,
        },
        trait="User enjoys nightlife",
        shown_by=("pubs", "quiz"),
    )
    bench = Bench(model, HashEmbedder(akin={"alcohol": "pub", "nightlif": "pub", "beer": "pub"}))
    contexts = [bench.context(text, 10 * number) for number, text in enumerate(DIARY)]
    for number, one in enumerate(contexts):
        bench.land(*learn_contexts(bench.desk, [Reading(one)]))
        bench.land(close_chunk(bench.desk, number, [one]))
        if number % 2:
            bench.land(consolidate(bench.desk, contexts[number - 1 : number + 1]))
    return bench


class TestAlgorithm1:
    def test_diary_becomes_states_episodes_and_a_trait(self, diary: Bench) -> None:
        states = ["User loves lively pubs", "User drank two beers at the pub quiz", "User has stopped drinking alcohol"]
        assert diary.texts(Kind.STATE) == states
        assert diary.texts(Kind.EPISODE) == list(DIARY)
        assert diary.texts(Kind.TRAIT) == ["User enjoys nightlife"]

    def test_change_is_a_shift_from_old_to_new(self, diary: Bench) -> None:
        old, _, new = diary.graph.of_kind(Kind.STATE)
        assert diary.graph.replaced_by(old.id) == [new.id]
        assert diary.graph.replaces(new.id) == [old.id]

    def test_later_evidence_is_tied_to_what_it_bears_on(self, diary: Bench) -> None:
        _, _, stopped = diary.graph.of_kind(Kind.STATE)
        evening = diary.graph.of_kind(Kind.EPISODE)[-1]
        found = {(edge.source, edge.target): edge.relation for edge in diary.graph.evidence(stopped.id)}
        assert found[stopped.id, evening.id] is Relation.SUPPORT

    def test_everything_derived_names_its_contexts(self, diary: Bench) -> None:
        for kind in (Kind.STATE, Kind.EPISODE, Kind.TRAIT):
            assert all(diary.graph.contexts_behind(node.id) for node in diary.graph.of_kind(kind))

    def test_no_edge_joins_notes_on_the_same_words(self, diary: Bench) -> None:
        for kind in Kind:
            for node in diary.graph.of_kind(kind):
                for edge in diary.graph.evidence(node.id):
                    one, other = (set(diary.graph.contexts_behind(end)) for end in (edge.source, edge.target))
                    assert not one <= other
                    assert not other <= one
