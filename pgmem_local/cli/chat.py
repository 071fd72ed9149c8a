"""`pgmem chat`: a line comes in, the reply streams out. Each exchange is stored at once and learned with /learn or at the end.

A terminal gets a prompt; piped input gets nothing but the replies.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import datetime

import typer

from pgmem_local.cli.background import INTERRUPTED, attended
from pgmem_local.cli.opening import open_memory, say
from pgmem_local.cli.options import Where
from pgmem_local.cli.progress import progress_for_terminal
from pgmem_local.conversation import Exchange, Moment, Speaker, Turn
from pgmem_local.errors import PromptTooLong
from pgmem_local.ingest.secrets import mask_secrets
from pgmem_local.ingest.untrusted import clean, printable
from pgmem_local.memory import PersonaMemory
from pgmem_local.ports import Message

QUIT, LEARN = "/quit", "/learn"
_PROMPT = "> "
_LATER = "pgmem: what you said is stored and will be learned next time"


def chat_with_memory(where: Where) -> int:
    """Talk until /quit or the end of input; the exit code."""
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    if interactive:
        say(f"{LEARN} learns from what was said, {QUIT} ends, Ctrl-C stops a reply")
    with open_memory(where) as memory:
        talk = Talk(memory, f"chat-{now().isoformat()}")
        try:
            talk.through(_lines(interactive))
        except KeyboardInterrupt:
            say(f"\n{_LATER}")
            return INTERRUPTED
        talk.learn(going_on=False)
    return 0


class Talk:
    """One conversation: what was said in it, and how it ends up in the memory."""

    def __init__(self, memory: PersonaMemory, session: str) -> None:
        self._memory = memory
        self._session = session
        self._history: list[Message] = []

    def through(self, lines: Iterable[str]) -> None:
        for line in lines:
            message = mask_secrets(clean(line)).text.strip()
            if message == QUIT:
                return
            if message == LEARN:
                self.learn(going_on=True)
            elif message:
                self._exchange(message)

    def learn(self, going_on: bool) -> None:
        """Learn all that is pending, and show how far it is."""
        progress = progress_for_terminal()

        def stopped() -> None:
            progress.close()
            say(_LATER)

        session = self._session if going_on else None
        try:
            attended(lambda: self._memory.learn(progress.learned, going_on=session), stopped, progress.tick)
        finally:
            progress.close()

    def _exchange(self, message: str) -> None:
        said = now()
        answer = self._stream(message)
        if answer is None:
            return
        self._history += [Message("user", message), Message("assistant", answer)]
        turn = Turn(message, said, Speaker.USER, self._session)
        self._memory.observe([Exchange(turn, mask_secrets(answer).text or None)])

    def _stream(self, message: str) -> str | None:
        """The reply, printed as it comes; None where Ctrl-C stopped it: half a reply is not remembered."""
        pieces: list[str] = []
        try:
            with closing(self._memory.converse(message, self._history)) as reply:
                for piece in reply:
                    pieces.append(piece)
                    typer.echo(printable(piece), nl=False)
        except PromptTooLong as error:
            say(f"pgmem: {error}; say it in shorter parts")
            return None
        except KeyboardInterrupt:
            typer.echo()
            say("stopped; this exchange is not remembered")
            return None
        typer.echo()
        return clean("".join(pieces)).strip()


def now() -> Moment:
    return Moment.of(datetime.now().astimezone().replace(microsecond=0))


def _lines(interactive: bool) -> Iterator[str]:
    while True:
        try:
            yield input(_PROMPT if interactive else "")
        except EOFError:
            if interactive:
                typer.echo()
            return
