"""`pgmem chat`: opens the memory and the place where one talks with it, and closes both. A pipe gets plain answers, no prompt."""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgmem_local.cli.background import INTERRUPTED, leave_at_once
from pgmem_local.cli.chatting.commands import COMMANDS, Room
from pgmem_local.cli.chatting.lines import Read, messages, read_pipe
from pgmem_local.cli.chatting.loop import converse
from pgmem_local.cli.chatting.screen import PlainScreen, Screen, TerminalScreen
from pgmem_local.cli.opening import open_memory
from pgmem_local.cli.options import Where
from pgmem_local.errors import PGMemError
from pgmem_local.memory import PersonaMemory
from pgmem_local.talking.conversation import Conversation, Keeping, last_conversation
from pgmem_local.talking.talk import Talk, now

if TYPE_CHECKING:
    from pgmem_local.cli.chatting.editor import LineHistory

PATIENCE = 1.0
"""Seconds that who leaves waits for a model that is still being loaded."""
RECALLED = 4
"""Messages shown of a conversation that goes on."""


@dataclass(frozen=True)
class Wishes:
    """How one wants to talk: go on with the last conversation; learn at once or only store."""

    goes_on: bool = False
    learns: bool = True


def chat_with_memory(where: Where, wishes: Wishes) -> int:
    """Talk until /quit or the end of input; the exit code. Raises ModelFileError before anything is asked of the person."""
    from pgmem_local.runtime import opening

    if sys.stdin is None:
        raise PGMemError("standard input is closed; run `pgmem chat` in a terminal, or pipe messages into it")
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    screen: Screen = TerminalScreen() if interactive else PlainScreen()
    opening.require_chat_model(where.model)
    with open_memory(where, quietly=interactive) as memory:
        talk = Talk(memory, _conversation(memory, wishes, screen), screen.notice, wishes.learns)
        with closing(talk):
            code = _talk(Room(talk, screen, interactive))
            has_stopped = talk.close(PATIENCE)
            _say_what_waits(memory, screen)
            if not has_stopped:
                leave_at_once(code)
    return code


def _talk(room: Room) -> int:
    try:
        converse(room, messages(_editor(room) if room.interactive else _pipe(room.talk)))
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _conversation(memory: PersonaMemory, wishes: Wishes, screen: Screen) -> Conversation:
    last = last_conversation(memory.graph) if wishes.goes_on else None
    if last is None:
        if wishes.goes_on:
            screen.hint("there is no conversation to go on with; this is a new one")
        return Conversation.begun(now())
    screen.recall(last.history[-RECALLED:])
    return last


def _editor(room: Room) -> Read:
    from pgmem_local.cli.chatting.editor import Editor

    room.screen.hint("/help lists the commands, Ctrl-C stops an answer, Ctrl-D leaves")
    commands = [(command.name, command.about) for command in COMMANDS]
    return Editor(lambda: _label(room), typed_before(room.talk), commands, room.screen.hint, room.talk.begin)


def _pipe(talk: Talk) -> Read:
    talk.begin()
    return read_pipe


def typed_before(talk: Talk) -> LineHistory | None:
    """The lines typed so far, to which only such are added as may be kept; an encrypted memory keeps none beside itself."""
    from pgmem_local.cli.chatting.editor import LineHistory

    store = talk.memory.store
    return None if store.encrypted else LineHistory(store.place.chat_history, lambda line: _may_be_kept(talk, line))


def _may_be_kept(talk: Talk, line: str) -> bool:
    """Nothing private, and nothing that was named only to be forgotten."""
    return talk.conversation.stored and not line.lstrip().startswith("/forget")


def _label(room: Room) -> str:
    keeping = room.talk.conversation.keeping
    return "> " if keeping is Keeping.STORED else f"{keeping.value} > "


def _say_what_waits(memory: PersonaMemory, screen: Screen) -> None:
    if waiting := len(memory.store.pending()):
        what = "1 message is" if waiting == 1 else f"{waiting} messages are"
        screen.hint(f"{what} not learned yet; the next chat or ingest goes on there")
