"""One person's memory as a whole: what is observed, learned and recalled, with a model that follows rules instead of weights."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest

from pgmem_local.conversation import BROKEN_OFF, Exchange, Speaker, Turn
from pgmem_local.errors import ModelError, ModelOutputInvalid, StoreBusy, StoreError, UnknownNode
from pgmem_local.graph.edges import Relation
from pgmem_local.graph.nodes import Kind, NodeId
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.memory import PersonaMemory, Progress
from pgmem_local.ports import ChatModel, Completion, Embedder
from pgmem_local.prompts import load
from pgmem_local.store import MemoryStore
from tests.builders import on_day
from tests.fakes import Answer, Asked, HashEmbedder, RuleChat
from tests.reader import Reader, believe_the_model, line

DRINKS = {"espresso": "drinks espresso", "tea": "drinks tea", "swim": "swims on Wednesdays", "Imani": "lives with Imani"}


@pytest.fixture(autouse=True)
def believed(monkeypatch: pytest.MonkeyPatch) -> None:
    believe_the_model(monkeypatch)


def never() -> NoReturn:
    pytest.fail("a model was opened that was not needed")


def opened(home: Path, model: ChatModel | None = None, embedder: Embedder | None = None, chunk_exchanges: int = 10) -> PersonaMemory:
    """A memory whose models are these; one that is not given must not be opened."""
    return PersonaMemory(
        MemoryStore.open(home, chunk_exchanges=chunk_exchanges),
        (lambda: model) if model else never,
        (lambda: embedder) if embedder else never,
    )


def said(text: str, day: int | None = 0, session: str | None = None, reply: str | None = None) -> Exchange:
    return Exchange(Turn(text, on_day(day), session=session), reply)


LINES = ("I drink espresso.", "I drink tea.", "I swim.", "Rain.", "Imani and I share the rent.")
DIARY = [said(text, day) for day, text in enumerate(LINES)]


def learned(
    home: Path, exchanges: Sequence[Exchange], model: RuleChat | None = None, embedder: Embedder | None = None
) -> None:
    with opened(home, model or Reader(DRINKS), embedder or HashEmbedder()) as memory:
        memory.observe(exchanges)
        memory.learn()


def dump(home: Path) -> list[str]:
    with sqlite3.connect(home / "profiles" / "default" / "memory.db") as connection:
        return list(connection.iterdump())


def texts(memory: PersonaMemory, kind: Kind) -> list[str]:
    return [node.text for node in memory.graph.of_kind(kind)]


def pending(memory: PersonaMemory) -> list[str]:
    return [memory.store.node(context).text for context, _ in memory.store.pending()]


def portrait(memory: PersonaMemory) -> tuple[set[str], set[str]]:
    """Current and changed States, by their words."""
    me = memory.me()
    return {entry.node.text for entry in me.states}, {one.state.node.text for one in me.changed}


def unless(words: str, rule: Callable[[Asked], Answer], otherwise: Answer) -> Callable[[Asked], Answer]:
    """The rule, but for messages that hold these words."""
    return lambda asked: otherwise if words in line(asked, "Message: ") else rule(asked)


BLANK = Completion("", finished=False, tokens=40)


class TestObserving:
    def test_same_again_changes_nothing_and_opens_no_model(self, tmp_path: Path) -> None:
        learned(tmp_path, DIARY)
        before = dump(tmp_path)
        with opened(tmp_path) as memory:
            added = memory.observe(DIARY)
            memory.learn()
        assert (added.new, added.known) == ((), len(DIARY))
        assert dump(tmp_path) == before

    def test_entry_given_twice_in_one_batch_is_one(self, tmp_path: Path) -> None:
        with opened(tmp_path, embedder=HashEmbedder()) as memory:
            added = memory.observe([DIARY[0], DIARY[0]])
            assert (len(added.new), added.known) == (1, 1)

    def test_observed_entry_is_recalled_before_it_is_learned_and_needs_no_language_model(self, tmp_path: Path) -> None:
        with opened(tmp_path, embedder=HashEmbedder()) as memory:
            memory.observe(DIARY)
            assert memory.recall("tea?").seeds.contexts[0].node.text == "I drink tea."
            assert pending(memory) == [exchange.said.text for exchange in DIARY]

    def test_reply_that_comes_late_is_what_the_next_message_answers(self, tmp_path: Path) -> None:
        with opened(tmp_path, model := Reader({}), HashEmbedder()) as memory:
            memory.observe([said("A trip?", 0, "chat")])
            memory.observe([said("A trip?", 0, "chat", reply="How about Ghent?")])
            memory.observe([said("Ghent it is.", 1, "chat")])
            memory.learn()
        assert "Assistant: How about Ghent?\nMessage: Ghent it is." in {asked.prompt.text for asked in model.asked}


    def test_message_answers_the_last_reply_of_its_own_session(self, tmp_path: Path) -> None:
        with opened(tmp_path, model := Reader({}), HashEmbedder()) as memory:
            memory.observe([said("A trip?", 0, "chat", "Lisbon?"), said("Hm.", 1, "chat", "Ghent?"), said("Rain?", 2, "other", "No.")])
            memory.observe([said("Ghent it is.", 3, "chat", "Booked.")])
            memory.learn()
        assert "Assistant: Ghent?\nMessage: Ghent it is." in {asked.prompt.text for asked in model.asked}

    def test_half_a_reply_is_nothing_that_a_message_answers_or_an_episode_tells_of(self, tmp_path: Path) -> None:
        with opened(tmp_path, model := Reader(DRINKS), HashEmbedder()) as memory:
            half = f"You could move to{BROKEN_OFF}"
            memory.observe([said("I drink tea, what else?", 0, "chat", half), said("No, not that.", 1, "chat", "Tea, then.")])
            memory.observe([said("Rain. " * 150, 2, "chat")])  # too long to be its own summary
            memory.learn()
            assert memory.graph[NodeId("c1")] == memory.store.node(NodeId("c1"))  # where it still stands
        asked = "\n".join(one.prompt.text for one in model.asked)
        assert "Message: No, not that." in asked
        assert "Tea, then." in asked
        assert "You could move to" not in asked


class TestLearning:
    def test_what_was_observed_becomes_states_and_episodes_and_nothing_is_left(self, tmp_path: Path) -> None:
        with opened(tmp_path, Reader(DRINKS), HashEmbedder()) as memory:
            memory.observe(DIARY)
            memory.learn()
            assert texts(memory, Kind.STATE) == [f"User {note}" for note in DRINKS.values()]
            assert texts(memory, Kind.EPISODE) == [exchange.said.text for exchange in DIARY]
            assert memory.store.pending() == memory.store.chunks_to_close() == memory.store.unconsolidated_chunks() == []

    def test_store_holds_what_the_graph_holds(self, tmp_path: Path) -> None:
        with opened(tmp_path, Reader(DRINKS, {("espresso", "tea"): Relation.SHIFT_TO}), HashEmbedder()) as memory:
            memory.observe(DIARY)
            memory.learn()
            stored = memory.store.load_graph()
            for kind in Kind:
                assert stored.of_kind(kind) == memory.graph.of_kind(kind)
                for node in stored.of_kind(kind):
                    assert set(stored.sources(node.id)) == set(memory.graph.sources(node.id))
                    assert set(stored.evidence(node.id)) == set(memory.graph.evidence(node.id))
            assert memory.store.integrity_check() == []

    def test_entry_the_model_fails_at_stays_pending_and_holds_up_no_other(self, tmp_path: Path) -> None:
        model = Reader(DRINKS)
        model.rules["state_note"] = unless("swim", model.note, BLANK)
        with opened(tmp_path, model, HashEmbedder()) as memory:
            memory.observe(DIARY)
            with pytest.raises(ModelOutputInvalid, match="1 of the entries"):
                memory.learn()
            assert pending(memory) == ["I swim."]
            assert texts(memory, Kind.STATE) == ["User drinks espresso", "User drinks tea", "User lives with Imani"]
            assert "I swim." not in texts(memory, Kind.EPISODE)

    def test_failed_entry_is_taken_up_by_the_next_run_and_nothing_is_doubled(self, tmp_path: Path) -> None:
        model = Reader(DRINKS)
        model.rules["state_note"] = unless("swim", model.note, BLANK)
        with pytest.raises(ModelOutputInvalid):
            learned(tmp_path, DIARY, model)
        learned(tmp_path, DIARY)
        with opened(tmp_path) as memory:
            assert memory.store.pending() == []
            assert sorted(texts(memory, Kind.STATE)) == sorted(f"User {note}" for note in DRINKS.values())
            assert sorted(texts(memory, Kind.EPISODE)) == sorted(exchange.said.text for exchange in DIARY)
            assert memory.store.counts()["turns_learned"] == len(DIARY)

    def test_model_that_fails_from_the_third_entry_on_leaves_two_learned_and_the_rest_pending(self, tmp_path: Path) -> None:
        model = Reader(DRINKS)
        for words in ("swim", "Imani"):
            model.rules["state_note"] = unless(words, model.rules["state_note"], BLANK)
        with opened(tmp_path, model, HashEmbedder()) as memory:
            memory.observe([DIARY[0], DIARY[1], DIARY[2], DIARY[4]])
            with pytest.raises(ModelOutputInvalid, match="2 of the entries"):
                memory.learn()
            assert pending(memory) == ["I swim.", "Imani and I share the rent."]
            assert texts(memory, Kind.STATE) == ["User drinks espresso", "User drinks tea"]

    def test_model_that_breaks_stops_learning_and_half_of_nothing_lands(self, tmp_path: Path) -> None:
        model = Reader(DRINKS)
        model.rules["state_note"] = lambda asked: ModelError("the device is gone")
        with pytest.raises(ModelError, match="device"):
            learned(tmp_path, DIARY, model)
        with opened(tmp_path) as memory:
            assert len(memory.store.pending()) == len(DIARY)
            assert texts(memory, Kind.STATE) == []
        learned(tmp_path, DIARY)
        with opened(tmp_path) as memory:
            assert texts(memory, Kind.STATE) == [f"User {note}" for note in DRINKS.values()]

    def test_what_landed_before_a_break_stays(self, tmp_path: Path) -> None:
        many = [said(f"I drink tea {'and tea ' * day}.", day) for day in range(20)]
        model = Reader({})
        model.rules["state_probes"] = unless("and tea " * 15, model.rules["state_probes"], ModelError("the device is gone"))
        with pytest.raises(ModelError, match="device"):
            learned(tmp_path, many, model)
        with opened(tmp_path) as memory:
            assert 0 < len(memory.store.pending()) < len(many)
            assert memory.store.integrity_check() == []

    def test_chunk_that_cannot_be_summarised_stays_open_and_holds_up_no_other(self, tmp_path: Path) -> None:
        model = Reader(DRINKS)
        model.rules["episode"] = lambda asked: ""
        with opened(tmp_path, model, HashEmbedder()) as memory:
            memory.observe([said("I drink tea. " + "Rain. " * 200, 0), said("I swim.", 1)])
            with pytest.raises(ModelOutputInvalid, match="stays open"):
                memory.learn()
            assert texts(memory, Kind.EPISODE) == ["I swim."]
            assert memory.store.pending() == []
            assert len(memory.store.chunks_to_close()) == 1

    def test_learning_stops_after_the_window_in_hand_and_goes_on_where_it_stopped(self, tmp_path: Path) -> None:
        with opened(tmp_path, Reader(DRINKS), HashEmbedder()) as memory:
            memory.observe(DIARY)
            answers = iter([False, True, True])
            memory.learn(enough=lambda: next(answers))
            assert pending(memory) == list(LINES[4:])
            memory.learn()
            assert pending(memory) == []

    def test_entry_of_any_length_is_learned(self, tmp_path: Path) -> None:
        with opened(tmp_path, Reader({"tea": "drinks tea"}), HashEmbedder()) as memory:
            memory.observe([said("and then I drink tea " * 3_000), said("茶" * 9_000, 1), said("https://example.org/" + "a" * 9_000, 2)])
            memory.learn()
            assert memory.store.pending() == []

    def test_progress_begins_at_nothing_and_ends_with_everything(self, tmp_path: Path) -> None:
        heard: list[Progress] = []
        with opened(tmp_path, Reader(DRINKS), HashEmbedder()) as memory:
            memory.observe([said(f"I drink tea {day}.", day) for day in range(20)])
            spent = memory.learn(heard.append)
        assert [(one.done, one.total) for one in (heard[0], heard[-1])] == [(0, 20), (20, 20)]
        assert [one.done for one in heard] == sorted(one.done for one in heard)
        assert spent.calls > 0

    def test_cost_is_kept_in_the_store_task_by_task(self, tmp_path: Path) -> None:
        with opened(tmp_path, model := Reader(DRINKS), HashEmbedder()) as memory:
            memory.observe(DIARY)
            spent = memory.learn()
            kept = memory.store.spent()
        assert sum(cost.calls for cost in kept.values()) == spent.calls == len(model.asked)
        assert kept["state_note"].calls == len(DRINKS)

    def test_session_still_going_on_keeps_its_chunk_open(self, tmp_path: Path) -> None:
        with opened(tmp_path, Reader(DRINKS), HashEmbedder()) as memory:
            memory.observe([said("I drink tea.", 0, "now"), said("I swim.", 1, "over")])
            memory.learn(going_on="now")
            assert texts(memory, Kind.STATE) == ["User drinks tea", "User swims on Wednesdays"]
            assert texts(memory, Kind.EPISODE) == ["I swim."]
            memory.observe([said("Rain.", 2, "now")])
            memory.learn()
            assert texts(memory, Kind.EPISODE) == ["I swim.", "I drink tea. Rain."]

    def test_long_session_is_cut(self, tmp_path: Path) -> None:
        with opened(tmp_path, Reader({}), HashEmbedder(), chunk_exchanges=2) as memory:
            memory.observe([said(f"Line {number}.", number, "long") for number in range(5)])
            memory.learn()
            assert texts(memory, Kind.EPISODE) == ["Line 0. Line 1.", "Line 2. Line 3.", "Line 4."]

    def test_what_another_writes_while_the_memory_is_read_is_read_too(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with opened(tmp_path, None, HashEmbedder()) as memory, opened(tmp_path, Reader(DRINKS), HashEmbedder()) as other:
            load = memory.store.load_graph
            late = iter([said("I drink tea, late.", 50), said("I drink tea, later.", 60)])

            def load_graph() -> PersonaGraph:
                graph = load()
                for exchange in late:
                    other.observe([exchange])
                    other.learn()
                    break
                return graph

            other.observe(DIARY)
            monkeypatch.setattr(memory.store, "load_graph", load_graph)
            memory.recall("tea")
            assert [node.text for node in memory.graph.of_kind(Kind.CONTEXT)][-2:] == ["I drink tea, late.", "I drink tea, later."]
            assert set(memory.store.vector_ids(Kind.STATE)) == {node.id for node in memory.graph.of_kind(Kind.STATE)}

    def test_two_do_not_learn_at_once(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("pgmem_local.store.learning.PATIENCE_SECONDS", 0.0)
        with opened(tmp_path, Reader({}), HashEmbedder()) as memory, opened(tmp_path, Reader({}), HashEmbedder()) as other:
            memory.observe(DIARY)
            with memory.store.learning(), pytest.raises(StoreBusy):
                other.learn()


class TestOrder:
    NOTES = {"Dunlin": "works at Dunlin Books", "Fernwerk": "works at Fernwerk"}  # noqa: RUF012 - read only
    NEWER, OLDER = said("I work at Dunlin Books as an editor.", 800), said("First day at my new job: I work at Fernwerk.", 1)

    def model(self) -> Reader:
        return Reader(self.NOTES, {("Fernwerk", "Dunlin"): Relation.SHIFT_TO, ("Dunlin", "Fernwerk"): Relation.SHIFT_TO})

    @pytest.mark.parametrize("files", [[[NEWER], [OLDER]], [[OLDER], [NEWER]], [[NEWER, OLDER]]], ids=["newer first", "older first", "one"])
    def test_older_file_read_later_does_not_win(self, files: list[list[Exchange]], tmp_path: Path) -> None:
        for file in files:
            learned(tmp_path, file, self.model())
        with opened(tmp_path) as memory:
            assert portrait(memory) == ({"User works at Dunlin Books"}, {"User works at Fernwerk"})
            (changed,) = memory.me().changed
            assert changed.changed == on_day(800)

    def test_who_comes_back_lives_there_now_whatever_lies_in_one_window(self, tmp_path: Path) -> None:
        model = Reader({"Graz": "lives in Graz", "Linz": "lives in Linz"},
                       {("Graz", "Linz"): Relation.SHIFT_TO, ("Linz", "Graz"): Relation.SHIFT_TO})  # fmt: skip
        learned(tmp_path, [said(f"I live in {town}.", day) for day, town in enumerate(("Graz", "Linz", "Graz"))], model)
        with opened(tmp_path) as memory:
            assert [(entry.node.text, entry.node.moment) for entry in memory.me().states] == [("User lives in Graz", on_day(2))]


class TestModels:
    def test_looking_opens_none(self, tmp_path: Path) -> None:
        learned(tmp_path, DIARY)
        with opened(tmp_path) as memory:
            assert memory.me().states
            assert memory.why(memory.graph.of_kind(Kind.STATE)[0].id).citation.quotes

    def test_each_is_opened_once_and_closed(self, tmp_path: Path) -> None:
        model, embedder, openings = Reader(DRINKS), HashEmbedder(), list[str]()
        with PersonaMemory(
            MemoryStore.open(tmp_path), lambda: (openings.append("model"), model)[1], lambda: (openings.append("embedder"), embedder)[1]
        ) as memory:
            assert openings == []
            for text in ("I drink tea.", "I swim."):
                memory.observe([said(text)])
                memory.learn()
                memory.ask("What do I drink?")
        assert sorted(openings) == ["embedder", "model"]
        assert model.closed
        assert embedder.closed

    def test_vectors_of_another_embedder_are_made_anew(self, tmp_path: Path) -> None:
        learned(tmp_path, DIARY)
        other = HashEmbedder(dimension=32)
        with opened(tmp_path, embedder=other) as memory:
            found = memory.recall("tea?")
            assert found.seeds.contexts[0].node.text == "I drink tea."
            assert memory.store.vector_identity() == other.identity
            assert memory.store.integrity_check() == []

    def test_vectors_made_anew_are_those_that_learning_with_this_embedder_makes(self, tmp_path: Path) -> None:
        other = HashEmbedder(dimension=32)
        learned(tmp_path / "one", DIARY)
        learned(tmp_path / "other", DIARY, embedder=other)
        with opened(tmp_path / "one", embedder=other) as one, opened(tmp_path / "other", embedder=other) as another:
            one.recall("tea?")
            states = [node.id for node in one.graph.of_kind(Kind.STATE)]
            assert states
            assert one.vectors.vectors(states) == pytest.approx(another.vectors.vectors(states))

    def test_embedder_that_could_not_be_accepted_is_accepted_at_the_next_try(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        learned(tmp_path, DIARY)

        def busy(*arguments: object) -> NoReturn:
            raise StoreBusy("another process is writing")

        with opened(tmp_path, embedder=HashEmbedder(dimension=32)) as memory:
            with monkeypatch.context() as patch:
                patch.setattr(memory.store, "replace_vectors", busy)
                with pytest.raises(StoreBusy):
                    memory.recall("tea?")
            memory.observe([said("Green tea.", 9)])
            assert memory.recall("tea?").seeds.contexts

    def test_everything_is_closed_though_something_fails(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        model, embedder = Reader(DRINKS), HashEmbedder()
        memory = opened(tmp_path, model, embedder)
        memory.observe(DIARY)
        memory.learn()

        def full() -> NoReturn:
            raise OSError("no space left")

        monkeypatch.setattr(memory.vectors, "save", full)
        with pytest.raises(OSError, match="space"):
            memory.close()
        assert model.closed
        assert embedder.closed
        with opened(tmp_path) as again:
            assert again.store.pending() == []

    def test_model_that_cannot_be_closed_keeps_nothing_else_open(self, tmp_path: Path) -> None:
        class Stuck(Reader):
            def close(self) -> None:
                raise ModelError("the model does not end")

        embedder = HashEmbedder()
        memory = opened(tmp_path, Stuck(DRINKS), embedder)
        memory.observe(DIARY)
        memory.learn()
        with pytest.raises(ModelError, match="end"):
            memory.close()
        assert embedder.closed
        with pytest.raises(StoreError):
            memory.store.pending()

    def test_closing_twice_and_closing_after_an_error_are_no_errors(self, tmp_path: Path) -> None:
        model = Reader(DRINKS)
        model.rules["state_note"] = lambda asked: BLANK
        memory = opened(tmp_path, model, HashEmbedder())
        memory.observe(DIARY)
        with pytest.raises(ModelOutputInvalid):
            memory.learn()
        memory.close()
        memory.close()
        assert model.closed


class TestOthers:
    """What another PersonaMemory on the same home writes meanwhile, as another process would."""

    @staticmethod
    @contextmanager
    def two(home: Path, model: ChatModel) -> Iterator[tuple[PersonaMemory, PersonaMemory]]:
        with opened(home, model, HashEmbedder()) as memory, opened(home, Reader(DRINKS), HashEmbedder()) as other:
            yield memory, other

    def test_what_another_has_learned_is_seen(self, tmp_path: Path) -> None:
        with self.two(tmp_path, Reader(DRINKS)) as (memory, other):
            memory.observe(DIARY)
            memory.learn()
            assert {entry.node.text for entry in other.me().states} == {f"User {note}" for note in DRINKS.values()}
            assert other.recall("tea?").seeds.states[0].node.text == "User drinks tea"

    def test_own_writes_do_not_hide_those_of_another(self, tmp_path: Path) -> None:
        with self.two(tmp_path, Reader(DRINKS)) as (memory, other):
            memory.observe([DIARY[0]])
            other.observe([DIARY[1]])
            memory.observe([DIARY[2]])
            assert {seed.node.text for seed in memory.recall("What?").seeds.contexts} == {one.said.text for one in DIARY[:3]}

    def test_entry_that_another_adds_while_we_learn_is_learned_too(self, tmp_path: Path) -> None:
        model = Reader(DRINKS)
        with self.two(tmp_path, model) as (memory, other):

            def interrupted(asked: Asked) -> Answer:
                other.observe([said("I swim.", 9)])
                return model.note(asked)

            model.rules["state_note"] = interrupted
            memory.observe([said("I drink tea.", 0)])
            memory.learn()
            assert texts(memory, Kind.STATE) == ["User drinks tea", "User swims on Wednesdays"]
            assert memory.store.pending() == []

    def test_own_writes_need_no_reading_again(self, tmp_path: Path) -> None:
        with opened(tmp_path, Reader(DRINKS), HashEmbedder()) as memory:
            graph = memory.graph
            memory.observe(DIARY)
            memory.learn()
            memory.recall("tea?")
            assert memory.graph is graph


class TestLooking:
    def test_why_names_the_line_what_was_made_from_it_and_the_evidence(self, tmp_path: Path) -> None:
        learned(tmp_path, DIARY[:2], Reader(DRINKS, {("espresso", "tea"): Relation.SHIFT_TO}))
        with opened(tmp_path) as memory:
            espresso, tea = memory.graph.of_kind(Kind.STATE)
            reasons = memory.why(espresso.id)
            assert [quoted.text for quoted in reasons.citation.quotes] == ["I drink espresso."]
            ((edge, other),) = reasons.evidence
            assert (edge.relation, other) == (Relation.SHIFT_TO, tea)
            (context, *_) = memory.graph.of_kind(Kind.CONTEXT)
            assert espresso in memory.why(context.id).derived

    def test_why_of_nothing_says_so(self, tmp_path: Path) -> None:
        with opened(tmp_path) as memory, pytest.raises(UnknownNode, match="s99"):
            memory.why(NodeId("s99"))

    def test_empty_memory_knows_nothing_and_that_is_no_error(self, tmp_path: Path) -> None:
        with opened(tmp_path, model := Reader({}), HashEmbedder()) as memory:
            assert not memory.me()
            given, retrieval = memory.ask("Who am I?")
            assert not given.known
            assert not retrieval.evidence
        assert model.asked == []

    def test_question_is_answered_from_the_line_it_rests_on(self, tmp_path: Path) -> None:
        learned(tmp_path, DIARY)
        model = Reader({})
        model.rules["answer"] = lambda asked: " Yes" if asked.options else "You drink tea [1]."
        with opened(tmp_path, model, HashEmbedder()) as memory:
            given, _ = memory.ask("What do I drink?")
        assert [quoted.text for citation in given.citations for quoted in citation.quotes] == ["I drink tea."]


PUB = ("I love lively pubs, the louder the better.", "I stopped drinking alcohol.", "A hard evening at the pub: only water for me.")


@pytest.fixture
def pub(tmp_path: Path) -> Iterator[PersonaMemory]:
    """The paper's example, from the diary on: each line a day, other days between them."""
    model = Reader(
        {"lively": "loves lively pubs", "stopped": "has stopped drinking alcohol", "soup": "had soup"},
        {("lively pubs", "stopped"): Relation.SHIFT_TO, ("stopped", "hard evening"): Relation.SUPPORT},
    )
    embedder = HashEmbedder(akin={"alcohol": "pub", "drink": "water", "live": "alcohol", "tonight": "pub", "go": "pub"})
    with opened(tmp_path, model, embedder) as memory:
        memory.observe([said(text, 30 * number) for number, text in enumerate(PUB)])
        memory.observe([said(f"Nothing new on day {day}, soup.", 10 + day) for day in range(3)])
        memory.learn()
        yield memory


def test_what_others_said_is_kept_under_their_name_and_makes_no_state(tmp_path: Path) -> None:
    leila = Exchange(Turn("I drink espresso.", on_day(0), Speaker.OTHER, "chat", "Leila"))
    learned(tmp_path, [leila, said("I drink tea.", 1, "chat")])
    with opened(tmp_path) as memory:
        assert [node.text for node in memory.graph.of_kind(Kind.STATE)] == ["User drinks tea"]
        assert "Leila: I drink espresso." in memory.graph.of_kind(Kind.EPISODE)[0].text


class TestPub:
    def test_portrait_shows_the_change(self, pub: PersonaMemory) -> None:
        current, changed = portrait(pub)
        assert "User has stopped drinking alcohol" in current
        assert changed == {"User loves lively pubs"}

    def test_non_drinking_ranks_above_the_pub(self, pub: PersonaMemory) -> None:
        psi = {entry.node.text: entry.psi for entry in pub.recall("Where should I go tonight?").evidence.ranked}
        assert psi["User has stopped drinking alcohol"] > psi["User loves lively pubs"]

    def test_hard_evening_speaks_for_the_change(self, pub: PersonaMemory) -> None:
        (stopped,) = (one for one in pub.recall("Where should I go tonight?").evidence.states if "stopped" in one.node.text)
        assert {pub.graph[one].text for one in stopped.supporters} >= {PUB[2]}

    def test_model_reads_the_pub_as_what_used_to_hold(self, pub: PersonaMemory) -> None:
        shown = pub.notes(pub.recall("Where should I go tonight?").evidence, 500).text
        now, _, earlier = shown.partition("Earlier, since changed:")
        assert "stopped drinking" in now
        assert "lively pubs" in earlier
        assert "lively pubs" not in now


class Copyist(RuleChat):
    """A weak model: whatever it is shown, it writes down the next answered example of the prompt."""

    def __init__(self) -> None:
        rules: dict[str, Callable[[Asked], Answer]] = {
            "state_probes": lambda asked: [0.0 if option in (" Yes", " writer", " high") else -9.0 for option in asked.options],
            "state_note": lambda asked: self._example(asked, "Notes: User"),
            "trait": lambda asked: self._example(asked, "Trait:"),
            "trait_check": lambda asked: " Yes",
            "judge_letters": lambda asked: " A",
            "episode": lambda asked: "wrote about the day.",
        }
        super().__init__(rules)
        self._turn = 0

    def _example(self, asked: Asked, label: str) -> str:
        examples = [part.removeprefix(label) for part in asked.prompt.head.instructions.splitlines() if part.startswith(label)]
        self._turn += 1
        return examples[self._turn % len(examples)]


CANARY = re.compile(r"(?<=[a-z,:] )[A-Z]\w{2,}")
TASKS = ("state_probes", "state_note", "trait", "trait_check", "episode", "judge_letters", "judge_probes", "answer")


def canaries() -> set[str]:
    """The names in the heads: capitalised words that begin no sentence of theirs."""
    return {name for task in TASKS for name in CANARY.findall(load(task).head.instructions)} - {"User"}


def test_there_are_canaries_in_the_heads() -> None:
    assert canaries() >= {"Yorick", "Brindlemoor", "Quillon", "Vantoro", "Ombrelle"}


def test_names_in_the_examples_never_reach_the_store(tmp_path: Path) -> None:
    names = canaries()
    examples = [part for part in load("state_note").head.instructions.splitlines() if part.startswith("Notes: User ")]
    bare = [CANARY.sub("", part.removeprefix("Notes: User ")) for part in examples]  # shares all other words with its example
    bare.append("nothing new")  # one text more than examples: each turn of the copyist gives every text another example
    assert not any(name in text for text in bare for name in names)
    with opened(tmp_path, Copyist(), HashEmbedder()) as memory:
        for repeat in range(len(examples)):
            memory.observe([said(text, day + 100 * repeat) for day, text in enumerate(bare)])
        memory.learn()
        assert memory.graph.of_kind(Kind.STATE), "an example that the user did say is kept"
        stored = " ".join(node.text for kind in Kind for node in memory.graph.of_kind(kind))
    assert [name for name in names if re.search(rf"\b{name}\b", stored)] == []
