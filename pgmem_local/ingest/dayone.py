"""Day One: journals as JSON, alone or in the zip the app exports -> one entry a turn.

The entry's day is `creationDate` (UTC) on the clock of `timeZone`: an evening in Tokyo stays an evening. `text` is Markdown with
needless backslashes and markers of photos, both taken out; where it is missing, `richText` (JSON inside a string) says the same.
Places, weather and activity are measured, not written, and are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import timezone, tzinfo
from typing import Any

from pgmem_local.conversation import Turn
from pgmem_local.errors import IngestError
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.json_stream import json_records
from pgmem_local.ingest.moments import named_zone
from pgmem_local.ingest.reader import Reader
from pgmem_local.ingest.records import LeftOut, Record, RecordReader, Rejected
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.source import Source, head

_UNKNOWN_ZONE = "the entry's time zone is missing or unknown: its day and hour are read in yours"

_BEGINS = re.compile(rb'\s*\{\s*"(?:metadata|entries)"\s*:')
_IS_A_JOURNAL = (re.compile(rb'"entries"\s*:\s*\[\s*\]'), re.compile(rb'"creationDate"\s*:\s*"'))
_CODE_OR_ESCAPE = re.compile(r"```.*?```|`[^`\n]+`|\\([!-/:-@\[-`{-~])", re.S)
_MARKER = re.compile(r"!\[[^\[\]\n]{0,200}\]\(dayone-moment:[^)\n]{0,200}\)")
_LINK_INTO_APP = re.compile(r"(?<!!)\[([^\[\]\n]{0,500})\]\(dayone2?:[^)\n]{0,500}\)")
_EMPTY_LINES = re.compile(r"\n{3,}")
_LIST_MARKS = {"bulleted": "- ", "numbered": "- ", "checkbox": "- [ ] "}


class DayOneFormat:
    """JSON objects with `entries` that have a `creationDate`. Implements `Format`."""

    name = "dayone"
    title = "Day One"

    def recognise(self, source: Source) -> str | None:
        journals = _journals(source)
        return f"{journals[0]} holds entries with a creationDate" if journals else None

    def read(self, source: Source, options: ReadOptions) -> Reader:
        return DayOne(source, options)


DAY_ONE = DayOneFormat()


class DayOne(RecordReader[Any]):
    """All journals of an export. Implements `Reader`."""

    name = DayOneFormat.name
    wanted = 'a Day One export: {"entries": [{"creationDate", "timeZone", "text"}]}'

    def records(self) -> Iterator[Record[Any] | Reject]:
        for name in self.planned(_journals(self.source) or self.source.names):
            yield from json_records(self, name, "entries.item")

    def read(self, record: Record[Any]) -> Turn | LeftOut:
        entry = record.content
        if not isinstance(entry, dict):
            raise Rejected("not an entry: an object {…} is expected")
        text = _text(entry)
        if not text:
            return LeftOut("an entry without words")
        moment = self.moment(record, entry.get("creationDate"), timezone.utc)
        zone = _zone(entry.get("timeZone"))
        if moment is not None and zone is None:
            self.note(record, _UNKNOWN_ZONE)
        return Turn(text, self.on_clock(moment, zone))


def plain_text(markdown: str) -> str:
    """The text as it was typed: without Day One's backslashes (in code they are meant), markers of photos and links into the app."""
    text = _LINK_INTO_APP.sub(r"\1", _MARKER.sub("", markdown))
    text = _CODE_OR_ESCAPE.sub(lambda match: match[1] or match[0], text)
    return _EMPTY_LINES.sub("\n\n", text).strip()


def rich_text(written: str) -> str:
    """The text in `richText`. Raises Rejected where that is not what it should be."""
    try:
        contents = json.loads(written, strict=False)["contents"]
        return "".join(_pieces(contents)).strip()
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise Rejected("neither text nor a readable richText; put the words into text") from None


def _pieces(contents: list[dict[str, Any]]) -> Iterator[str]:
    """What was typed, piece by piece; marks of list items where a line begins."""
    at_start = True
    for piece in contents:
        text = piece.get("text")
        if not isinstance(text, str) or not text:
            continue
        line = piece.get("attributes", {}).get("line", {})
        mark = _LIST_MARKS.get(line.get("listStyle"), "") if at_start else ""
        yield ("- [x] " if mark == _LIST_MARKS["checkbox"] and line.get("checked") else mark) + text
        at_start = text.endswith("\n")


def _text(entry: dict[str, Any]) -> str:
    text, rich = entry.get("text"), entry.get("richText")
    if text is not None and not isinstance(text, str):
        raise Rejected("text is no string")
    if text and (plain := plain_text(text)):
        return plain
    return rich_text(rich) if isinstance(rich, str) and rich else ""


def _zone(name: object) -> tzinfo | None:
    try:
        return named_zone(name) if isinstance(name, str) and name else None
    except IngestError:
        return None


def _journals(source: Source) -> list[str]:
    names = [name for name in source.names if name.casefold().endswith(".json") or len(source.names) == 1]
    return [name for name in names if _is_journal(head(source, name))]


def _is_journal(start: bytes) -> bool:
    return bool(_BEGINS.match(start.removeprefix(b"\xef\xbb\xbf"))) and any(mark.search(start) for mark in _IS_A_JOURNAL)
