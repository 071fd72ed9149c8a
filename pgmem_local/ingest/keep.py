"""Google Keep's part of a Takeout export: one JSON file a note, in a folder or archive -> one entry a note.

The text is the note's title with its text or its list. Its time is when it was created, so that the same words have the same
time in every export; a note that was last edited much later says so among the notes of the run. Without either time it stays
undated. What lies in the bin is left out; the pages and pictures beside the notes are not read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from pgmem_local.conversation import Moment, Turn
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.reader import Reader
from pgmem_local.ingest.records import LeftOut, Record, RecordReader, Rejected
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.source import Source, head
from pgmem_local.ingest.text_files import require_utf8, text_files

TRASHED = "a note in the bin"
WORDLESS = "a note without words (picture, recording, drawing)"
EDITED_LATER = "a note edited more than a week after it was created: dated by its creation"
SHARED = "a note shared with others, who may have written in it: taken as yours"

_MICROSECONDS_OF_A_WEEK = 7 * 24 * 3600 * 1_000_000
_CREATED, _EDITED = "createdTimestampUsec", "userEditedTimestampUsec"
_HEAD = 16 * 1024
_NOTE_MARKS = re.compile(rb'"(?:textContent|listContent|isTrashed|isPinned|isArchived)"\s*:')


class Keep:
    """JSON files with a note's text and times in microseconds. Implements `Format`."""

    name = "keep"
    title = "Google Keep (Takeout)"

    def recognise(self, source: Source) -> str | None:
        found = next((name for name in _json_files(source) if _is_note(source, name)), None)
        return f"{found} is a note of Google Keep" if found else None

    def read(self, source: Source, options: ReadOptions) -> Reader:
        return KeepReader(source, options)


KEEP = Keep()


def _json_files(source: Source) -> list[str]:
    return [name for name in source.names if name.casefold().endswith(".json")]


def _is_note(source: Source, name: str) -> bool:
    """By its fields. A long text hides those after it, so one look at its beginning must do."""
    start = head(source, name, _HEAD).removeprefix(b"\xef\xbb\xbf").lstrip()
    return start.startswith(b"{") and len(set(_NOTE_MARKS.findall(start))) >= 2


def notes_of(source: Source) -> list[str]:
    """All JSON files in the folders that hold a note: the folder is called as the account's language has it."""
    files = _json_files(source)
    folders = {PurePosixPath(name).parent for name in files if _is_note(source, name)}
    return [name for name in files if PurePosixPath(name).parent in folders]


class KeepReader(RecordReader[str]):
    """All notes of an export. Implements `Reader`."""

    name = Keep.name
    wanted = "Google Takeout's Keep folder: JSON files with textContent or listContent"

    def records(self) -> Iterator[Record[str] | Reject]:
        return text_files(self, self.planned(notes_of(self.source) or self.source.names))

    def read(self, record: Record[str]) -> Turn | LeftOut:
        note = _parsed(record.content)
        if note.get("isTrashed") is True:
            return LeftOut(TRASHED)
        text = note_text(note)
        if not text:
            return LeftOut(WORDLESS)
        if note.get("sharees"):
            self.note(record, SHARED)
        return Turn(text, self._moment(record, note))

    def _moment(self, record: Record[str], note: dict[str, Any]) -> Moment | None:
        created, edited = _microseconds(note.get(_CREATED)), _microseconds(note.get(_EDITED))
        if created and edited and edited - created > _MICROSECONDS_OF_A_WEEK:
            self.note(record, EDITED_LATER)
        return self.moment(record, created or edited)


def note_text(note: dict[str, Any]) -> str:
    """Title, and text or list, as they were typed. Raises Rejected where they are something else."""
    parts = [_string(note, "title"), _string(note, "textContent"), _list_text(note.get("listContent"))]
    return "\n".join(part for part in parts if part)


def _list_text(items: object) -> str:
    """Ticked off or not: else ticking an item off would make another note of it."""
    if items is None:
        return ""
    if not isinstance(items, list):
        raise Rejected("listContent is no list")
    return "\n".join(_item_text(item) for item in items)


def _item_text(item: object) -> str:
    if not isinstance(item, dict):
        raise Rejected("an item of listContent is no object {…}")
    return f"- {_string(item, 'text')}"


def _string(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise Rejected(f"{name} is no string")
    return (value or "").strip()


def _microseconds(value: object) -> int | None:
    """Keep counts from 1970 in microseconds; what is none is no time."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _parsed(content: str) -> dict[str, Any]:
    require_utf8(content)
    try:
        note = json.loads(content.removeprefix("\ufeff"), strict=False)
    except (ValueError, RecursionError):
        raise Rejected("not valid JSON; export it again") from None
    if not isinstance(note, dict) or not ({"title", "textContent", "listContent", "isTrashed"} & note.keys()):
        raise Rejected("not a note of Keep: no title, textContent or listContent")
    return note
