"""Lines from a terminal: Enter sends, Alt-Enter begins another, slashes are completed, what is private is not written down."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import PipeInput, create_pipe_input
from prompt_toolkit.output import DummyOutput

from pgmem_local.cli.chatting.editor import LEAVING, Editor, LineHistory, Slashes
from pgmem_local.cli.chatting.lines import messages

COMMANDS = [("/me", "what the memory holds"), ("/model", "which model answers"), ("/why", "what it rested on")]


class Typing:
    """A terminal one types into, with an editor that reads from it."""

    def __init__(self, keys: PipeInput, history: Path) -> None:
        self.keys, self.path = keys, history
        self.private = False
        self.hints: list[str] = []
        self.begun = 0
        kept = LineHistory(history, lambda line: not self.private)
        self.editor = Editor(lambda: "> ", kept, COMMANDS, self.hints.append, self.begin)

    def begin(self) -> None:
        self.begun += 1

    def type(self, keys: str) -> str | None:
        self.keys.send_text(keys)
        return self.editor(False)


@pytest.fixture
def typing(tmp_path: Path) -> Iterator[Typing]:
    with create_pipe_input() as keys, create_app_session(input=keys, output=DummyOutput()):
        yield Typing(keys, tmp_path / "chat_history")


ENTER, ALT_ENTER, CTRL_C, CTRL_D, UP = "\r", "\x1b\r", "\x03", "\x04", "\x1b[A"


def test_enter_sends_and_alt_enter_begins_a_line(typing: Typing) -> None:
    assert typing.type(f"I drink tea.{ALT_ENTER}I swim.{ENTER}") == "I drink tea.\nI swim."


def test_what_takes_long_begins_with_the_first_prompt_and_once(typing: Typing) -> None:
    assert typing.begun == 0
    for _ in range(2):
        typing.type(f"I swim.{ENTER}")
        assert typing.begun == 1


def test_ctrl_d_ends(typing: Typing) -> None:
    assert typing.type(CTRL_D) is None


def test_first_ctrl_c_says_how_to_leave_and_the_second_leaves(typing: Typing) -> None:
    assert typing.type(f"{CTRL_C}I drink tea.{ENTER}") == "I drink tea."
    assert typing.hints == [LEAVING]
    assert typing.type(CTRL_C + CTRL_C) is None


def test_arrow_brings_the_line_before_back_also_in_the_next_run(typing: Typing) -> None:
    typing.type(f"I drink tea.{ENTER}")
    assert typing.type(UP + ENTER) == "I drink tea."
    again = Typing(typing.keys, typing.path)
    assert again.type(UP + ENTER) == "I drink tea."


def test_nothing_private_is_written_down(typing: Typing) -> None:
    typing.private = True
    typing.type(f"I swim.{ENTER}")
    assert typing.path.read_text() == ""


def test_secrets_are_not_written_down(typing: Typing) -> None:
    typing.type(f"My password is hunter2secret!{ENTER}")
    assert "hunter2" not in typing.path.read_text()


def test_history_is_for_its_owner_only(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        LineHistory(tmp_path / "chat_history", lambda line: True)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "chat_history").stat().st_mode) == 0o600


@pytest.mark.parametrize(("typed", "offered"), [("/m", ["/me", "/model"]), ("/w", ["/why"]), ("me", []), ("tell /me", []), ("", [])])
def test_commands_are_completed_at_the_beginning_of_a_line(typed: str, offered: list[str]) -> None:
    found = Slashes(tuple(COMMANDS)).get_completions(Document(typed), CompleteEvent())
    assert [completion.text for completion in found] == offered


def test_messages_of_several_lines_end_with_the_input_at_the_latest() -> None:
    lines = iter(["one", "!multi", "two", "three", "!end", " !multi ", "four"])
    assert list(messages(lambda goes_on: next(lines, None))) == ["one", "two\nthree", "four"]
