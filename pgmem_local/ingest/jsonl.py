"""JSON Lines, one record a line -> turns.

Diary entries are {"timestamp", "text"}, chat turns {"timestamp", "session", "role", "content"}. Generous about the names of fields
and about small damage (byte order mark, a comma at the end, control characters inside strings); never about what a record says.
Of a key that occurs twice the last one counts, as in any JSON parser, and the counts note it.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone, tzinfo
from pathlib import Path
from typing import Any, BinaryIO

from pgmem_local.conversation import Speaker, Turn
from pgmem_local.errors import IngestError
from pgmem_local.ingest.moments import parse_moment
from pgmem_local.ingest.reader import Counts
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.secrets import mask_secrets
from pgmem_local.ingest.untrusted import clean

FORMATS = 'JSON Lines: diary entries {"timestamp", "text"} or chat turns {"timestamp", "session", "role", "content"}, one a line'
LONGEST_LINE = 8 * 1024 * 1024

_TEXT = ("text", "content", "body", "entry", "message")
_TIME = ("timestamp", "ts", "time", "date", "createdat", "datetime")
_ROLE = ("role", "speaker", "author", "sender")
_SESSION = tuple(name + ending for name in ("session", "conversation", "chat", "thread") for ending in ("", "id"))
_SPEAKERS = {
    **dict.fromkeys(("user", "human", "me", "owner"), Speaker.USER),
    **dict.fromkeys(("assistant", "ai", "bot", "model"), Speaker.ASSISTANT),
}
_OTHER_ROLES = ("system", "developer", "tool", "function")

_REPAIRED = "a comma too many at the end: removed"
_DOUBLED = "a key occurs twice: the last one counts"
_SHOWN_OF_LONG_LINE = 200
_PASSED_AT_ONCE = 64 * 1024
_BYTE_ORDER_MARK = "\ufeff"
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_ESCAPED = re.compile(r"(?<!\\)\\u([0-9a-fA-F]{4})")


class _Rejected(Exception):
    """Why the record at hand is not stored; caught where the line is known."""


@dataclass(frozen=True)
class _Line:
    number: int
    text: str
    whole: bool = True


class JsonLines:
    """One file of JSON Lines, read once. Implements `Reader`."""

    def __init__(self, path: Path, zone: tzinfo | None = None, now: datetime | None = None) -> None:
        self.counts = Counts()
        self._path = path
        self._zone = zone
        self._now = now or datetime.now(timezone.utc)

    def __iter__(self) -> Iterator[Turn | Reject]:
        first: Reject | None = None
        for line in self._lines():
            item = self._read(line)
            if isinstance(item, Reject):
                self.counts.rejected += 1
                first = first or item
            elif item is not None:
                self.counts.turns += 1
            if item is not None:
                yield item
        if not self.counts.turns:
            raise IngestError(self._why_nothing(first))

    def _lines(self) -> Iterator[_Line]:
        """The lines that hold something. A file that grows meanwhile is read as far as it reached at first."""
        with _opened(self._path) as file:
            end = _size(file)
            for number, (start, whole) in enumerate(self._pieces(file, end), 1):
                text = start.decode("utf-8", "surrogateescape")
                text = (text.removeprefix(_BYTE_ORDER_MARK) if number == 1 else text).strip()
                if text:
                    self.counts.records += 1
                    yield _Line(number, text, whole)
                else:
                    self.counts.blank += 1

    def _pieces(self, file: BinaryIO, end: int | None) -> Iterator[tuple[bytes, bool]]:
        """(line, True), or (its beginning, False) for one that is too long; the rest of that passes by unread."""
        while end is None or self.counts.bytes_read < end:
            line = self._piece(file, LONGEST_LINE + 1)
            if not line:
                return
            if len(line) <= LONGEST_LINE:
                yield line, True
                continue
            start, rest = line[:_SHOWN_OF_LONG_LINE], line[-1:]
            del line
            while rest and not rest.endswith(b"\n"):
                rest = self._piece(file, _PASSED_AT_ONCE)
            yield start, False

    def _piece(self, file: BinaryIO, limit: int) -> bytes:
        try:
            piece = file.readline(limit)
        except OSError as error:
            raise IngestError(
                f"{self._path} cannot be read on ({error.strerror}); ingest it again once it can: what is stored stays"
            ) from error
        self.counts.bytes_read += len(piece)
        return piece

    def _read(self, line: _Line) -> Turn | Reject | None:
        """A turn, a reject, or None for a turn that is neither the user's nor the assistant's."""
        origin = Reject(str(self._path), line.number, "", line.text)
        try:
            if not line.whole:
                raise _Rejected(f"longer than {LONGEST_LINE // 2**20} MiB; only its beginning is kept here")
            record = self._parse(line.number, line.text)
            if (earlier := Reject.from_record(record)) is not None:
                origin = earlier
                record = self._parse(line.number, earlier.raw)
            return self._turn(line.number, record)
        except _Rejected as problem:
            return Reject(origin.path, origin.line, str(problem), self._masked(line.number, _legible(origin.raw)))

    def _parse(self, number: int, text: str) -> dict[str, Any]:
        if _NOT_UTF8.search(text):
            raise _Rejected("not UTF-8 text; save the file as UTF-8")
        try:
            value, doubled = _load(text)
        except _Rejected:
            repaired = _without_extra_comma(text)
            if repaired == text:
                raise
            value, doubled = _load(repaired)
            self.counts.note(number, _REPAIRED)
        if not isinstance(value, dict):
            raise _Rejected(f"{_kind(value)} where an object {{…}} is expected")
        record = {_plain(name): content for name, content in value.items()}
        if doubled or len(record) < len(value):
            self.counts.note(number, _DOUBLED)
        return record

    def _turn(self, number: int, record: dict[str, Any]) -> Turn | None:
        role = _role(record)
        speaker = _SPEAKERS.get(role)
        if speaker is None:
            self.counts.skipped += 1
            self.counts.note(number, f"{_named(role)} that is neither the user's nor the assistant's: left out")
            return None
        text = _text(record)
        parsed = parse_moment(_time(record), self._zone, self._now)
        if parsed.ambiguous:
            raise _Rejected(parsed.note or "ambiguous time")
        if parsed.note:
            self.counts.note(number, parsed.note)
        session = _session(record)
        return Turn(
            self._masked(number, clean(text)),
            parsed.moment,
            speaker,
            None if session is None else self._masked(number, clean(session)),
        )

    def _masked(self, number: int, text: str) -> str:
        masked = mask_secrets(text)
        if masked.count:
            self.counts.masked.add(number, masked.count)
        return masked.text

    def _why_nothing(self, first: Reject | None) -> str:
        if not self.counts.records:
            return f"{self._path} is empty; expected {FORMATS}"
        if first is not None:
            return f"{self._path}: nothing could be read: first problem: line {first.line}: {first.reason}; expected {FORMATS}"
        wording, noted = next(iter(self.counts.notes.items()))
        return f"{self._path}: nothing could be read: line {noted.lines[0]}: {wording}; the owner's turns need the role 'user'"


def _opened(path: Path) -> BinaryIO:
    """The file, ready to read; raises IngestError that says what to give instead."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise IngestError(f"{path} does not exist; give a file of {FORMATS}") from None
    except IsADirectoryError:
        raise IngestError(f"{path} is a folder; give one file of {FORMATS}") from None
    except (OSError, ValueError) as error:
        if path.is_dir():  # Windows refuses a folder as it refuses a locked file
            raise IngestError(f"{path} is a folder; give one file of {FORMATS}") from None
        raise IngestError(f"{path} cannot be opened ({error}); check its rights and its name") from error


def _size(file: BinaryIO) -> int | None:
    """Length of a regular file; None for a pipe, which ends when it ends."""
    status = os.fstat(file.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else None


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
        raise _Rejected(f"not valid JSON (character {error.pos + 1}): {error.msg}") from None
    except (ValueError, RecursionError):  # a number of thousands of digits, brackets nested by the thousand
        raise _Rejected("not usable JSON: a number too long or brackets too deep") from None


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


def _role(record: dict[str, Any]) -> str:
    """Who speaks, by the file's own word; the user where nothing is said about it, as in a diary."""
    role = _first(record, _ROLE)
    if role is None:
        return "user"
    if not isinstance(role, str):
        raise _Rejected(f"the role is {_kind(role)}, not a word such as 'user' or 'assistant'")
    return role.strip().casefold()


def _named(role: str) -> str:
    """Known roles by name, all others as one: notes are counted by their wording, which a file must not be able to multiply."""
    return f"role '{role}'" if role in _OTHER_ROLES else "a role"


def _text(record: dict[str, Any]) -> str:
    for name in _TEXT:
        text = _joined(record.get(name))
        if text is not None and clean(text).strip():
            return text
    raise _Rejected(f"no text: none of {', '.join(_TEXT)} holds any")


def _joined(content: object) -> str | None:
    """A text, also where it comes in parts; None where something else than text is among them."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [part.get("text") if isinstance(part, dict) else part for part in content]
    texts = [part for part in parts if isinstance(part, str)]
    return "\n".join(texts) if len(texts) == len(parts) else None


def _time(record: dict[str, Any]) -> object:
    day, clock = record.get("date"), record.get("time")
    if isinstance(day, str) and isinstance(clock, str) and re.match(r"\s*[0-9]{1,2}:[0-9]{2}", clock):
        return f"{day.strip()} {clock.strip()}"
    return _first(record, _TIME)


def _session(record: dict[str, Any]) -> str | None:
    name = _first(record, _SESSION)
    return str(name) if isinstance(name, (str, int)) and not isinstance(name, bool) else None
