"""What the readers of all formats share: a format says where its records are and what each of them says, nothing more.

Every record is counted and becomes exactly one of turn, reject, left out. What leaves here is clean text without secrets.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import tzinfo
from typing import Any, BinaryIO, ClassVar, Generic, TypeVar

from pgmem_local.conversation import Moment, Turn
from pgmem_local.errors import IngestError
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.reader import Counts
from pgmem_local.ingest.rejects import Reject, as_found
from pgmem_local.ingest.secrets import mask_secrets
from pgmem_local.ingest.source import Source, shown
from pgmem_local.ingest.untrusted import clean
from pgmem_local.ingest.written_days import parse_written

LONGEST_FILE = 32 * 1024 * 1024
"""Bytes of a file that is one record, such as a note."""
LONGEST_RAW = 200_000
"""Characters of a rejected record that are kept."""

_DAMAGED = (OSError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError)
_BUFFER = 4096
"""Bytes read ahead: what is read counts as done where the time left is told, so it must not be the whole of a small file."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Content = TypeVar("Content")


class Rejected(Exception):
    """Why the record at hand cannot be stored, and what to repair; caught where the record is known."""


@dataclass(frozen=True)
class LeftOut:
    """A record that is read and not stored, in words that many records share: notes are counted by their wording."""

    reason: str


@dataclass(frozen=True)
class Record(Generic[Content]):
    """One record as it lies in a file: its line or its place there, from 1, and what it holds (text or parsed JSON)."""

    file: str
    number: int
    content: Content


class RecordReader(ABC, Generic[Content]):
    """Reads one source once. Implements `Reader`; a subclass says `records` and `read`.

    name: of the format. unit: what numbers of records count in messages, "line" or "record". wanted: what was expected, for errors.
    """

    name: ClassVar[str]
    unit: ClassVar[str] = "record"
    wanted: ClassVar[str]

    def __init__(self, source: Source, options: ReadOptions) -> None:
        self.source, self.options = source, options
        self.counts = Counts(unit=self.unit)

    @abstractmethod
    def records(self) -> Iterator[Record[Content] | Reject]:
        """All records in order; a Reject stands for a stretch in which no record could be made out."""

    @abstractmethod
    def read(self, record: Record[Content]) -> Turn | LeftOut:
        """What the record says, text as it stands: cleaning and masking come after. Raises Rejected."""

    def __iter__(self) -> Iterator[Turn | Reject]:
        first: Reject | None = None
        for found in self.records():
            self.counts.records += 1
            item = found if isinstance(found, Reject) else self._item(found)
            if isinstance(item, LeftOut):
                self.counts.skipped += 1
                continue
            if isinstance(item, Reject):
                self.counts.rejected += 1
                first = first or item
            else:
                self.counts.turns += 1
            yield item
        if not self.counts.turns:
            raise IngestError(f"{self.source.path}{self._why_nothing(first)}; expected {self.wanted}")

    # ---------------------------------------------------------------- for the formats

    def moment(self, record: Record[Content], value: object, zone: tzinfo | None = None) -> Moment | None:
        """A time as it stands in the record; `zone` is the record's own, before the user's. Raises Rejected where it has two readings."""
        options = self.options
        parsed = parse_written(value, zone or options.zone, options.now, options.day_first)
        if parsed.ambiguous:
            raise Rejected(parsed.note or "ambiguous time")
        if parsed.note:
            self.note(record, parsed.note)
        return parsed.moment

    def on_clock(self, moment: Moment | None, zone: tzinfo | None = None) -> Moment | None:
        """The same instant on the clock of this zone, else on the user's: for exports that have turned every time into UTC."""
        try:
            return None if moment is None else Moment.of(moment.utc.astimezone(zone or self.options.zone))
        except (ValueError, OverflowError, OSError):  # the first or last day there is, or a past Windows has no clock for
            return moment

    def note(self, record: Record[Content], wording: str) -> None:
        """Say in the end that this was assumed or repaired, in words that many records share."""
        self.counts.note(record.file, record.number, wording)

    def open(self, name: str, counts: Counts | None = None) -> BinaryIO:
        """A file of the source, less a byte order mark; damage met while reading it raises IngestError.

        counts: other ones to count bytes in, for a pass before the one that reads.
        """
        file = io.BufferedReader(_Watched(self.source, name, counts or self.counts), _BUFFER)
        if file.peek(3).startswith(_BYTE_ORDER_MARK):
            file.read(3)
        return file

    def whole(self, name: str) -> bytes:
        """A file that is one record. Raises Rejected where it cannot be read, so that the other files still are."""
        try:
            with self.open(name) as file:
                content = file.read(LONGEST_FILE + 1)
        except IngestError as error:
            raise Rejected(str(error)) from None
        if len(content) > LONGEST_FILE:
            raise Rejected(f"longer than {LONGEST_FILE // 2**20} MiB: no note; split the file")
        return content

    def planned(self, names: Iterable[str]) -> list[str]:
        """The files that will be read, noted so that it can be told how much of them is."""
        chosen = list(names)
        self.counts.bytes_to_read = sum(map(self.source.size, chosen))
        return chosen

    def shown(self, name: str) -> str:
        """How messages name a file of the source."""
        return shown(self.source, name)

    def reject(self, record: Record[Content], reason: str) -> Reject:
        """The record put aside, without its secrets. Its `raw` cannot pass for a record of the owner's until it is repaired."""
        return Reject(record.file, record.number, reason, as_found(self.name, self.masked(record, self.raw(record.content))))

    def raw(self, content: Content) -> str:
        """What a record holds, as it is kept where it is rejected."""
        return raw_text(content)

    def masked(self, record: Record[Any], text: str) -> str:
        """Words of the record without their secrets, which are counted."""
        masked = mask_secrets(text)
        if masked.count:
            self.counts.masked.add(record.file, record.number, masked.count)
        return masked.text

    # ---------------------------------------------------------------- inside

    def _item(self, record: Record[Content]) -> Turn | Reject | LeftOut:
        try:
            item = self.read(record)
        except Rejected as problem:
            return self.reject(record, str(problem))
        if isinstance(item, Turn):
            item = self._safe(record, item)
        if isinstance(item, LeftOut):
            self.note(record, f"{item.reason}: left out")
        return item

    def _safe(self, record: Record[Content], turn: Turn) -> Turn | LeftOut:
        text = clean(turn.text)
        if not text.strip():
            return LeftOut("no text")
        session, author = (None if name is None else self.masked(record, clean(name)) for name in (turn.session, turn.author))
        return replace(turn, text=self.masked(record, text), session=session, author=author)

    def _why_nothing(self, first: Reject | None) -> str:
        if not self.counts.records:
            return " is empty"
        if first is not None:
            return f": nothing could be read: first problem: {self.unit} {first.line}: {first.reason}"
        wording, noted = next(iter(self.counts.notes.items()))
        return f": nothing could be read: {self.unit} {noted.lines[0]}: {wording}"


class _Watched(io.RawIOBase):
    """A file of a source, read as far as it reached when it was opened; counts its bytes, and says what to do where it breaks."""

    def __init__(self, source: Source, name: str, counts: Counts) -> None:
        self._file = source.open(name)
        self._shown, self._counts = shown(source, name), counts
        self._left = source.size(name) or None  # a pipe says 0, and ends when it ends

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        wanted = len(buffer) if self._left is None else min(len(buffer), self._left)
        try:
            content = self._file.read(wanted) if wanted else b""
        except _DAMAGED as error:
            what = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise IngestError(f"{self._shown} cannot be read on ({what}); put it right or export it again: what is stored stays") from error
        buffer[: len(content)] = content
        self._counts.bytes_read += len(content)
        if self._left is not None:
            self._left -= len(content)
        return len(content)

    def close(self) -> None:
        self._file.close()
        super().close()


def raw_text(content: object) -> str:
    """Text as it is, JSON as it is written; cut where it is very long."""
    if isinstance(content, str):
        return content[:LONGEST_RAW]
    try:
        return json.dumps(content, ensure_ascii=False, default=str)[:LONGEST_RAW]
    except (ValueError, RecursionError):  # nested by the thousand
        return ""
