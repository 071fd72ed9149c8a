"""Free conversation over the memory: a message, what is remembered on it and the last few messages come in, the reply streams out.

Not a step of the paper, whose persona memory is only asked questions. Nothing is stored here: who listens decides what a whole reply is.
What changes least comes first in the prompt (instructions, persona core, earlier messages, then the notes on this message), so that
all but the end of it can be evaluated before the message is there.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from pgmem_local.errors import PromptTooLong
from pgmem_local.ports import ChatModel, Head, Message, Prompt
from pgmem_local.prompts import load, one_line
from pgmem_local.sentences import sentences
from pgmem_local.settings import ChatSettings

MOST_REPEATS = 2
NOTHING_YET = "(nothing on this yet)"


def reply(
    model: ChatModel, message: str, notes: str, history: Sequence[Message], settings: ChatSettings, core: str = ""
) -> Generator[str, None, None]:
    """The reply, piece by piece; closing the generator ends the call. Raises PromptTooLong where the message alone is too long, before
    anything is asked for."""
    task = replace(load("chat"), head=head(core))
    slots = {"notes": notes or NOTHING_YET, "message": one_line(message)}
    room = model.room(task.head, settings.reply_tokens) - model.count(task.ask(slots).text)
    if room < 0:
        raise PromptTooLong(f"the message and what is known on it have {-room} tokens more than the model takes in")
    prompt = task.ask(slots, history=fitting(model, recent(history, settings.history_messages), room))
    return _pieces(model, prompt, settings)


def _pieces(model: ChatModel, prompt: Prompt, settings: ChatSettings) -> Generator[str, None, None]:
    with closing(model.stream(prompt, settings.reply_tokens, settings.temperature)) as pieces:
        yield from unless_it_turns_in_circles(pieces)


def unless_it_turns_in_circles(pieces: Iterable[str]) -> Iterator[str]:
    """The pieces, without blanks before the first word, until a sentence was said often enough: small models do not stop there."""
    said = ""
    for piece in pieces:
        shown = piece if said else piece.lstrip()
        if shown:
            said += shown
            yield shown
        if piece.strip(" ").endswith((".", "!", "?", "\n")) and _repeats(said):
            return


def _repeats(said: str) -> bool:
    *before, last = sentences(said) or [""]
    return before.count(last) >= MOST_REPEATS


def prepare(model: ChatModel, history: Sequence[Message], settings: ChatSettings, core: str, kept_in: Path | None) -> None:
    """Evaluate ahead all of the next prompt that does not depend on the next message."""
    fixed = head(core)
    room = model.room(fixed, settings.reply_tokens) - settings.evidence_tokens
    model.prepare(fixed, fitting(model, recent(history, settings.history_messages), room), kept_in)


def head(core: str) -> Head:
    """The fixed part: our instructions, then what is known about the user in any case."""
    return replace(load("chat").head, notes=core)


def recent(history: Sequence[Message], least: int) -> Sequence[Message]:
    """The newest messages, from `least` to fewer than twice as many, where there are as many."""
    return history[max(len(history) // least - 1, 0) * least :]


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
