"""A whole session of `pgmem chat` in a terminal, with the real small model: what a person does and what they see."""

from __future__ import annotations

import os
import re
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pexpect
import pyte
import pytest

from pgmem_local.conversation import BROKEN_OFF
from pgmem_local.errors import StoreBusy
from pgmem_local.graph.nodes import Context, Kind
from pgmem_local.store import MemoryStore

ROOT = Path(__file__).parents[1]
SECONDS = 240
"""After which a test gives up: a machine may be busy with other things."""
ROWS = 250
COLOUR = re.compile(r"\x1b\[(?:[0-9]+;)*(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9]+)*m")

pytestmark = pytest.mark.models


class Session:
    """A chat in a terminal of so many columns, tall enough that nothing leaves it."""

    def __init__(self, home: Path, *options: str, columns: int = 80) -> None:
        command = ["-m", "pgmem_local", "chat", "--home", str(home), "--model", "smollm2-135m", *options]
        environment = {**os.environ, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}
        self.screen = pyte.Screen(columns, ROWS)
        self._stream = pyte.Stream(self.screen)
        self.raw = ""
        self.child: pexpect.spawn[str] = pexpect.spawn(
            sys.executable, command, cwd=str(ROOT), env=environment, dimensions=(ROWS, columns), encoding="utf-8"
        )
        self.child.delayafterterminate = 5  # seconds for a busy machine to end it
        self.until(self.prompts)

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        return "\n".join(self.lines).rstrip()

    def prompts(self) -> bool:
        """Whether the cursor stands in an empty line to be typed."""
        return self.lines[self.screen.cursor.y] == ">"

    def until(self, holds: Callable[[], bool]) -> None:
        """Show what comes until something holds."""
        deadline = time.monotonic() + SECONDS
        while not holds():
            assert time.monotonic() < deadline, self.text
            try:
                piece = self.child.read_nonblocking(4096, timeout=0.1)
            except pexpect.TIMEOUT:
                continue
            self.raw += piece
            self._stream.feed(piece)

    def send(self, line: str) -> int:
        """Type a line and send it; where it stands on the screen."""
        self.child.send(line)
        self.until(lambda: self.lines[self.screen.cursor.y].endswith(line))
        place = self.screen.cursor.y
        self.child.send("\r")
        return place

    def type(self, line: str) -> str:
        """Send a line; what is shown until the next prompt."""
        place = self.send(line)
        self.until(lambda: self.screen.cursor.y > place and self.prompts())
        return "\n".join(self.lines[place + 1 : self.screen.cursor.y])

    def leave(self) -> int:
        self.child.sendcontrol("d")
        return self.ended()

    def ended(self) -> int:
        """Its exit status, once it has ended."""
        with suppress(pexpect.EOF):
            self.until(lambda: False)
        self.child.close()
        return int(self.child.exitstatus or 0)


@contextmanager
def chatting(home: Path, *options: str, columns: int = 80) -> Iterator[Session]:
    session = Session(home, *options, columns=columns)
    try:
        yield session
    finally:
        session.child.close(force=True)


def said(home: Path) -> list[Context]:
    with MemoryStore.open(home) as store:
        return [node for node in store.load_graph().of_kind(Kind.CONTEXT) if isinstance(node, Context)]


def is_learning(home: Path) -> bool:
    try:
        with MemoryStore.open(home) as store, store.learning():
            return False
    except StoreBusy:
        return True


@pytest.mark.parametrize("columns", [80, 200])
def test_session_from_the_first_word_to_the_resumed_conversation(tmp_path: Path, columns: int) -> None:
    home = tmp_path / "home"
    with chatting(home, columns=columns) as session:
        shown = session.type("/remember I drink jasmine tea in the morning")
        identifier = re.findall(r"remembered as (s\d+)", shown)[0]
        session.type("I swim every Tuesday.")
        session.until(lambda: is_learning(home))
        assert session.type("What do I drink in the morning?").strip()  # a message while it learns
        assert "jasmine" in session.type("/why")

        place = session.send("Tell me a very long story about a lighthouse.")
        session.until(lambda: len(session.lines[place + 1]) > 20)
        stopped = time.monotonic()
        session.child.sendcontrol("c")
        session.until(session.prompts)
        assert time.monotonic() - stopped < 3

        assert re.search(r"s\d+ stands in its place", session.type(f"/correct {identifier} I drink mint tea in the morning"))
        session.type("What do I drink in the morning now?")
        why = session.type("/why")
        assert "mint tea" in why

        session.send("/forget mint tea")
        session.until(lambda: session.text.endswith("[y/N]"))
        session.child.send("y\r")
        session.until(session.prompts)
        assert "forgotten: " in session.text
        assert "mint" not in session.type("/me")
        assert session.leave() == 0
        assert "Traceback" not in session.text

    texts = [context.text for context in said(home)]
    assert "I swim every Tuesday." in texts
    assert not any("mint" in text for text in texts)
    broken_off = next(context for context in said(home) if "lighthouse" in context.text)
    assert (broken_off.reply or "").endswith(BROKEN_OFF)
    assert not any(b"mint tea" in path.read_bytes() for path in home.rglob("*") if path.is_file())

    with chatting(home, "--continue", columns=columns) as session:
        assert "lighthouse" in session.text
        assert session.leave() == 0
    with sqlite3.connect(home / "profiles" / "default" / "memory.db") as connection:
        assert connection.execute("SELECT count(DISTINCT session) FROM contexts WHERE session IS NOT NULL").fetchone() == (1,)


def test_ctrl_c_at_the_prompt_hints_and_twice_leaves_quietly(tmp_path: Path) -> None:
    with chatting(tmp_path / "home") as session:
        session.child.sendcontrol("c")
        session.until(lambda: "Ctrl-C again or Ctrl-D leaves" in session.text and session.prompts())
        session.child.sendcontrol("c")
        assert session.ended() == 0


def test_without_colour_nothing_is_coloured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    with chatting(tmp_path / "home") as session:
        session.type("Hello.")
        session.type("/me")
        assert COLOUR.findall(session.raw) == []
        assert session.leave() == 0
