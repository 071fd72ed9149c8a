"""Claude's export: conversations.json, a list of conversations with their messages as blocks -> turns.

Taken are blocks of text and of dictation. Left out: thoughts, tools, and the text of attachments, which was pasted or uploaded and
need not be the owner's. Newer files hold branches: a message names its parent, and the branch of the last one was shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pgmem_local.conversation import Speaker, Turn
from pgmem_local.ingest.conversations import NOT_SHOWN, ConversationReader, Message, shown_branch, word
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.json_stream import begins_with_key, json_files
from pgmem_local.ingest.reader import Reader
from pgmem_local.ingest.records import LeftOut, Record, Rejected
from pgmem_local.ingest.source import Source

_SPEAKERS = {"human": Speaker.USER, "assistant": Speaker.ASSISTANT}
_SAID = ("text", "voice_note")
_PASTED = "text of an attachment, pasted or uploaded: left out, since it need not be the owner's"


class ClaudeFormat:
    """conversations.json, alone, in a folder or in the archive as it was sent. Implements `Format`."""

    name = "claude"
    title = "Claude"

    def recognise(self, source: Source) -> str | None:
        files = files_of(source)
        return f"{files[0]} holds conversations as Claude exports them" if files else None

    def read(self, source: Source, options: ReadOptions) -> Reader:
        return ClaudeReader(source, options)


CLAUDE = ClaudeFormat()


def files_of(source: Source) -> list[str]:
    return [name for name in json_files(source, "conversations") if begins_with_key(source, name, b"chat_messages")]


class ClaudeReader(ConversationReader):
    """The conversations of an export, read once. Implements `Reader`."""

    name = ClaudeFormat.name
    wanted = "conversations.json of a Claude export"

    def files(self) -> list[str]:
        return files_of(self.source) or list(self.source.names)

    def messages(self, conversation: dict[str, Any]) -> Iterator[Message]:
        messages = conversation.get("chat_messages")
        if not isinstance(messages, list):
            raise Rejected("the conversation has no list of `chat_messages`")
        session, began = word(conversation.get("uuid")), conversation.get("created_at")
        shown = _shown(conversation, messages)
        for message in messages:
            fields = message if isinstance(message, dict) else {"message": message}
            left_out = NOT_SHOWN if shown is not None and fields.get("uuid") not in shown else None
            yield Message(fields, session, began, left_out)

    def read(self, record: Record[Message]) -> Turn | LeftOut:
        message = record.content
        if message.left_out is not None:
            return LeftOut(message.left_out)
        sender = message.fields.get("sender")
        speaker = _SPEAKERS.get(sender) if isinstance(sender, str) else None
        if speaker is None:
            raise Rejected("the sender is neither 'human' nor 'assistant'")
        if _has_pasted_text(message.fields):
            self.note(record, _PASTED)
        moment = self.on_clock(self.moment_of(record, message.fields.get("created_at")))
        return Turn(_text(message.fields), moment, speaker, message.session)


def _shown(conversation: dict[str, Any], messages: list[Any]) -> set[str] | None:
    """The messages of the branch that was shown last; None where the file knows no branches and all were shown."""
    parents = {
        identifier: word(one.get("parent_message_uuid"))
        for one in messages
        if isinstance(one, dict) and (identifier := word(one.get("uuid"))) is not None
    }
    if len(parents) < len(messages) or not all(parents.values()):
        return None
    last = word(conversation.get("current_leaf_message_uuid"))
    return set(shown_branch(parents, last if last in parents else list(parents)[-1] if parents else None))


def _text(message: dict[str, Any]) -> str:
    """The words of the blocks. The flat text repeats them in part, and counts only where there are no blocks."""
    blocks = message.get("content")
    if not blocks:
        return word(message.get("text")) or ""
    if not isinstance(blocks, list):
        raise Rejected("`content` of the message is no list of blocks")
    said = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") in _SAID]
    if not all(text is None or isinstance(text, str) for text in said):
        raise Rejected("`text` of a block of the message is no text")
    return "\n".join(text for text in said if text)


def _has_pasted_text(message: dict[str, Any]) -> bool:
    attachments = message.get("attachments")
    return isinstance(attachments, list) and any(isinstance(one, dict) and one.get("extracted_content") for one in attachments)
