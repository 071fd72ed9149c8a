"""Answer first, learn after: what is said is stored whatever happens, and learned once, whenever nobody waits."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from pgmem_local.conversation import BROKEN_OFF
from pgmem_local.errors import ModelError, PromptTooLong
from pgmem_local.ports import Message, Prompt
from pgmem_local.store import MemoryStore
from pgmem_local.talking.conversation import last_conversation
from pgmem_local.talking.talk import Talk
from tests.talking.conftest import Home, say, settle, until

KILLED_AT_THE_THIRD_WORD = """
import os, signal, sys
from pathlib import Path
from tests.talking.conftest import Home, say

home = Home(Path(sys.argv[1]))
home.model.before_word = lambda number: os.kill(os.getpid(), signal.SIGKILL) if number == 2 else None
with home.talk(learns=False) as talk:
    say(talk, "I drink tea.")
"""


def asked_to_talk(home: Home) -> list[Prompt]:
    return [asked.prompt for asked in home.model.asked if asked.method == "stream"]


def said_before(home: Home) -> list[list[str]]:
    return [[message.text for message in prompt.history] for prompt in asked_to_talk(home)]


class TestAnswering:
    def test_reply_comes_piece_by_piece_and_is_stored_with_what_was_said(self, home: Home) -> None:
        with home.talk() as talk:
            assert list(talk.say("I drink tea.")) == ["Glad", " to", " hear", " it."]
        assert home.stored() == [("I drink tea.", "Glad to hear it.")]

    def test_earlier_messages_come_with_the_next(self, home: Home) -> None:
        with home.talk() as talk:
            say(talk, "I drink tea.")
            say(talk, "Hm.")
        assert said_before(home) == [[], ["I drink tea.", "Glad to hear it."]]

    def test_secrets_are_masked_before_anything_sees_them(self, home: Home) -> None:
        with home.talk() as talk:
            say(talk, "My password is hunter2secret!")
            assert "hunter2" not in talk.conversation.history[0].text
        assert "hunter2" not in home.stored()[0][0]
        assert "hunter2" not in asked_to_talk(home)[0].text

    def test_stopped_answer_stays_as_far_as_it_came(self, home: Home) -> None:
        with home.talk() as talk:
            home.model.before_word = lambda number: talk.stop() if number == 2 else None
            assert say(talk, "I drink tea.") == "Glad to"
            home.model.before_word = lambda number: None
            assert say(talk, "Hm.") == "Glad to hear it."
        assert home.stored()[0] == ("I drink tea.", f"Glad to{BROKEN_OFF}")
        assert said_before(home)[1] == ["I drink tea.", f"Glad to{BROKEN_OFF}"]

    def test_answer_stopped_before_its_first_word_leaves_the_message(self, home: Home) -> None:
        with home.talk() as talk:
            home.model.before_word = lambda number: talk.stop()
            assert say(talk, "I drink tea.") == ""
        assert home.stored() == [("I drink tea.", None)]

    def test_answer_nobody_listens_to_any_more_is_stored_too(self, home: Home) -> None:
        with home.talk() as talk:
            reply = talk.say("I drink tea.")
            next(reply)
            reply.close()
        assert home.stored() == [("I drink tea.", f"Glad{BROKEN_OFF}")]

    def test_message_too_long_is_refused_and_the_next_one_answered(self, home: Home) -> None:
        with home.talk() as talk:
            with pytest.raises(PromptTooLong):
                say(talk, "word " * 5000)
            assert say(talk, "I drink tea.") == "Glad to hear it."
        assert home.stored() == [("I drink tea.", "Glad to hear it.")]


class TestKilling:
    def test_message_is_stored_before_the_first_word_of_its_reply(self, home: Home) -> None:
        with home.talk() as talk:
            reply = talk.say("I drink tea.")
            next(reply)
            assert home.stored() == [("I drink tea.", None)]
            list(reply)
        assert home.stored() == [("I drink tea.", "Glad to hear it.")]

    def test_message_whose_reply_was_killed_is_there_at_the_next_start_and_learned_once(self, home: Home) -> None:
        killed = subprocess.run([sys.executable, "-c", KILLED_AT_THE_THIRD_WORD, str(home.path)], check=False, timeout=60)
        assert killed.returncode == -signal.SIGKILL
        assert home.stored() == [("I drink tea.", None)]
        with MemoryStore.open(home.path) as store:
            last = last_conversation(store.load_graph())
        assert last is not None
        assert last.history == [Message("user", "I drink tea.")]
        with home.talk(last) as talk:
            settle(talk)
            say(talk, "Hm.")
            settle(talk)
        assert [text for text, _ in home.stored()] == ["I drink tea.", "Hm."]
        assert (home.counts()["state"], home.counts()["turns_learned"]) == (1, 2)

    @pytest.mark.parametrize("kept_out", [Talk.go_private, Talk.turn_temporary])
    def test_nothing_private_is_stored_before_its_reply_either(self, home: Home, kept_out: Callable[[Talk], object]) -> None:
        with home.talk() as talk:
            kept_out(talk)
            reply = talk.say("I drink tea.")
            next(reply)
            assert home.stored() == []
            list(reply)
        assert home.stored() == []

    def test_reply_that_came_late_is_no_reason_to_read_the_memory_anew(self, home: Home) -> None:
        with home.talk(learns=False) as talk:
            say(talk, "I drink tea.")
            graph = talk.memory.graph
            talk.memory.refresh()
            assert talk.memory.graph is graph
            assert [one.reply for one in graph.of_session(talk.conversation.session)] == ["Glad to hear it."]

    def test_reply_that_an_error_ended_stays_as_far_as_it_came(self, home: Home) -> None:
        def fail(number: int) -> None:
            if number == 2:
                raise ModelError("out of cells")

        home.model.before_word = fail
        with home.talk() as talk, pytest.raises(ModelError):
            say(talk, "I drink tea.")
        assert home.stored() == [("I drink tea.", f"Glad to{BROKEN_OFF}")]


class TestLearning:
    def test_what_was_said_is_learned_while_nobody_waits(self, home: Home) -> None:
        with home.talk() as talk:
            say(talk, "I drink tea.")
            settle(talk)
            assert talk.memory.store.pending() == []
        assert (home.counts()["state"], home.counts()["turns_learned"]) == (1, 1)

    def test_message_interrupts_learning_which_goes_on_afterwards_and_learns_everything_once(self, home: Home) -> None:
        home.model.busy.set()
        with home.talk() as talk:
            say(talk, "I drink tea.")
            assert home.model.begun.wait(10)
            assert say(talk, "I swim.") == "Glad to hear it."
            assert len(talk.memory.store.pending()) == 2
            home.model.busy.clear()
            settle(talk)
        assert (home.counts()["state"], home.counts()["turns_learned"], home.counts()["pending"]) == (2, 2, 0)

    def test_leaving_does_not_wait_and_the_next_talk_learns_what_is_left(self, home: Home) -> None:
        home.model.busy.set()
        with home.talk() as talk:
            say(talk, "I drink tea.")
            assert home.model.begun.wait(10)
        assert home.counts()["pending"] == 1
        home.model.busy.clear()
        with home.talk() as talk:
            settle(talk)
        assert (home.counts()["state"], home.counts()["turns_learned"], home.counts()["pending"]) == (1, 1, 0)

    def test_nothing_half_learned_lands(self, home: Home) -> None:
        home.model.busy.set()
        with home.talk() as talk:
            say(talk, "I drink tea.")
            assert home.model.begun.wait(10)
            say(talk, "Hm.")
        assert [home.counts()[kind] for kind in ("state", "episode", "trait", "turns_learned")] == [0, 0, 0, 0]

    def test_chunk_of_the_conversation_stays_open_until_it_is_left(self, home: Home) -> None:
        with home.talk() as talk:
            say(talk, "I drink tea.")
            settle(talk)
            assert home.counts()["open_chunks"] == 1
        with home.talk() as talk:
            settle(talk)
        assert home.counts()["open_chunks"] == 0

    def test_without_learning_all_is_stored_and_waits(self, home: Home) -> None:
        with home.talk(learns=False) as talk:
            say(talk, "I drink tea.")
            settle(talk)
            assert len(talk.memory.store.pending()) == 1
            talk.learn_now()
            settle(talk)
            assert talk.memory.store.pending() == []

    def test_commands_have_the_memory_for_themselves(self, home: Home) -> None:
        home.model.busy.set()
        with home.talk() as talk:
            say(talk, "I drink tea.")
            assert home.model.begun.wait(10)
            with talk.memory_alone() as memory, memory.store.learning():  # raises where somebody is learning
                home.model.busy.clear()
            settle(talk)
        assert home.counts()["turns_learned"] == 1

    def test_what_the_model_fails_at_is_said_once_and_stays_pending(self, home: Home) -> None:
        home.model.rules["state_probes"] = lambda asked: ModelError("out of cells")
        with home.talk() as talk:
            for message in ("I drink tea.", "I swim."):
                say(talk, message)
                settle(talk)
        assert home.heard == ["out of cells"]
        assert home.counts()["pending"] == 2


class TestNotices:
    def test_what_is_new_and_what_is_past_is_said_quietly(self, home: Home) -> None:
        with home.talk() as talk:
            for message in ("I drink espresso.", "I drink tea.", "Rain."):
                say(talk, message)
                settle(talk)
        assert home.heard == ["noted: drinks espresso", "noted: drinks tea; now past: drinks espresso"]


class TestKeeping:
    def test_of_what_is_said_in_private_nothing_is_stored(self, home: Home) -> None:
        with home.talk() as talk:
            say(talk, "I drink tea.")
            talk.go_private()
            say(talk, "I swim.")
            say(talk, "Hm.")
            settle(talk)
        assert home.stored() == [("I drink tea.", "Glad to hear it.")]
        assert said_before(home)[-1] == ["I drink tea.", "Glad to hear it.", "I swim.", "Glad to hear it."]
        assert b"swim" not in b"".join(path.read_bytes() for path in home.path.rglob("*") if path.is_file())

    def test_temporary_conversation_begins_empty_and_leaves_nothing(self, home: Home) -> None:
        with home.talk() as talk:
            say(talk, "I drink tea.")
            assert talk.turn_temporary()
            say(talk, "I swim.")
            assert not talk.turn_temporary()
            say(talk, "Hm.")
            settle(talk)
        assert [text for text, _ in home.stored()] == ["I drink tea.", "Hm."]
        assert said_before(home) == [[], [], ["I drink tea.", "Glad to hear it."]]

    def test_private_within_temporary_stays_unstored_and_does_not_reach_the_other(self, home: Home) -> None:
        with home.talk() as talk:
            talk.turn_temporary()
            talk.go_private()
            say(talk, "I swim.")
            talk.turn_temporary()
            assert talk.conversation.stored
        assert home.stored() == []

    def test_forgotten_messages_leave_the_conversation_with_their_replies(self, home: Home) -> None:
        with home.talk() as talk:
            for message in ("I drink tea.", "I swim."):
                say(talk, message)
            talk.unsay([node for node in talk.memory.search("swim") if node.text == "I swim."])
            assert [message.text for message in talk.conversation.history] == ["I drink tea.", "Glad to hear it."]
            assert talk.answered is None


class TestResuming:
    def test_last_conversation_goes_on_with_its_history_in_its_session(self, home: Home) -> None:
        with home.talk() as talk:
            say(talk, "I drink espresso.")
        with home.talk() as talk:
            say(talk, "I drink tea.")
            session = talk.conversation.session
        with MemoryStore.open(home.path) as store:
            last = last_conversation(store.load_graph())
        assert last is not None
        assert last.session == session
        with home.talk(last) as talk:
            say(talk, "Hm.")
        assert said_before(home)[-1] == ["I drink tea.", "Glad to hear it."]

    def test_diary_is_no_conversation(self, home: Home) -> None:
        with MemoryStore.open(home.path) as store:
            assert last_conversation(store.load_graph()) is None


class TestPreparing:
    def test_history_is_evaluated_before_the_next_message_is_there(self, home: Home) -> None:
        with home.talk() as talk:
            say(talk, "I drink tea.")
            settle(talk)
        head, history = home.model.prepared[-1]
        assert head.task == "chat"
        assert [message.text for message in history] == ["I drink tea.", "Glad to hear it."]

    def test_models_are_opened_before_anything_is_said(self, home: Home) -> None:
        with home.talk() as talk:
            until(lambda: talk.ready)
            assert home.model.prepared

    @pytest.mark.parametrize("encrypted", [False, True])
    def test_an_encrypted_memory_keeps_nothing_of_it_beside_itself(
        self, home: Home, encrypted: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(MemoryStore, "encrypted", encrypted)
        with home.talk() as talk:
            until(lambda: talk.ready)
            assert (home.model.kept_in is None) == encrypted

    def test_core_stays_while_it_holds_and_is_chosen_anew_once_it_does_not(self, home: Home) -> None:
        with home.talk() as talk:
            say(talk, "I drink espresso.")
            settle(talk)
        with home.talk() as talk:
            say(talk, "I swim.")
            settle(talk)
            say(talk, "Hm.")
            say(talk, "I drink tea.")
            settle(talk)
            say(talk, "Hm.")
        cores = [prompt.head.notes for prompt in asked_to_talk(home)]
        assert cores[0] == ""
        assert all("espresso" in core and "swims" not in core for core in cores[1:4])
        assert "tea" in cores[4]
        assert "espresso" not in cores[4]


def test_closing_twice_is_fine(home: Home) -> None:
    with home.talk() as talk:
        talk.close()


def test_talk_knows_what_the_last_answer_rested_on(home: Home) -> None:
    with home.talk() as talk:
        assert talk.answered is None
        say(talk, "I drink tea.")
        settle(talk)
        say(talk, "Which tea do I drink?")
        assert talk.answered is not None
        shown = [talk.memory.graph[node].text for node in talk.answered.grounds.notes.labels.values()]
    assert "User drinks tea" in shown
