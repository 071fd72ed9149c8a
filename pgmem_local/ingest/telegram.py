"""Telegram Desktop's export as JSON: one chat, or the whole account with all its chats.

Accounts are told apart by their ids, not by their names. The owner is the account that the export says it is of, the one that
writes into Saved Messages, or the one in a chat of two that is not the other side; else the user is asked (--me). What somebody
forwards, or lets a bot write, are not their words; posts of channels are nobody's the user talks with; a bot is the assistant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from pgmem_local.conversation import Moment, Speaker, Turn
from pgmem_local.errors import IngestError
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.json_stream import Damage, cut_off, sound_values
from pgmem_local.ingest.people import Names, own_or_others, person_name, same_name
from pgmem_local.ingest.reader import Counts, Reader
from pgmem_local.ingest.records import LeftOut, Record, RecordReader, Rejected, raw_text
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.source import Source, head

SERVICE = "an entry of Telegram's own (who joined, calls, pins)"
WORDLESS = "a message without words (picture, recording, sticker)"
FORWARDED = "a forwarded message, which is not its sender's own"
BY_BOT = "a message that a bot wrote for its sender"
POST = "a post in a channel"

DELETED_ACCOUNT = "a deleted account"

_CHATS = ("", "chats.list.item.", "left_chats.list.item.")
_FIELDS = {"name": "name", "type": "kind", "id": "identifier"}
_OWNER = "personal_information.user_id"
_PLACES = (_OWNER, *(prefix + key for prefix in _CHATS for key in (*_FIELDS, "messages.item")))

_CHAT_TYPE = re.compile(rb'"type"\s*:\s*"((?:personal|bot)_chat|saved_messages|(?:private|public)_(?:group|supergroup|channel))"')
_ACCOUNT = re.compile(rb'"personal_information"\s*:\s*\{\s*"user_id"\s*:')
_ACCOUNTS_COUNTED = 5_000
_FARTHEST_ZONE = timedelta(hours=14)


class Telegram:
    """Objects with `messages` and a chat's `type`, or with the chats of an account. Implements `Format`."""

    name = "telegram"
    title = "Telegram"

    def recognise(self, source: Source) -> str | None:
        for name in source.names:
            if (what := _export_of(source, name)) is not None:
                return f"{name} is {what}"
        return None

    def read(self, source: Source, options: ReadOptions) -> Reader:
        return TelegramReader(source, options)


TELEGRAM = Telegram()


def _export_of(source: Source, name: str) -> str | None:
    if not name.casefold().endswith(".json"):
        return None
    start = head(source, name).removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start.startswith(b"{"):
        return None
    if _ACCOUNT.search(start):
        return "an account with its chats"
    match = _CHAT_TYPE.search(start)
    return f"a chat of the type {match[1].decode()}" if match else None


@dataclass(frozen=True)
class Chat:
    """What stands before the messages of a chat."""

    name: object = None
    kind: object = None
    identifier: object = None

    @property
    def is_channel(self) -> bool:
        return isinstance(self.kind, str) and self.kind.endswith("_channel")

    @property
    def title(self) -> str:
        return "Saved Messages" if self.kind == "saved_messages" else person_name(self.name)


@dataclass(frozen=True)
class Message:
    """One message as it lies in its chat."""

    chat: Chat
    fields: Any


def messages(found: Iterable[tuple[str, Any] | Damage]) -> Iterator[Message | Damage]:
    """Messages with the chat they are in; the fields of a chat stand before its messages."""
    chat, begun = Chat(), False
    for one in found:
        if isinstance(one, Damage):
            yield one
        elif one[0].endswith("messages.item"):
            begun = True
            yield Message(chat, one[1])
        elif (key := one[0].rpartition(".")[2]) in _FIELDS:
            chat, begun = replace(Chat() if begun else chat, **{_FIELDS[key]: one[1]}), False


def account_of(identifier: object) -> str:
    """An account's id in one spelling: 7, "7" and "user7" are the same."""
    return str(identifier).removeprefix("user") if isinstance(identifier, (str, int)) else ""


def _sender(fields: dict[str, Any]) -> str:
    """By id; by name in old exports that have none."""
    return account_of(fields.get("from_id")) or f"named {fields.get('from')}"


def _is_forwarded(fields: dict[str, Any]) -> bool:
    """The key is there though its value is null where the first sender's account is deleted."""
    return "forwarded_from" in fields or "forwarded_from_id" in fields


@dataclass
class Census:
    """Who writes, from a first pass over all files."""

    names: dict[str, str] = field(default_factory=dict)
    """Of each account, the name it had first."""
    counted: Names = field(default_factory=Names)
    stated: set[str] = field(default_factory=set)
    """Accounts that an export says it is of."""
    implied: set[str] = field(default_factory=set)
    _chat: Chat = field(default_factory=Chat)
    _senders: set[str] = field(default_factory=set)

    def add(self, message: Message) -> None:
        if message.chat != self._chat:
            self.end_chat()
            self._chat = message.chat
        fields = message.fields
        if not isinstance(fields, dict) or fields.get("type") != "message":
            return
        sender, name = _sender(fields), fields.get("from")
        if len(self.names) < _ACCOUNTS_COUNTED:
            self.names.setdefault(sender, name if isinstance(name, str) else DELETED_ACCOUNT)
        if sender in self.names:
            self.counted.add(self.names[sender])
        if not _is_forwarded(fields) and len(self._senders) <= 2:
            self._senders.add(sender)

    def end_chat(self) -> None:
        """Into Saved Messages only the owner writes; of two who talk, the chat is named by the id of the other."""
        others = self._senders - {account_of(self._chat.identifier)}
        if self._chat.kind == "saved_messages" and len(self._senders) == 1:
            self.implied |= self._senders
        elif self._chat.kind in ("personal_chat", "bot_chat") and len(self._senders) == 2 and len(others) == 1:
            self.implied |= others
        self._senders = set()

    def owner(self, me: str | None, where: object) -> str:
        """The owner's account. Raises IngestError that lists the names there are."""
        if len(self.stated) == 1:
            return next(iter(self.stated))
        if me is None and len(self.implied) == 1:
            return next(iter(self.implied))
        if me is not None and account_of(me) in self.names:
            return account_of(me)
        named = self.counted.owner(me, where)
        accounts = [account for account, name in self.names.items() if same_name(name, named)]
        if len(accounts) > 1:
            listed = ", ".join(f"user{account}" for account in accounts[:20])
            raise IngestError(f"{where}: more than one account goes by the name {person_name(named)!r}; give --me one of {listed}")
        return accounts[0]


class TelegramReader(RecordReader[Message]):
    """Two passes: one to learn whose export it is, one to read."""

    name = Telegram.name
    wanted = "Telegram Desktop's export in the format “Machine-readable JSON” (result.json)"

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        self._owner = ""

    def records(self) -> Iterator[Record[Message] | Reject]:
        names = [name for name in self.source.names if _export_of(self.source, name)] or list(self.source.names)
        census = self._census(names)
        self._owner = census.owner(self.options.me, self.source.path) if census.names else ""
        for name in self.planned(names):
            yield from self._records_of(name)

    def _records_of(self, name: str) -> Iterator[Record[Message] | Reject]:
        number = 1
        with self.open(name) as file:
            for found in messages(sound_values(file, *_PLACES)):
                if isinstance(found, Damage):
                    yield cut_off(self, name, number, found)
                else:
                    yield Record(self.shown(name), number, found)
                    number += 1

    def _census(self, names: Iterable[str]) -> Census:
        census = Census()
        for name in names:
            with self.open(name, Counts()) as file:
                for found in messages(_noting_owner(sound_values(file, *_PLACES), census)):
                    if isinstance(found, Message):
                        census.add(found)
            census.end_chat()
        return census

    def read(self, record: Record[Message]) -> Turn | LeftOut:
        chat, fields = record.content.chat, record.content.fields
        if not isinstance(fields, dict):
            raise Rejected("no message: an object {…} is expected")
        if (reason := _not_own_words(chat, fields)) is not None:
            return LeftOut(reason)
        text = _text(fields.get("text"))
        if not text:
            return LeftOut(WORDLESS)
        is_owner = _sender(fields) == self._owner
        turn = own_or_others(text, fields.get("from") or DELETED_ACCOUNT, is_owner, chat.title, self._moment(record, fields))
        if chat.kind == "bot_chat" and not is_owner:
            return replace(turn, speaker=Speaker.ASSISTANT, author=None)
        return turn

    def raw(self, content: Message) -> str:
        return raw_text(content.fields)

    def _moment(self, record: Record[Message], fields: dict[str, Any]) -> Moment | None:
        """The instant by `date_unixtime`, with the offset that the exporting computer's `date` then shows."""
        seconds, written = fields.get("date_unixtime"), fields.get("date")
        if seconds is None:
            return self.moment(record, written)
        moment = self.moment(record, seconds)
        return moment and _on_the_clock_of(moment, written)


def _noting_owner(found: Iterable[tuple[str, Any] | Damage], census: Census) -> Iterator[tuple[str, Any] | Damage]:
    for one in found:
        if isinstance(one, Damage) or one[0] != _OWNER:
            yield one
        elif account := account_of(one[1]):
            census.stated.add(account)


def _not_own_words(chat: Chat, fields: dict[str, Any]) -> str | None:
    """Why a message says nothing of its sender, or None."""
    if fields.get("type") != "message":
        return SERVICE
    if chat.is_channel:
        return POST
    if _is_forwarded(fields):
        return FORWARDED
    return BY_BOT if fields.get("via_bot") else None


def _text(written: object) -> str:
    """A text, which comes in pieces where some of it is a link, bold and so on."""
    words: list[str] = []
    for piece in written if isinstance(written, list) else [written]:
        text = piece.get("text") if isinstance(piece, dict) else piece
        if not isinstance(text, str):
            raise Rejected("its text is neither a string nor pieces with a text")
        words.append(text)
    return "".join(words).strip()


def _on_the_clock_of(moment: Moment, written: object) -> Moment:
    try:
        local = datetime.fromisoformat(written) if isinstance(written, str) else None
        offset = local - moment.utc.replace(tzinfo=None) if local else None
    except (ValueError, TypeError):  # TypeError: it has a zone, against the format
        return moment
    if offset is None or abs(offset) > _FARTHEST_ZONE or offset % timedelta(minutes=15):
        return moment
    return replace(moment, offset_minutes=int(offset.total_seconds() // 60))
