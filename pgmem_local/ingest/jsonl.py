"""JSON Lines, one record a line -> turns.

Diary entries are {"timestamp", "text"}, chat turns {"timestamp", "session", "role", "content"}. Generous about the names of fields
and about small damage (byte order mark, a comma at the end, control characters inside strings); never about what a record says.
Of a key that occurs twice the last one counts, as in any JSON parser, and the counts note it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from pgmem_local.conversation import Speaker, Turn
from pgmem_local.errors import IngestError
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.reader import Reader
from pgmem_local.ingest.records import LeftOut, Record, RecordReader, Rejected
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.source import Source, head
from pgmem_local.ingest.untrusted import clean

WANTED = 'JSON Lines: diary entries {"timestamp", "text"} or chat turns {"timestamp", "session", "role", "content"}, one a line'
LONGEST_LINE = 8 * 1024 * 1024

_ENDINGS = (".jsonl", ".ndjson")
_LINES_LOOKED_AT = 50
_NAMES = {
    "text": ("text", "content", "body", "entry", "message"),
    "timestamp": ("timestamp", "ts", "time", "date", "createdat", "datetime"),
    "role": ("role", "speaker", "author", "sender"),
    "session": tuple(name + ending for name in ("session", "conversation", "chat", "thread") for ending in ("", "id")),
}
_SPEAKERS = {
    **dict.fromkeys(("user", "human", "me", "owner"), Speaker.USER),
    **dict.fromkeys(("assistant", "ai", "bot", "model"), Speaker.ASSISTANT),
}
_OTHER_ROLES = ("system", "developer", "tool", "function")

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
        self._names = _names_of_fields(options.fields)

    def records(self) -> Iterator[Record[Line]]:
        for name in _named_so(self.source) or self.source.names:
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
        return self._turn(record, fields)

    def reject(self, record: Record[Line], reason: str) -> Reject:
        """The line as it stood; of a line of a rejects file, what was rejected at first and where."""
        origin = _origin(record)
        return Reject(origin.path, origin.line, reason, self.masked(record.number, _legible(origin.raw)))

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
            raise Rejected(f"{_kind(value)} where an object {{…}} is expected")
        fields = {_plain(name): content for name, content in value.items()}
        if doubled or len(fields) < len(value):
            self.note(record, _DOUBLED)
        return fields

    def _turn(self, record: Record[Line], fields: dict[str, Any]) -> Turn | LeftOut:
        names = self._names
        role = _role(fields, names["role"])
        speaker = _SPEAKERS.get(role)
        if speaker is None:
            return LeftOut(f"{_named(role)} that is neither the user's nor the assistant's")
        text = _text(fields, names["text"])
        moment = self.moment(record, _time(fields, names["timestamp"]))
        return Turn(text, moment, speaker, _session(fields, names["session"]))


def _named_so(source: Source) -> list[str]:
    return [name for name in source.names if name.casefold().endswith(_ENDINGS)]


def _names_of_fields(own: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The names of our fields in the file, the user's before the usual ones. Raises IngestError for a field we do not have."""
    unknown = own.keys() - _NAMES.keys()
    if unknown:
        raise IngestError(f"there is no field {min(unknown)!r} to map to; there are {', '.join(_NAMES)}")
    return {field: ((_plain(own[field]),) if field in own else ()) + names for field, names in _NAMES.items()}


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
    return {_plain(name): content for name, content in value.items()} if isinstance(value, dict) else None


def _holds_text(fields: dict[str, Any]) -> bool:
    return Reject.from_record(fields) is not None or any(isinstance(fields.get(name), str) for name in _NAMES["text"])


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


def _kind(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    names = {type(None): "null", bool: "true or false", str: "a string", list: "a list", int: "a number", float: "a number"}
    return names[type(value)]


def _plain(name: str) -> str:
    """createdAt, created_at and "Created at" are one name."""
    return re.sub(r"[\s_-]", "", name).casefold()


def _first(record: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((record[name] for name in names if record.get(name) not in (None, "")), None)


def _role(record: dict[str, Any], names: tuple[str, ...]) -> str:
    """Who speaks, by the file's own word; the user where nothing is said about it, as in a diary."""
    role = _first(record, names)
    if role is None:
        return "user"
    if not isinstance(role, str):
        raise Rejected(f"the role is {_kind(role)}, not a word such as 'user' or 'assistant'")
    return role.strip().casefold()


def _named(role: str) -> str:
    """Known roles by name, all others as one: notes are counted by their wording, which a file must not be able to multiply."""
    return f"role '{role}'" if role in _OTHER_ROLES else "a role"


def _text(record: dict[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        text = _joined(record.get(name))
        if text is not None and clean(text).strip():
            return text
    raise Rejected(f"no text: none of {', '.join(names)} holds any")


def _joined(content: object) -> str | None:
    """A text, also where it comes in parts; None where something else than text is among them."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [part.get("text") if isinstance(part, dict) else part for part in content]
    texts = [part for part in parts if isinstance(part, str)]
    return "\n".join(texts) if len(texts) == len(parts) else None


def _time(record: dict[str, Any], names: tuple[str, ...]) -> object:
    day, clock = record.get("date"), record.get("time")
    if isinstance(day, str) and isinstance(clock, str) and re.match(r"\s*[0-9]{1,2}:[0-9]{2}", clock):
        return f"{day.strip()} {clock.strip()}"
    return _first(record, names)


def _session(record: dict[str, Any], names: tuple[str, ...]) -> str | None:
    name = _first(record, names)
    return str(name) if isinstance(name, (str, int)) and not isinstance(name, bool) else None
