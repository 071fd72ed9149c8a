"""The loop of a chat: a message is answered, a line with a slash is a command, Ctrl-C stops an answer."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from enum import Enum

from pgmem_local.cli.chatting.commands import QUIT, Room, find_command
from pgmem_local.errors import ModelFileError, PGMemError, PromptTooLong


def converse(room: Room, lines: Iterable[str]) -> None:
    """Answer each line until /quit or the end of them."""
    for line in lines:
        text = line.strip()
        if text == QUIT:
            return
        if text.startswith("/"):
            obey(room, text)
        elif text and reply(room, text) is Ended.STOPPED and not room.interactive:
            raise KeyboardInterrupt


def obey(room: Room, line: str) -> None:
    """Run a command; what goes wrong is said and does not end the chat."""
    name, _, rest = line.partition(" ")
    command = find_command(name)
    if command is None:
        room.screen.hint(f"there is no {name}; /help lists what there is")
    elif command.needs and not rest.strip():
        room.screen.hint(f"{name} {command.needs}: {command.about}")
    else:
        try:
            command.run(room, rest.strip())
        except PGMemError as error:
            room.screen.hint(str(error))


class Ended(Enum):
    """How an answer ended."""

    WHOLE = "whole"
    STOPPED = "stopped"


def reply(room: Room, message: str) -> Ended:
    """Show the answer to a message; what goes wrong is said and does not end the chat, unless there is no model."""
    ended = Ended.WHOLE

    def stop() -> None:
        nonlocal ended
        ended = Ended.STOPPED
        room.talk.stop()

    try:
        with ctrl_c(stop), closing(room.talk.say(message)) as pieces:
            room.screen.answer(pieces, "reading …" if room.talk.ready else "loading the model …")
    except PromptTooLong as error:
        room.screen.hint(f"{error}; say it in shorter parts")
    except ModelFileError:
        raise
    except PGMemError as error:
        room.screen.hint(str(error))
    return ended


@contextmanager
def ctrl_c(action: Callable[[], None]) -> Iterator[None]:
    """Inside the block Ctrl-C does this and nothing else: an exception in the middle of a model's call would be lost there."""
    before = signal.signal(signal.SIGINT, lambda number, frame: action())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
