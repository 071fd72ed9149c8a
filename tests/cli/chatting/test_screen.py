"""What a chat shows: Markdown block by block on a terminal, nothing that commands one, and plain words without one."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from pgmem_local.cli.chatting.screen import WIDEST, PlainScreen, TerminalScreen, split_blocks
from pgmem_local.ports import Message

ODD = 'Odd text: [/] [bold [1, "3"] [/some/path] [red]x[/red] :smile: C:\\[x] 🐝 Łódź 咖啡'


def terminal(width: int = 80, colour: bool = False) -> tuple[TerminalScreen, io.StringIO]:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=colour, markup=False, emoji=False, highlight=False, legacy_windows=False)
    return TerminalScreen(console), out


class TestBlocks:
    @pytest.mark.parametrize(
        ("text", "whole", "rest"),
        [
            ("Half a sen", "", "Half a sen"),
            ("One.\n\nTwo", "One.\n\n", "Two"),
            ("One.\n\nTwo.\n\nThree", "One.\n\nTwo.\n\n", "Three"),
            ("Look:\n\n```\na\n\nb", "Look:\n\n", "```\na\n\nb"),
            ("```\na\n\nb\n```\n\nThen", "```\na\n\nb\n```\n\n", "Then"),
        ],
    )
    def test_block_ends_with_an_empty_line_outside_code(self, text: str, whole: str, rest: str) -> None:
        assert split_blocks(text) == (whole, rest)


class TestTerminal:
    def test_markdown_is_drawn(self) -> None:
        screen, out = terminal()
        screen.answer(["You drink **tea", "**.\n\n- one\n", "- two\n"], "reading …")
        assert [line.rstrip() for line in out.getvalue().splitlines() if line.strip()] == ["You drink tea.", " • one", " • two"]

    def test_every_block_is_printed_once(self) -> None:
        screen, out = terminal(colour=True)
        screen.answer([f"Part {number}.\n\n" for number in range(30)], "reading …")
        assert [out.getvalue().count(f"Part {number}.") for number in range(30)] == [1] * 30

    def test_answer_that_breaks_off_is_shown_as_far_as_it_came(self) -> None:
        def pieces() -> object:
            yield "You drink"
            raise KeyboardInterrupt

        screen, out = terminal()
        with pytest.raises(KeyboardInterrupt):
            screen.answer(pieces(), "reading …")  # type: ignore[arg-type]
        assert "You drink" in out.getvalue()

    def test_lines_are_no_longer_than_one_can_read(self) -> None:
        screen, out = terminal(width=200)
        screen.answer(["word " * 200], "reading …")
        assert max(map(len, out.getvalue().splitlines())) <= WIDEST

    def test_what_others_wrote_is_printed_literally(self) -> None:
        screen, out = terminal(width=200)
        screen.notice(ODD)
        screen.hint(ODD)
        screen.recall([Message("user", ODD)])
        assert out.getvalue().count(ODD) == 3

    @pytest.mark.parametrize("piece", ["\x1b]0;title\x07", "\x1b[2J", "\x9b31m"])
    def test_nothing_in_an_answer_commands_the_terminal(self, piece: str) -> None:
        screen, out = terminal()
        screen.answer([f"plain {piece}words"], "reading …")
        assert not {"\x1b", "\x07", "\x9b"} & set(out.getvalue())
        assert "plain" in out.getvalue()

    def test_notices_go_where_they_are_sent(self) -> None:
        screen, out = terminal()
        heard: list[str] = []
        screen.elsewhere = heard.append
        screen.notice("noted: tea")
        assert (heard, out.getvalue()) == (["  noted: tea"], "")


def test_plain_screen_keeps_notices_to_itself(capsys: pytest.CaptureFixture[str]) -> None:
    screen = PlainScreen()
    screen.notice("noted: tea")
    screen.answer([ODD, " \x1b[1mend"], "reading …")
    screen.hint("about the chat")
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == (f"{ODD} end\n", "pgmem: about the chat\n")
