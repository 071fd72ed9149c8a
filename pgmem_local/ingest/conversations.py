"""What exports of talks with an assistant share: conversations in a JSON list, each with messages, of which one branch was shown.

Edited questions and regenerated answers leave branches behind. What was not shown in the end is not what the owner stands by.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pgmem_local.conversation import Moment
from pgmem_local.ingest.json_stream import first_byte, json_records
from pgmem_local.ingest.records import Record, RecordReader, Rejected, raw_text
from pgmem_local.ingest.rejects import Reject, as_found
from pgmem_local.ingest.source import head

NOT_SHOWN = "a message on a branch that is not the one shown"
EMPTY = "a conversation without messages"
_TIME_OF_CONVERSATION = "a message without a time: that of its conversation"


@dataclass(frozen=True)
class Message:
    """A message as the export has it, of which conversation, when that began, and why it is left out where that is known already."""

    fields: dict[str, Any]
    session: str | None
    began: object
    left_out: str | None = None


class ConversationReader(RecordReader[Message]):
    """Conversation after conversation. A subclass names the files and says which messages a conversation has and what each says."""

    unit = "conversation"

    @abstractmethod
    def files(self) -> list[str]: ...

    @abstractmethod
    def messages(self, conversation: dict[str, Any]) -> Iterator[Message]:
        """All messages of a conversation, those shown in their order. Raises Rejected where it is none."""

    def records(self) -> Iterator[Record[Message] | Reject]:
        for name in self.planned(self.files()):
            place = "" if first_byte(head(self.source, name)) == b"{" else "item"
            for found in json_records(self, name, place):
                yield from [found] if isinstance(found, Reject) else self._spread(found)

    def _spread(self, found: Record[Any]) -> Iterator[Record[Message] | Reject]:
        try:
            messages = list(self.messages(fields_of(found.content, "a conversation")))
        except Rejected as problem:
            raw = as_found(self.name, self.masked(found, raw_text(found.content)))
            yield Reject(found.file, found.number, str(problem), raw)
            return
        for message in messages or [Message({}, None, None, EMPTY)]:
            yield Record(found.file, found.number, message)

    def moment_of(self, record: Record[Message], value: object) -> Moment | None:
        """The message's own time, else that of its conversation, which is noted."""
        if value is None and record.content.began is not None:
            self.note(record, _TIME_OF_CONVERSATION)
            value = record.content.began
        return self.moment(record, value)

    def raw(self, content: Message) -> str:
        return raw_text(content.fields)


def fields_of(value: object, what: str) -> dict[str, Any]:
    """A JSON object, or Rejected."""
    if not isinstance(value, dict):
        raise Rejected(f"{what} is expected to be an object {{…}}")
    return value


def word(value: object) -> str | None:
    """An identifier or a name, where the file has one."""
    return value if isinstance(value, str) and value.strip() else None


def shown_branch(parents: Mapping[str, str | None], last: str | None) -> list[str]:
    """From the message shown last up to the first, in reading order. A circle, which no sound file has, ends where it closes."""
    branch: dict[str, None] = {}
    while last is not None and last in parents and last not in branch:
        branch[last] = None
        last = parents[last]
    return list(reversed(branch))
