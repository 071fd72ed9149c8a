"""`/save`: a conversation as a Markdown file that only its owner may read."""

from __future__ import annotations

import os
from pathlib import Path

from pgmem_local.errors import PGMemError
from pgmem_local.ingest.untrusted import printable
from pgmem_local.talking.conversation import Conversation


def as_markdown(conversation: Conversation) -> str:
    """Messages one after the other, each under who said it."""
    speakers = {"user": "You", "assistant": "Memory"}
    parts = [f"**{speakers[message.role]}:** {printable(message.text)}" for message in conversation.history]
    return "\n\n".join([f"# {conversation.session}", *parts]) + "\n"


def save(conversation: Conversation, name: str) -> Path:
    """Write a conversation to a new file. Raises PGMemError where that is impossible; no file is overwritten."""
    path = Path(name or f"{conversation.session.replace(':', '')}.md").expanduser()
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(as_markdown(conversation))
    except OSError as error:
        raise PGMemError(f"{path}: {error.strerror}; name another file, as in /save talk.md") from error
    return path.absolute()
