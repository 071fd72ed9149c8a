"""Free conversation over the memory: a message, what is remembered on it and the last few messages come in, the reply streams out.

Not a step of the paper, whose persona memory is only asked questions. Nothing is stored here: who listens decides what a whole reply is.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from pgmem_local.ports import ChatModel, Message
from pgmem_local.prompts import load, one_line
from pgmem_local.settings import ChatSettings

NOTHING_YET = "(nothing on this yet)"


def reply(
    model: ChatModel, message: str, notes: str, history: Sequence[Message], settings: ChatSettings
) -> Generator[str, None, None]:
    """The reply, piece by piece; closing the generator ends the call. Raises PromptTooLong where the message alone is too long."""
    task = load("chat")
    slots = {"notes": notes or NOTHING_YET, "message": one_line(message)}
    room = model.room(task.head, settings.reply_tokens) - model.count(task.ask(slots).text)
    prompt = task.ask(slots, history=fitting(model, history[-settings.history_messages :], room))
    yield from model.stream(prompt, settings.reply_tokens, settings.temperature)


def fitting(model: ChatModel, history: Sequence[Message], room: int, frame_tokens: int = 8) -> tuple[Message, ...]:
    """The newest messages that fit beside the prompt, from one of the user's on; a template frames each in a few tokens."""
    kept: list[Message] = []
    for message in reversed(history):
        room -= model.count(message.text) + frame_tokens
        if room < 0:
            break
        kept.insert(0, message)
    while kept and kept[0].role == "assistant":
        del kept[0]
    return tuple(kept)
