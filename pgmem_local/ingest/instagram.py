"""Chats of Instagram and Messenger ("message_1.json"), alone or all threads of an export.

The export writes UTF-8 as if it were Latin-1, which is repaired, and the newest message first, in files of 10,000 messages of which
message_1.json is the newest: they are read from the oldest on. The owner is the one who is in every thread, or is asked for (--me).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any

from pgmem_local.conversation import Turn
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.json_stream import Damage, cut_off, sound_values
from pgmem_local.ingest.people import Names, own_or_others, person_name, same_name
from pgmem_local.ingest.reader import Counts, Reader
from pgmem_local.ingest.records import LeftOut, Record, RecordReader, Rejected
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.source import Source, head

ORDERED_AT_ONCE = 20_000
"""Messages held to put them in order. The export puts 10,000 into a file."""
WORDLESS = "a message without words (picture, recording, call, reaction)"
UNSENT = "a message its sender took back"

_MARKS = (b'"participants"', b'"sender_name"', b'"timestamp_ms"')
_NUMBER = re.compile(r"_(\d{1,6})\.json$", re.IGNORECASE)
_PARTICIPANTS_COUNTED = 1_000
_SUBJECTS = ("You", "Du", "Tu", "Vous", "Você")
_DID = re.compile(
    r"(?:sent (?:an attachment|a photo|a video|a voice message|a live location|a sticker|\d+ photos)"
    r"|started an? (?:audio call|video chat|call)|missed (?:an?|your) (?:audio call|video chat|call)"
    r"|(?:hat|hast) einen anhang gesendet|skickade en bilaga"
    r"|envi(?:ó|aste) un archivo adjunto|(?:a|as|avez) envoyé une pièce jointe|enviou um anexo|ha inviato un allegato)[.]?",
    re.IGNORECASE,
)
_HAPPENED = re.compile(
    r"(?:(?:audio call|video chat|call) ended[.]?|liked a message|reacted .{1,12} to (?:your|a) message ?|gefällt eine nachricht"
    r"|gillade ett meddelande|le gustó un mensaje)",
    re.IGNORECASE,
)


class Instagram:
    """Objects with `participants` and messages with a `timestamp_ms`. Implements `Format`."""

    name = "instagram"
    title = "Instagram or Messenger chats"

    def recognise(self, source: Source) -> str | None:
        found = next((name for name in source.names if _is_thread(source, name)), None)
        return f"{found} holds messages of participants with a timestamp_ms" if found else None

    def read(self, source: Source, options: ReadOptions) -> Reader:
        return InstagramReader(source, options)


INSTAGRAM = Instagram()


def _is_thread(source: Source, name: str) -> bool:
    if not name.casefold().endswith(".json"):
        return False
    start = head(source, name)
    return start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{") and all(mark in start for mark in _MARKS)


def oldest_first(names: list[str]) -> list[str]:
    """Thread by thread (a folder each), and in it the file with the highest number first."""

    def place(name: str) -> tuple[str, int, str]:
        match = _NUMBER.search(name)
        return str(PurePosixPath(name).parent), -int(match[1]) if match else 0, name

    return sorted(names, key=place)


def repaired(written: object) -> str:
    """Text whose UTF-8 was read as Latin-1, made whole; any other text as it is, and "" for what is none."""
    if not isinstance(written, str):
        return ""
    try:
        return written.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return written


def is_wording(text: str, sender: str) -> bool:
    """Whether this is what the export puts for a picture, call or reaction: "Ebba sent an attachment." of Ebba's."""
    subjects = (sender, sender.partition(" ")[0], *_SUBJECTS)
    rests = (text[len(subject) + 1 :] for subject in subjects if subject and text.startswith(f"{subject} "))
    return _HAPPENED.fullmatch(text) is not None or any(_DID.fullmatch(rest) for rest in rests)


@dataclass
class _Thread:
    """What a first pass finds out about the files of one thread."""

    title: str = ""
    participants: set[str] = field(default_factory=set)
    senders: Names = field(default_factory=Names)

    def add(self, place: str, value: object) -> None:
        name = repaired(value)
        if place == "title":
            self.title = self.title or name
        elif place == "messages.item.sender_name":
            self.senders.add(name)
        elif len(self.participants) < _PARTICIPANTS_COUNTED:
            self.participants.add(name)


class InstagramReader(RecordReader[Any]):
    """Two passes: one to learn whose export it is and what the threads are called, one to read. Implements `Reader`."""

    name = Instagram.name
    wanted = (
        'an export of Instagram or Messenger in JSON: {"participants", "messages": [{"sender_name", "timestamp_ms", "content"}]}'
    )

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        self._titles: dict[str, str] = {}
        self._me = ""

    def records(self) -> Iterator[Record[Any] | Reject]:
        names = [name for name in self.source.names if _is_thread(self.source, name)] or list(self.source.names)
        names = oldest_first(names)
        threads = [self._surveyed(list(of_thread)) for _, of_thread in groupby(names, lambda name: PurePosixPath(name).parent)]
        self._me = self._owner(threads)
        for name in self.planned(names):
            yield from self._ordered(name)

    def read(self, record: Record[Any]) -> Turn | LeftOut:
        fields = record.content
        if not isinstance(fields, dict):
            raise Rejected("no message: an object {…} is expected")
        if fields.get("is_unsent") is True:
            return LeftOut(UNSENT)
        content = fields.get("content")
        if content is not None and not isinstance(content, str):
            raise Rejected("content is no string")
        text = repaired(content).strip()
        sender = repaired(fields.get("sender_name"))
        if not text or is_wording(text, sender):
            return LeftOut(WORDLESS)
        moment = self.moment(record, fields.get("timestamp_ms"))
        return own_or_others(text, sender, same_name(sender, self._me), self._titles[record.file], moment)

    def _surveyed(self, names: list[str]) -> _Thread:
        thread = _Thread()
        for name in names:
            with self.open(name, Counts()) as file:
                for found in sound_values(file, "title", "participants.item.name", "messages.item.sender_name"):
                    if not isinstance(found, Damage):
                        thread.add(*found)
        title = person_name(thread.title or PurePosixPath(names[0]).parent.name or "chat")
        self._titles.update((self.shown(name), title) for name in names)
        return thread

    def _owner(self, threads: list[_Thread]) -> str:
        """Who is in every one of several threads; else whom the user names. Raises IngestError that lists the names there are."""
        senders = Names()
        for thread in threads:
            senders.update(thread.senders)
        shared = set.intersection(*(thread.participants for thread in threads)) if len(threads) > 1 else set()
        if self.options.me is None and len(shared) == 1:
            return shared.pop()
        return senders.owner(self.options.me, self.source.path) if senders.counted else ""

    def _ordered(self, name: str) -> Iterator[Record[Any] | Reject]:
        """The messages of a file by their time, a great many at once."""
        held: list[Record[Any]] = []
        number = 1
        with self.open(name) as file:
            for found in sound_values(file, "messages.item"):
                if isinstance(found, Damage):
                    yield from _by_time(held)
                    held = []
                    yield cut_off(self, name, number, found)
                    continue
                held.append(Record(self.shown(name), number, found[1]))
                number += 1
                if len(held) == ORDERED_AT_ONCE:
                    yield from _by_time(held)
                    held = []
        yield from _by_time(held)


def _by_time(newest_first: list[Record[Any]]) -> list[Record[Any]]:
    """Of one instant, too, the first in the file is the newest."""
    return sorted(newest_first, key=lambda record: _milliseconds(record.content), reverse=True)[::-1]


def _milliseconds(fields: object) -> float:
    value = fields.get("timestamp_ms") if isinstance(fields, dict) else None
    return value if isinstance(value, (int, float)) and value == value else 0  # NaN is no number to sort by
