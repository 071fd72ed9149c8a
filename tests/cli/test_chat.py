"""`pgmem chat`: replies stream, exchanges are stored at once, and half a reply is not remembered."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pgmem_local.cli.chat import Talk
from pgmem_local.graph.nodes import Context, Kind
from pgmem_local.memory import PersonaMemory
from pgmem_local.ports import Prompt
from tests.cli.conftest import Models, RuleChat, Shell


def contexts(pgmem: Shell) -> list[Context]:
    with pgmem.store() as store:
        return [node for node in store.load_graph().of_kind(Kind.CONTEXT) if isinstance(node, Context)]


def test_piped_lines_get_plain_replies_and_are_learned_at_the_end(pgmem: Shell) -> None:
    result = pgmem("chat", stdin="I drink tea.\n\nI swim now.\n")
    assert (result.exit_code, result.stdout) == (0, "Glad to hear it.\nGlad to hear it.\n")
    assert [(one.text, one.reply) for one in contexts(pgmem)] == [
        ("I drink tea.", "Glad to hear it."),
        ("I swim now.", "Glad to hear it."),
    ]
    assert pgmem.json("stats")["counts"]["turns_learned"] == 2


def test_all_exchanges_of_one_chat_are_one_session_with_a_time(pgmem: Shell) -> None:
    pgmem("chat", stdin="I drink tea.\nI swim now.\n/quit\nnever said\n")
    said = contexts(pgmem)
    assert len(said) == 2
    assert len({one.session for one in said}) == 1
    assert (said[0].session or "").startswith("chat-")
    assert all(one.moment for one in said)


def test_earlier_messages_come_with_the_next(pgmem: Shell, models: Models) -> None:
    pgmem("chat", stdin="I drink tea.\nI swim now.\n")
    first, second = (asked.prompt for asked in models.chat.asked if asked.method == "stream")
    assert first.history == ()
    assert [message.text for message in second.history] == ["I drink tea.", "Glad to hear it."]


def test_learn_takes_up_what_was_said_before_the_end(pgmem: Shell) -> None:
    learned: list[int] = []
    with PersonaMemory.open(pgmem.home) as memory:
        talk = Talk(memory, "chat-1")
        talk.through(["I drink tea.", "/learn"])
        learned.append(len(memory.store.pending()))
        assert memory.store.counts()["open_chunks"] == 1
        talk.learn(going_on=False)
        assert memory.store.counts()["open_chunks"] == 0
    assert learned == [0]


def test_stopped_reply_is_not_remembered(pgmem: Shell, models: Models) -> None:
    class Stopped(RuleChat):
        def stream(self, prompt: Prompt, limit: int, temperature: float = 0.0) -> Iterator[str]:
            yield "Glad"
            raise KeyboardInterrupt

    models.chat = Stopped()
    result = pgmem("chat", stdin="I drink tea.\n")
    assert result.exit_code == 0
    assert "not remembered" in result.stderr
    assert contexts(pgmem) == []


def test_secret_typed_into_a_chat_is_not_stored(pgmem: Shell) -> None:
    pgmem("chat", stdin="My password is hunter2secret!\n")
    assert ["hunter2" in one.text for one in contexts(pgmem)] == [False]


def test_message_too_long_for_the_model_does_not_end_the_chat(pgmem: Shell) -> None:
    result = pgmem("chat", stdin=f"{'word ' * 5000}\nI swim now.\n")
    assert result.exit_code == 0
    assert "shorter parts" in result.stderr
    assert [one.text for one in contexts(pgmem)] == ["I swim now."]


@pytest.mark.parametrize("piece", ["\x1b[31mred\x1b[0m", "[bold]", "\x07"])
def test_reply_is_printed_without_anything_that_commands_a_terminal(pgmem: Shell, models: Models, piece: str) -> None:
    class Coloured(RuleChat):
        def stream(self, prompt: Prompt, limit: int, temperature: float = 0.0) -> Iterator[str]:
            yield f"plain {piece}"

    models.chat = Coloured()
    shown = pgmem("chat", stdin="I drink tea.\n").stdout
    assert shown.startswith("plain ")
    assert not {"\x1b", "\x07"} & set(shown)
