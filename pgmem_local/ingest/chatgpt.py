"""ChatGPT's export: conversations.json, a list of conversations, each a tree of messages -> turns.

Taken is what stood on the screen: the branch from `current_node` up. Left out: hidden messages, tools and calls of tools, thoughts,
messages without text. Custom instructions are the owner's own words about themselves; every conversation repeats them, so that of
equal ones the earliest is kept, which makes them the same entry in a later export. Files of 2023 lack many fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pgmem_local.conversation import Speaker, Turn
from pgmem_local.ingest.conversations import NOT_SHOWN, ConversationReader, Message, fields_of, shown_branch, word
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.json_stream import begins_with_key, json_files
from pgmem_local.ingest.reader import Reader
from pgmem_local.ingest.records import LeftOut, Record, Rejected
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.source import Source

_SPEAKERS = {"user": Speaker.USER, "assistant": Speaker.ASSISTANT}
_OTHERS = ("system", "tool")
_INSTRUCTIONS = "user_editable_context"
_REPEATED = "custom instructions that another conversation holds too"
_FENCED = re.compile(r"```(.*?)```", re.DOTALL)


class ChatGPTFormat:
    """conversations.json, alone, in a folder or in the archive as it was sent. Implements `Format`."""

    name = "chatgpt"
    title = "ChatGPT"

    def recognise(self, source: Source) -> str | None:
        files = files_of(source)
        return f"{files[0]} holds conversations as ChatGPT exports them" if files else None

    def read(self, source: Source, options: ReadOptions) -> Reader:
        return ChatGPTReader(source, options)


CHATGPT = ChatGPTFormat()


def files_of(source: Source) -> list[str]:
    """Large exports come as several numbered files."""
    return [name for name in json_files(source, "conversations") if begins_with_key(source, name, b"mapping")]


class ChatGPTReader(ConversationReader):
    """The conversations of an export, read once. Implements `Reader`."""

    name = ChatGPTFormat.name
    wanted = "conversations.json of a ChatGPT export"

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        self._instructions: dict[str, Record[Message]] = {}

    def files(self) -> list[str]:
        return files_of(self.source) or list(self.source.names)

    def records(self) -> Iterator[Record[Message] | Reject]:
        for found in super().records():
            yield from [found] if isinstance(found, Reject) else self._without_repetition(found)
        yield from self._instructions.values()

    def _without_repetition(self, record: Record[Message]) -> Iterator[Record[Message]]:
        """Custom instructions wait for the end, where the earliest of equal ones is known."""
        text = _instructions(record.content.fields)
        if text is None or record.content.left_out:
            yield record
            return
        earlier = self._instructions.get(text)
        if earlier is None:
            self._instructions[text] = record
            return
        first, later = sorted((earlier, record), key=_began)
        self._instructions[text] = first
        yield replace(later, content=replace(later.content, left_out=_REPEATED))

    def messages(self, conversation: dict[str, Any]) -> Iterator[Message]:
        nodes = _nodes(conversation)
        parents = {identifier: word(node.get("parent")) for identifier, node in nodes.items()}
        branch = shown_branch(parents, _shown_last(conversation, nodes))
        session = word(conversation.get("conversation_id")) or word(conversation.get("id")) or _named(conversation)
        shown = set(branch)
        for identifier in dict.fromkeys([*branch, *nodes]):
            message = nodes[identifier].get("message")
            if message is not None:
                left_out = None if identifier in shown else NOT_SHOWN
                fields = message if isinstance(message, dict) else {"message": message}
                yield Message(fields, session, conversation.get("create_time"), left_out)

    def read(self, record: Record[Message]) -> Turn | LeftOut:
        message = record.content
        if message.left_out is not None:
            return LeftOut(message.left_out)
        instructions = _instructions(message.fields)
        if instructions is not None:
            return Turn(instructions, self.moment_of(record, message.fields.get("create_time")))
        role = fields_of(message.fields.get("author"), "the author of a message").get("role")
        speaker = _SPEAKERS.get(role) if isinstance(role, str) else None
        if (reason := _why_not(message.fields, role, speaker)) is not None:
            return LeftOut(reason)
        text = _text(fields_of(message.fields.get("content"), "the content of a message"))
        if isinstance(text, LeftOut):
            return text
        return Turn(text, self.moment_of(record, message.fields.get("create_time")), speaker or Speaker.USER, message.session)


def _named(conversation: dict[str, Any]) -> str:
    """For a conversation without an id: two of them must not be taken for one."""
    return f"{word(conversation.get('title')) or 'untitled'} {conversation.get('create_time')}"


def _nodes(conversation: dict[str, Any]) -> dict[str, dict[str, Any]]:
    mapping = fields_of(conversation.get("mapping"), "`mapping` of a conversation")
    return {identifier: fields_of(node, "a node of a conversation") for identifier, node in mapping.items()}


def _shown_last(conversation: dict[str, Any], nodes: dict[str, dict[str, Any]]) -> str | None:
    """`current_node`; without it, as in old files, the newest message that nothing follows."""
    current = word(conversation.get("current_node"))
    if current in nodes:
        return current
    followed = {word(node.get("parent")) for node in nodes.values()}
    last = [identifier for identifier in nodes if identifier not in followed]
    return max(last, key=lambda identifier: _seconds(nodes[identifier].get("message")), default=None)


def _seconds(message: object) -> float:
    when = message.get("create_time") if isinstance(message, dict) else None
    return float(when) if isinstance(when, (int, float)) and abs(when) < 1e15 else 0.0


def _began(record: Record[Message]) -> float:
    return _seconds({"create_time": record.content.began})


def _why_not(message: dict[str, Any], role: object, speaker: Speaker | None) -> str | None:
    """Why a message of the shown branch was not on the screen as words of either side."""
    metadata = message.get("metadata")
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation"):
        return "a hidden message"
    if speaker is None:
        return f"a message of role {role!r}" if role in _OTHERS else "a message of another role"
    return None if message.get("recipient") in (None, "all") else "a call of a tool"


def _text(content: dict[str, Any]) -> str | LeftOut:
    """The words among the parts; pictures and files have none."""
    if content.get("content_type") not in ("text", "multimodal_text"):
        return LeftOut("thoughts, code and other content without a message's text")
    parts = content.get("parts")
    if not isinstance(parts, list):
        raise Rejected("the message has no list of `parts`")
    return "\n".join(text.rstrip("\n") for part in parts if (text := _words(part)))


def _words(part: object) -> str | None:
    if isinstance(part, dict):
        return word(part.get("text")) if part.get("content_type") == "audio_transcription" else None
    if part is not None and not isinstance(part, str):
        raise Rejected("a part of the message is neither text nor an object")
    return part


def _instructions(message: dict[str, Any]) -> str | None:
    """What the owner has said about themselves in the settings."""
    content, metadata = message.get("content"), message.get("metadata")
    if not isinstance(content, dict) or content.get("content_type") != _INSTRUCTIONS:
        return None
    given = metadata.get("user_context_message_data") if isinstance(metadata, dict) else None
    about = word(given.get("about_user_message")) if isinstance(given, dict) else None
    profile = word(content.get("user_profile")) or ""
    fenced = _FENCED.search(profile)
    return about or (fenced[1] if fenced else profile)
