"""What a chat shows: on a terminal Markdown that streams and quiet notices, in a pipe the plain words and nothing else."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

import typer
from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from pgmem_local.cli import show
from pgmem_local.cli.opening import say
from pgmem_local.ingest.untrusted import printable
from pgmem_local.ports import Message

if TYPE_CHECKING:
    from rich.markdown import Markdown

WIDEST = 100
"""Columns of running text; longer lines are hard to read."""
_REFRESHES = 12
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)


class Screen(Protocol):
    """Who shows what is said."""

    def answer(self, pieces: Iterable[str], waiting: str) -> None:
        """Show a reply as it comes; `waiting` says what is done until then."""
        ...

    def notice(self, line: str) -> None:
        """Say quietly what went on meanwhile; may come from another thread, also while a line is being typed."""
        ...

    def hint(self, line: str) -> None:
        """Say something about the chat itself."""
        ...

    def recall(self, history: Sequence[Message]) -> None:
        """Show what was said before."""
        ...


class PlainScreen:
    """Answers on standard output, all else on standard error: what was learned is no answer and is not said."""

    def answer(self, pieces: Iterable[str], waiting: str) -> None:
        for piece in pieces:
            typer.echo(printable(piece), nl=False)
            sys.stdout.flush()
        typer.echo()

    def notice(self, line: str) -> None:
        pass

    def hint(self, line: str) -> None:
        say(f"pgmem: {line}")

    def recall(self, history: Sequence[Message]) -> None:
        pass


class TerminalScreen:
    """A terminal. `elsewhere`, where it is set, takes the notices: a progress bar knows better how to print above itself."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or show.terminal()
        self.elsewhere: Callable[[str], None] | None = None

    def answer(self, pieces: Iterable[str], waiting: str) -> None:
        with MarkdownStream(self._console, waiting) as shown:
            for piece in pieces:
                shown.hear(piece)

    def notice(self, line: str) -> None:
        if self.elsewhere is not None:
            self.elsewhere(f"  {line}")
        else:
            self._console.print(Text(f"  {printable(line)}", "dim italic"), soft_wrap=True)

    def hint(self, line: str) -> None:
        self._console.print(Text(f"  {printable(line)}", "dim"), soft_wrap=True)

    def recall(self, history: Sequence[Message]) -> None:
        for message in history:
            label = "> " if message.role == "user" else ""
            self._console.print(Text(f"{label}{printable(message.text)}", "dim"), soft_wrap=True)


class MarkdownStream:
    """Markdown while it comes in: whole blocks are printed once and for all, the last one is drawn again until it is whole."""

    def __init__(self, console: Console, waiting: str) -> None:
        self._console = console
        self._rest = ""
        self._printed = False
        self._live = Live(Spinner("dots", Text(waiting, "dim")), console=console, transient=True, refresh_per_second=_REFRESHES)

    def __enter__(self) -> MarkdownStream:
        self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._live.stop()
        self._print(self._rest)

    def hear(self, piece: str) -> None:
        whole, self._rest = split_blocks(self._rest + printable(piece))
        self._print(whole)
        self._live.update(self._drawn(self._rest))

    def _print(self, blocks: str) -> None:
        if blocks.strip():
            if self._printed:
                self._console.print()
            self._console.print(self._drawn(blocks), width=min(self._console.width, WIDEST))
            self._printed = True

    def _drawn(self, text: str) -> Markdown:
        from rich.markdown import Markdown  # which nobody who types the first message waits for

        return Markdown(text, code_theme="bw", hyperlinks=False)


def split_blocks(text: str) -> tuple[str, str]:
    """(whole blocks, the rest). A block ends with an empty line that is not inside a fence of code."""
    place = text.rfind("\n\n")
    while place >= 0 and len(_FENCE.findall(text[:place])) % 2:
        place = text.rfind("\n\n", 0, place)
    return ("", text) if place < 0 else (text[: place + 2], text[place + 2 :])
