"""Gemini's part of a Takeout export: "My Activity.json", a list of prompts with their answers as HTML -> turns.

A prompt follows a word such as "Prompted", in the language of the account; where that is not English, it is what the first titles
have in common. No conversation is named: prompts within half an hour of each other are taken for one. Other activities are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, takewhile
from typing import Any

from pgmem_local.conversation import Speaker, Turn
from pgmem_local.errors import IngestError
from pgmem_local.ingest.conversations import fields_of, word
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.html_text import text_of_html
from pgmem_local.ingest.json_stream import UNUSABLE, json_records, values_at
from pgmem_local.ingest.moments import parse_moment
from pgmem_local.ingest.reader import Reader
from pgmem_local.ingest.records import LeftOut, Record, RecordReader, Rejected, raw_text
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.source import Source, head

_SESSION_GAP = timedelta(minutes=30)
_ENGLISH = "Prompted "
_TITLES_COMPARED = 50
_FEWEST_TITLES = 3
_OF_GEMINI = re.compile(rb'^\s*\[\s*\{\s*"header"\s*:\s*"[^"]{0,40}(?:Gemini|Bard)')
_HEAD = 1024
_UNKNOWN_PREFIX = "a prompt with the word Google puts before it, which is not known in this language: kept as it stands"
_REGENERATED = "several answers to a prompt: the last one is taken"


class GeminiFormat:
    """My Activity.json of Gemini, alone, or somewhere in a Takeout folder or archive. Implements `Format`."""

    name = "gemini"
    title = "Gemini (Takeout)"

    def recognise(self, source: Source) -> str | None:
        files = files_of(source)
        return f"{files[0]} holds activities in Gemini as Takeout exports them" if files else None

    def read(self, source: Source, options: ReadOptions) -> Reader:
        return GeminiReader(source, options)


GEMINI = GeminiFormat()


def files_of(source: Source) -> list[str]:
    """By content: the file's name is in the language of the account."""
    return [name for name in source.names if _is_json(source, name) and _OF_GEMINI.search(head(source, name, _HEAD))]


@dataclass(frozen=True)
class Said:
    """One side of an activity: the prompt, or its answer; in which session."""

    fields: dict[str, Any]
    session: str | None
    is_answer: bool = False


class GeminiReader(RecordReader[Said]):
    """The prompts and answers of an export, read once, newest first as they lie there. Implements `Reader`."""

    name = GeminiFormat.name
    unit = "activity"
    wanted = "My Activity.json of Gemini in a Takeout export"

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        self._prefix: str | None = None

    def records(self) -> Iterator[Record[Said] | Reject]:
        for name in self.planned(files_of(self.source) or self.source.names):
            self._prefix = _prefix(self.source, name)
            session, earlier = None, None
            for found in json_records(self, name, "item"):
                if isinstance(found, Reject):
                    yield found
                    continue
                fields = found.content if isinstance(found.content, dict) else {"title": None, "activity": found.content}
                when = self._when(fields)
                if earlier is None or when is None or abs(earlier - when) > _SESSION_GAP:
                    session = f"gemini {when.isoformat()}" if when else None
                earlier = when
                yield Record(found.file, found.number, Said(fields, session))
                if fields.get("safeHtmlItem"):
                    yield Record(found.file, found.number, Said(fields, session, is_answer=True))

    def _when(self, fields: dict[str, Any]) -> datetime | None:
        moment = parse_moment(fields.get("time"), self.options.zone, self.options.now).moment
        return moment.utc if moment else None

    def read(self, record: Record[Said]) -> Turn | LeftOut:
        said = record.content
        title = said.fields.get("title")
        if not isinstance(title, str):
            raise Rejected("the activity has no title")
        moment = self.on_clock(self.moment(record, said.fields.get("time")))
        if said.is_answer:
            return Turn(self._answer(record), moment, Speaker.ASSISTANT, said.session)
        if not said.fields.get("safeHtmlItem") and not (self._prefix and title.startswith(self._prefix)):
            return LeftOut("an activity that is no prompt")
        if self._prefix is None:
            self.note(record, _UNKNOWN_PREFIX)
        return Turn(title.removeprefix(self._prefix or ""), moment, Speaker.USER, said.session)

    def _answer(self, record: Record[Said]) -> str:
        items = record.content.fields["safeHtmlItem"]
        answers = [text for item in (items if isinstance(items, list) else [items]) if (text := _html(item))]
        if len(answers) > 1:
            self.note(record, _REGENERATED)
        return text_of_html(answers[-1]) if answers else ""

    def raw(self, content: Said) -> str:
        return raw_text(content.fields)


def _html(item: object) -> str | None:
    return word(fields_of(item, "an answer").get("html"))


def _is_json(source: Source, name: str) -> bool:
    return len(source.names) == 1 or name.casefold().endswith(".json")


def _prefix(source: Source, name: str) -> str | None:
    """What stands before every prompt, up to a space; None where too few titles show it."""
    titles = _first_titles(source, name)
    if any(title.startswith(_ENGLISH) for title in titles):
        return _ENGLISH
    if len(titles) < _FEWEST_TITLES:
        return None
    columns = takewhile(lambda letters: len(set(letters)) == 1, zip(*titles, strict=False))
    common = "".join(letters[0] for letters in columns)
    return common[: common.rfind(" ") + 1] or None


def _first_titles(source: Source, name: str) -> list[str]:
    """Titles of the first activities that were answered: those are prompts in every language."""
    titles = []
    try:
        with source.open(name) as file:
            for _, fields in islice(values_at(file, "item"), _TITLES_COMPARED):
                if isinstance(fields, dict) and fields.get("safeHtmlItem") and isinstance(fields.get("title"), str):
                    titles.append(fields["title"])
    except (*UNUSABLE, OSError, IngestError):
        pass  # reading proper meets the same damage, and says so
    return titles
