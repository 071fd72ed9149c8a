"""JSON Lines, one record a line -> turns.

Diary entries are {"timestamp", "text"}, chat turns {"timestamp", "session", "role", "content"}. Generous about the names of fields
and about small damage (byte order mark, a comma at the end, control characters inside strings); never about what a record says.
Of a key that occurs twice the last one counts, as in any JSON parser, and the counts note it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from pgmem_local.conversation import Turn
from pgmem_local.ingest.fields import TEXT_NAMES, kind, names_of_fields, plain, turn_of
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.reader import Reader
from pgmem_local.ingest.records import LeftOut, Record, RecordReader, Rejected
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.source import Source, head

WANTED = 'JSON Lines: diary entries {"timestamp", "text"} or chat turns {"timestamp", "session", "role", "content"}, one a line'
LONGEST_LINE = 8 * 1024 * 1024

_ENDINGS = (".jsonl", ".ndjson")
_LINES_LOOKED_AT = 50

_REPAIRED = "a comma too many at the end: removed"
_DOUBLED = "a key occurs twice: the last one counts"
_SHOWN_OF_LONG_LINE = 200
_PASSED_AT_ONCE = 64 * 1024
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_ESCAPED = re.compile(r"(?<!\\)\\u([0-9a-fA-F]{4})")


class JsonLinesFormat:
    """Files named .jsonl or .ndjson, and any other whose lines are JSON objects with a text in them. Implements `Format`."""

    name = "jsonl"
    title = "JSON Lines"

    def recognise(self, source: Source) -> str | None:
        if named := _named_so(source):
            return f"{named[0]} is named as JSON Lines are"
        if len(source.names) == 1 and _has_lines_of_objects(head(source, source.names[0])):
            return "its lines are JSON objects with a text"
        return None

    def read(self, source: Source, options: ReadOptions) -> Reader:
        return JsonLines(source, options)


JSON_LINES = JsonLinesFormat()


@dataclass(frozen=True)
class Line:
    """A line that holds something, or the beginning of one that is too long to hold."""

    text: str
    whole: bool = True


class JsonLines(RecordReader[Line]):
    """The JSON Lines of a source, read once. Implements `Reader`."""

    name = JsonLinesFormat.name
    unit = "line"
    wanted = WANTED

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        self._names = names_of_fields(options.fields)

    def records(self) -> Iterator[Record[Line]]:
        for name in self.planned(_named_so(self.source) or self.source.names):
            with self.open(name) as file:
                yield from self._lines(file, self.shown(name))

    def _lines(self, file: BinaryIO, shown: str) -> Iterator[Record[Line]]:
        for number, (start, whole) in enumerate(_pieces(file), 1):
            text = start.decode("utf-8", "surrogateescape").strip()
            if text:
                yield Record(shown, number, Line(text, whole))
            else:
                self.counts.blank += 1

    def read(self, record: Record[Line]) -> Turn | LeftOut:
        if not record.content.whole:
            raise Rejected(f"longer than {LONGEST_LINE // 2**20} MiB; only its beginning is kept here")
        fields = self._parse(record, record.content.text)
        if (earlier := Reject.from_record(fields)) is not None:
            if earlier.foreign:
                raise Rejected(f'still as {earlier.foreign} has it: put {{"timestamp", "text"}} or a chat turn in place of its `raw`')
            fields = self._parse(record, earlier.raw)
        return turn_of(self, record, fields, self._names)

    def reject(self, record: Record[Line], reason: str) -> Reject:
        """The line as it stood; of a line of a rejects file, what was rejected at first and where."""
        origin = _origin(record)
        return Reject(origin.path, origin.line, reason, self.masked(record, _legible(origin.raw)))

    def _parse(self, record: Record[Line], text: str) -> dict[str, Any]:
        if _NOT_UTF8.search(text):
            raise Rejected("not UTF-8 text; save the file as UTF-8")
        try:
            value, doubled = _load(text)
        except Rejected:
            repaired = _without_extra_comma(text)
            if repaired == text:
                raise
            value, doubled = _load(repaired)
            self.note(record, _REPAIRED)
        if not isinstance(value, dict):
            raise Rejected(f"{kind(value)} where an object {{…}} is expected")
        fields = {plain(name): content for name, content in value.items()}
        if doubled or len(fields) < len(value):
            self.note(record, _DOUBLED)
        return fields


def _named_so(source: Source) -> list[str]:
    return [name for name in source.names if name.casefold().endswith(_ENDINGS)]


def _has_lines_of_objects(start: bytes) -> bool:
    """Most of the first lines are objects, and some of them with a text: one object over many lines is another format."""
    lines = [line.strip() for line in start.decode("utf-8", "replace").removeprefix("\ufeff").splitlines() if line.strip()]
    looked_at = lines[:_LINES_LOOKED_AT]
    objects = [fields for line in looked_at if (fields := _object(line)) is not None]
    return 2 * len(objects) >= len(looked_at) and any(_holds_text(fields) for fields in objects)


def _object(line: str) -> dict[str, Any] | None:
    try:
        value, _ = _load(_without_extra_comma(line))
    except Rejected:
        return None
    return {plain(name): content for name, content in value.items()} if isinstance(value, dict) else None


def _holds_text(fields: dict[str, Any]) -> bool:
    return Reject.from_record(fields) is not None or any(isinstance(fields.get(name), str) for name in TEXT_NAMES)


def _origin(record: Record[Line]) -> Reject:
    text = record.content.text
    earlier = Reject.from_record(_object(text) or {}) if record.content.whole and not _NOT_UTF8.search(text) else None
    return earlier or Reject(record.file, record.number, "", text)


def _pieces(file: BinaryIO) -> Iterator[tuple[bytes, bool]]:
    """(line, True), or (its beginning, False) for one that is too long; the rest of that passes by unread."""
    while line := file.readline(LONGEST_LINE + 1):
        if len(line) <= LONGEST_LINE:
            yield line, True
            continue
        start, rest = line[:_SHOWN_OF_LONG_LINE], line[-1:]
        del line
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(_PASSED_AT_ONCE)
        yield start, False


def _load(text: str) -> tuple[object, bool]:
    """The JSON value and whether one of its objects has a key twice."""
    doubled = False

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal doubled
        built = dict(pairs)
        doubled = doubled or len(built) < len(pairs)
        return built

    try:
        return json.loads(text, object_pairs_hook=build, strict=False), doubled
    except json.JSONDecodeError as error:
        raise Rejected(f"not valid JSON (character {error.pos + 1}): {error.msg}") from None
    except (ValueError, RecursionError):  # a number of thousands of digits, brackets nested by the thousand
        raise Rejected("not usable JSON: a number too long or brackets too deep") from None


def _without_extra_comma(text: str) -> str:
    """The same line without a comma after its object, or after the last member in it."""
    text = text.rstrip().removesuffix(",").rstrip()
    inside = text.removesuffix("}").rstrip()
    return inside[:-1] + "}" if text.endswith("}") and inside.endswith(",") else text


def _legible(raw: str) -> str:
    """The same JSON with letters in place of their \\u escapes: behind those no rule would know a secret."""

    def letter(match: re.Match[str]) -> str:
        character = chr(int(match[1], 16))
        return character if character.isalnum() else match[0]

    return _ESCAPED.sub(letter, raw)
