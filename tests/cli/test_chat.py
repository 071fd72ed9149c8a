"""`pgmem chat` in a pipe: an answer for each line and nothing else, everything stored, nothing waited for."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest

from pgmem_local.cli.chat import typed_before
from pgmem_local.graph.nodes import Context, Kind
from pgmem_local.memory import PersonaMemory
from pgmem_local.ports import Prompt
from pgmem_local.runtime import opening
from pgmem_local.store import MemoryStore
from pgmem_local.talking.conversation import Conversation
from pgmem_local.talking.talk import Talk, now
from tests.cli.conftest import Models, RuleChat, Shell


def contexts(pgmem: Shell) -> list[Context]:
    with pgmem.store() as store:
        return [node for node in store.load_graph().of_kind(Kind.CONTEXT) if isinstance(node, Context)]


def test_piped_lines_get_plain_answers_and_nothing_else(pgmem: Shell) -> None:
    result = pgmem("chat", stdin="I drink tea.\n\nI swim now.")
    assert (result.exit_code, result.stdout) == (0, "Glad to hear it.\nGlad to hear it.\n")
    assert [(one.text, one.reply) for one in contexts(pgmem)] == [
        ("I drink tea.", "Glad to hear it."),
        ("I swim now.", "Glad to hear it."),
    ]


def test_empty_input_ends_at_once(pgmem: Shell) -> None:
    result = pgmem("chat")
    assert (result.exit_code, result.stdout) == (0, "")


def test_wait_learns_everything_before_the_end(pgmem: Shell) -> None:
    result = pgmem("chat", stdin="I drink tea.\nI swim now.\n/wait\n")
    assert pgmem.json("stats")["counts"]["turns_learned"] == 2
    assert "not learned yet" not in result.stderr


def test_without_learning_what_was_said_waits_and_that_is_said(pgmem: Shell) -> None:
    result = pgmem("chat", "--no-learn", stdin="I drink tea.\nI swim now.\n")
    assert "2 messages are not learned yet" in result.stderr
    assert pgmem.json("stats")["counts"]["pending"] == 2


def test_what_waits_is_learned_by_the_next_chat(pgmem: Shell) -> None:
    pgmem("chat", "--no-learn", stdin="I drink tea.\n")
    pgmem("chat", stdin="/wait\n")
    assert pgmem.json("stats")["counts"]["turns_learned"] == 1


def test_all_exchanges_of_one_chat_are_one_session_with_a_time(pgmem: Shell) -> None:
    pgmem("chat", stdin="I drink tea.\nI swim now.\n/quit\nnever said\n")
    said = contexts(pgmem)
    assert len(said) == 2
    assert len({one.session for one in said}) == 1
    assert (said[0].session or "").startswith("chat-")
    assert all(one.moment for one in said)


def test_continued_conversation_has_its_history(pgmem: Shell, models: Models) -> None:
    pgmem("chat", stdin="I drink tea.\n")
    pgmem("chat", "-c", stdin="I swim now.\n")
    *_, last = (asked.prompt for asked in models.chat.asked if asked.method == "stream")
    assert [message.text for message in last.history] == ["I drink tea.", "Glad to hear it."]
    assert len({one.session for one in contexts(pgmem)}) == 1


def test_nothing_to_continue_is_said_and_a_new_one_begins(pgmem: Shell) -> None:
    result = pgmem("chat", "-c", stdin="I swim now.\n")
    assert "no conversation to go on with" in result.stderr
    assert result.stdout == "Glad to hear it.\n"


def test_lines_between_multi_and_end_are_one_message(pgmem: Shell) -> None:
    pgmem("chat", stdin="!multi\nI drink tea.\n/quit\n!end\nI swim now.\n")
    assert [one.text for one in contexts(pgmem)] == ["I drink tea.\n/quit", "I swim now."]


def test_secret_typed_into_a_chat_is_not_stored(pgmem: Shell) -> None:
    pgmem("chat", stdin="My password is hunter2secret!\n")
    assert ["hunter2" in one.text for one in contexts(pgmem)] == [False]


def test_message_too_long_for_the_model_does_not_end_the_chat(pgmem: Shell) -> None:
    result = pgmem("chat", stdin=f"{'word ' * 5000}\nI swim now.\n")
    assert result.exit_code == 0
    assert "shorter parts" in result.stderr
    assert [one.text for one in contexts(pgmem)] == ["I swim now."]


def test_interrupted_pipe_ends_with_130_and_keeps_what_was_said(pgmem: Shell, models: Models) -> None:
    class Stopped(RuleChat):
        def stream(self, prompt: Prompt, limit: int, temperature: float = 0.0) -> Generator[str, None, None]:
            yield "Glad"
            signal.raise_signal(signal.SIGINT)
            self._give_way()
            yield " to hear it."

    models.chat = Stopped()
    result = pgmem("chat", stdin="I drink tea.\nI swim now.\n")
    assert (result.exit_code, result.stdout) == (130, "Glad\n")
    assert [(one.text, one.reply) for one in contexts(pgmem)] == [("I drink tea.", "Glad …")]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("piece", ["\x1b[31mred\x1b[0m", "[bold]", "\x07"])
def test_reply_is_printed_without_anything_that_commands_a_terminal(pgmem: Shell, models: Models, piece: str) -> None:
    class Coloured(RuleChat):
        def stream(self, prompt: Prompt, limit: int, temperature: float = 0.0) -> Generator[str, None, None]:
            yield f"plain {piece}"

    models.chat = Coloured()
    shown = pgmem("chat", stdin="I drink tea.\n").stdout
    assert shown.startswith("plain ")
    assert not {"\x1b", "\x07"} & set(shown)


def test_leaving_does_not_wait_for_a_model_that_is_being_loaded(pgmem: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, let_go = threading.Event(), threading.Event()
    left: list[int] = []

    def loads(name: str | None, loading: object = None) -> RuleChat:
        begun.set()
        let_go.wait(30)
        return RuleChat()

    def leave(code: int) -> None:
        left.append(code)
        let_go.set()

    monkeypatch.setattr(opening, "open_chat_model", loads)
    monkeypatch.setattr("pgmem_local.cli.chat.converse", lambda room, messages: begun.wait(30))
    monkeypatch.setattr("pgmem_local.cli.chat.PATIENCE", 0.05)
    monkeypatch.setattr("pgmem_local.cli.chat.leave_at_once", leave)
    pgmem("chat", stdin="/help\n")
    assert left == [0]


def test_closed_standard_input_is_one_line_and_no_loop(tmp_path: Path) -> None:
    command = f"{sys.executable} -m pgmem_local chat --home {tmp_path} <&-"
    ended = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert ended.stderr.startswith("pgmem: standard input is closed")
    assert len(ended.stderr.splitlines()) == 1


def test_missing_model_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pgmem_local", "chat", "--home", str(tmp_path), "--model", "no-such-model"]
    ended = subprocess.run(command, input="Hello\n", capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "no-such-model" in ended.stderr


@pytest.mark.parametrize(("line", "private", "kept"), [("I swim.", False, True), ("I swim.", True, False), ("/forget swim", False, False)])
def test_lines_are_written_down_where_they_may_be(pgmem: Shell, line: str, private: bool, kept: bool) -> None:
    with PersonaMemory.open(pgmem.home) as memory, closing(Talk(memory, Conversation.begun(now()))) as talk:
        if private:
            talk.go_private()
        history = typed_before(talk)
        assert history is not None
        history.store_string(line)
        assert (line in memory.store.place.chat_history.read_text()) == kept


def test_an_encrypted_memory_has_no_typed_lines_beside_it(pgmem: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryStore, "encrypted", True)
    with PersonaMemory.open(pgmem.home) as memory, closing(Talk(memory, Conversation.begun(now()))) as talk:
        assert typed_before(talk) is None
        assert not memory.store.place.chat_history.exists()
