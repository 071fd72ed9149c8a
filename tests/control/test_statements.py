"""What the owner remembers, corrects and pins by hand, and takes back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pgmem_local.errors import ChangeRefused, ModelFileError, UnknownNode
from pgmem_local.graph.edges import Relation
from pgmem_local.graph.nodes import Kind, NodeId, Polarity, RecallPriority
from pgmem_local.memory import PersonaMemory
from pgmem_local.settings import AssembleSettings, RetrievalSettings, SeedSettings, Settings
from tests.builders import on_day
from tests.control.conftest import changed, content, current, dump, opened, read_in, reader, said, texts


def id_of(memory: PersonaMemory, text: str) -> NodeId:
    """The id of the one note or line in these words."""
    (found,) = [node.id for kind in Kind for node in memory.graph.of_kind(kind) if node.text == text]
    return found


class TestRemembering:
    def test_statement_is_kept_in_the_owners_words_with_its_line_and_time(self, tmp_path: Path) -> None:
        with opened(tmp_path) as memory:
            state = memory.remember("I am allergic to walnuts.", on_day(3))
            assert (state.text, state.stated, state.priority) == ("I am allergic to walnuts.", True, RecallPriority.HIGH)
            (line,) = memory.graph.contexts_behind(state.id)
            assert (memory.graph[line].text, memory.graph[line].moment) == (state.text, on_day(3))
            assert current(memory) == ["I am allergic to walnuts."]

    def test_statement_is_stored_for_the_next_process_and_is_not_learned_from(self, tmp_path: Path) -> None:
        with opened(tmp_path) as memory:
            memory.remember("I am allergic to walnuts.")
        with opened(tmp_path) as memory:
            assert current(memory) == ["I am allergic to walnuts."]
            assert (memory.store.pending(), memory.store.chunks_to_close()) == ([], [])
            assert memory.store.integrity_check() == []

    def test_denial_of_a_known_state_is_a_change_and_needs_no_language_model(self, diary: Path) -> None:
        with opened(diary) as memory:
            state = memory.remember("I don't swim on Wednesdays any more.", on_day(9))
            assert state.polarity is Polarity.NEGATIVE
            assert ("User swims on Wednesdays", state.text) in changed(memory)

    def test_statement_like_none_needs_no_language_model(self, diary: Path) -> None:
        with opened(diary) as memory:
            memory.remember("Walnuts make my throat swell.", on_day(9))

    def test_where_the_judge_sees_a_conflict_the_owner_has_the_last_word(self, diary: Path) -> None:
        with opened(diary, reader()) as memory:
            state = memory.remember("My home lives in Linz.", on_day(9))
            (edge,) = [edge for edge in memory.graph.evidence(state.id) if edge.relation is Relation.SHIFT_TO]
            assert (memory.graph[edge.source].text, edge.probability) == ("User lives in Graz", 1.0)
            assert memory.graph[edge.source].text not in current(memory)

    def test_without_a_language_model_the_statement_is_kept_and_weighed_at_the_next_learning(self, diary: Path) -> None:
        def missing() -> None:
            raise ModelFileError("no model; pull one")

        with opened(diary) as memory:
            memory._open_model = missing  # type: ignore[assignment]
            state = memory.remember("My home lives in Linz.", on_day(9))
            assert "User lives in Graz" in current(memory)
        with opened(diary, reader()) as memory:
            memory.learn()
            assert memory.graph.judged(state.id, id_of(memory, "User lives in Graz"))

    def test_same_words_again_are_a_further_source_of_the_statement(self, tmp_path: Path) -> None:
        with opened(tmp_path) as memory:
            first = memory.remember("I am allergic to walnuts.", on_day(1))
            again = memory.remember("I am allergic to walnuts.", on_day(2))
            assert again == first
            assert len(memory.graph.contexts_behind(first.id)) == 2

    def test_secrets_are_masked(self, tmp_path: Path) -> None:
        with opened(tmp_path) as memory:
            assert "hunter2secret" not in memory.remember('My password is "hunter2secret!9".').text

    def test_nothing_to_remember_is_refused(self, tmp_path: Path) -> None:
        with opened(tmp_path) as memory, pytest.raises(ChangeRefused, match="no words"):
            memory.remember(" \n")


class TestOutranking:
    def test_what_is_inferred_later_neither_replaces_nor_challenges_a_statement(self, diary: Path) -> None:
        with opened(diary, reader()) as memory:
            state = memory.remember("It is Linz where I live.", on_day(9))
        read_in(diary, [said("Back in Graz.", 20), said("Graz again.", 21)])
        with opened(diary) as memory:
            (entry,) = [entry for entry in memory.me().states if entry.node.id == state.id]
            assert entry.challengers == frozenset()
            assert memory.graph.replaced_by(state.id) == []

    def test_later_statement_replaces_an_earlier_one(self, tmp_path: Path) -> None:
        with opened(tmp_path) as memory:
            memory.remember("I drink espresso.", on_day(1))
            memory.remember("I never drink espresso.", on_day(2))
            assert current(memory) == ["I never drink espresso."]


class TestCorrecting:
    def test_old_state_is_history_and_never_served_as_current(self, diary: Path) -> None:
        with opened(diary) as memory:
            old = id_of(memory, "User swims on Wednesdays")
            new = memory.correct(old, "I swim on Fridays.")
            assert (new.stated, new.text) == (True, "I swim on Fridays.")
            assert old not in {entry.node.id for entry in memory.me().states}
            assert ("User swims on Wednesdays", "I swim on Fridays.") in changed(memory)
            evidence = memory.recall("When do I swim on Wednesdays?").evidence
            assert old not in {entry.node.id for entry in evidence.states}

    def test_shift_is_certain_and_judged_by_the_owner(self, diary: Path) -> None:
        with opened(diary) as memory:
            old = id_of(memory, "User swims on Wednesdays")
            new = memory.correct(old, "I swim on Fridays.")
            (edge,) = memory.graph.evidence(new.id)
            assert (edge.source, edge.target, edge.relation, edge.probability) == (old, new.id, Relation.SHIFT_TO, 1.0)
            (row,) = [line for line in dump(memory) if "judgements" in line and new.id in line]
            assert "'owner'" in row

    def test_corrected_trait_is_served_no_more(self, diary: Path) -> None:
        with opened(diary) as memory:
            (trait,) = memory.graph.of_kind(Kind.TRAIT)
            memory.correct(trait.id, "I only like cold drinks.")
            me = memory.me()
            assert trait.id not in {entry.node.id for entry in me.ranked}
            assert "I only like cold drinks." in current(memory)

    def test_replaced_state_points_to_what_holds(self, diary: Path) -> None:
        with opened(diary) as memory:
            old = id_of(memory, "User swims on Wednesdays")
            new = memory.correct(old, "I swim on Fridays.")
            with pytest.raises(ChangeRefused, match=new.id):
                memory.correct(old, "I swim on Mondays.")

    def test_lines_and_episodes_are_not_corrected(self, diary: Path) -> None:
        with opened(diary) as memory:
            for one in ("c1", "e1"):
                with pytest.raises(ChangeRefused, match="pgmem why"):
                    memory.correct(NodeId(one), "No.")

    def test_unknown_id_is_said(self, diary: Path) -> None:
        with opened(diary) as memory, pytest.raises(UnknownNode, match="s99"):
            memory.correct(NodeId("s99"), "No.")


SCANT = Settings(
    retrieval=RetrievalSettings(
        seed=SeedSettings(contexts=0, episodes=0, states=1, traits=0, active_persona=0), assemble=AssembleSettings(states=1)
    )
)


class TestPinning:
    def test_pinned_state_is_in_view_whatever_is_asked(self, diary: Path) -> None:
        with opened(diary) as memory:
            memory.settings = SCANT
            rent = id_of(memory, "User lives with Imani")
            assert rent not in shown(memory, "espresso")
            memory.pin(rent)
            assert shown(memory, "espresso") == {rent}
            memory.unpin(rent)
            assert rent not in shown(memory, "espresso")

    def test_pinned_episode_is_in_view_too(self, diary: Path) -> None:
        with opened(diary) as memory:
            memory.settings = replace(SCANT, retrieval=replace(SCANT.retrieval, assemble=AssembleSettings(episodes=1)))
            rent = NodeId("e5")
            memory.pin(rent)
            assert [entry.node.id for entry in memory.recall("espresso").evidence.episodes] == [rent]

    def test_pin_stays_for_the_next_process(self, diary: Path) -> None:
        with opened(diary) as memory:
            memory.pin(NodeId("s1"))
        with opened(diary) as memory:
            assert memory.graph.pinned == {"s1"}

    def test_pinning_twice_is_one_act(self, diary: Path) -> None:
        with opened(diary) as memory:
            memory.pin(NodeId("s1"))
            memory.pin(NodeId("s1"))
            assert len(memory.store.acts()) == 1

    def test_line_is_not_pinned(self, diary: Path) -> None:
        with opened(diary) as memory, pytest.raises(ChangeRefused, match="pgmem why c1"):
            memory.pin(NodeId("c1"))


class TestUndoing:
    def test_undone_statement_leaves_no_row(self, diary: Path) -> None:
        with opened(diary) as memory:
            before = content(memory)
            memory.remember("I don't swim on Wednesdays any more.")
            assert "I don't swim on Wednesdays any more." in memory.undo()
            assert content(memory) == before
            assert "User swims on Wednesdays" in current(memory)

    def test_undone_correction_lets_the_old_hold_again(self, diary: Path) -> None:
        with opened(diary) as memory:
            before = content(memory)
            memory.correct(id_of(memory, "User swims on Wednesdays"), "I swim on Fridays.")
            memory.undo()
            assert content(memory) == before

    def test_pins_are_undone_one_after_the_other(self, diary: Path) -> None:
        with opened(diary) as memory:
            memory.pin(NodeId("s1"))
            memory.unpin(NodeId("s1"))
            memory.undo()
            assert memory.graph.pinned == {"s1"}
            memory.undo()
            assert memory.graph.pinned == frozenset()

    def test_repeated_statement_loses_only_the_repetition(self, tmp_path: Path) -> None:
        with opened(tmp_path) as memory:
            memory.remember("I am allergic to walnuts.", on_day(1))
            memory.remember("I am allergic to walnuts.", on_day(2))
            memory.undo()
            assert texts(memory, Kind.CONTEXT) == texts(memory, Kind.STATE) == ["I am allergic to walnuts."]

    def test_nothing_to_undo_is_said(self, diary: Path) -> None:
        with opened(diary) as memory, pytest.raises(ChangeRefused, match="nothing is left to undo"):
            memory.undo()


def shown(memory: PersonaMemory, question: str) -> set[NodeId]:
    return {entry.node.id for entry in memory.recall(question).evidence.states}
