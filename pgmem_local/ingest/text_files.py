"""Files of text, one by one or cut at the dates in them: what readers of notes and diaries share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, BinaryIO

from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.reader import Counts
from pgmem_local.ingest.records import Record, RecordReader, Rejected
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.written_days import shown_order

LONGEST_SECTION = 1024 * 1024
"""Characters under one date that make one entry; what follows is another entry of the same date."""
LONGEST_LINE = 256 * 1024

_NOT_UTF8 = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True)
class Line:
    """A line with its number, from 1, and without its end."""

    number: int
    text: str


@dataclass(frozen=True)
class Dated:
    """A line that gives the date of what follows; `rest` is what stands on the same line after it."""

    date: str
    rest: str = ""


@dataclass(frozen=True)
class Section:
    """The text under one date, as that is written; None where no date stands above it."""

    date: str | None
    text: str

    @property
    def raw(self) -> str:
        return self.text if self.date is None else f"{self.date}\n{self.text}"


def text_files(reader: RecordReader[Any], names: Iterable[str]) -> Iterator[Record[str] | Reject]:
    """Each file as one record; its number is its place among the files. Bytes that are not UTF-8 are kept as surrogates."""
    for number, name in enumerate(names, 1):
        try:
            content = reader.whole(name)
        except Rejected as problem:
            yield Reject(reader.shown(name), number, str(problem), "")
        else:
            yield Record(reader.shown(name), number, content.decode("utf-8", "surrogateescape"))


def text_lines(file: BinaryIO) -> Iterator[Line]:
    """The lines of a file of any size. One longer than LONGEST_LINE bytes comes in pieces of the same number."""
    number, starts = 0, True
    while piece := file.readline(LONGEST_LINE):
        number += starts
        starts = piece.endswith(b"\n")
        yield Line(number, piece.decode("utf-8", "surrogateescape").rstrip("\r\n"))


def sections(lines: Iterable[Line], dated: Callable[[str], Dated | None], paragraphs: bool) -> Iterator[tuple[int, Section]]:
    """(line, section) for each stretch that holds more than white space.

    paragraphs: what stands before the first date is cut at its empty lines.
    """
    start, date, held, room = 1, None, list[str](), LONGEST_SECTION
    for line in lines:
        found = dated(line.text)
        ends = found is not None or room < 0 or (paragraphs and date is None and not line.text.strip())
        if ends:
            yield from _section(start, date, held)
            start, held, room = line.number, [], LONGEST_SECTION
        if found is not None:
            date = found.date
        held.append(line.text if found is None else found.rest)
        room -= len(line.text)
    yield from _section(start, date, held)


def with_shown_order(reader: RecordReader[Any], name: str, dates: Callable[[BinaryIO], Iterable[str]]) -> ReadOptions:
    """The reader's options with the order of day and month that the dates of a file show, where the user has not said it."""
    options = reader.options
    if options.day_first is not None or not reader.source.size(name):  # a pipe has no size and cannot be read twice
        return options
    with reader.open(name, Counts()) as file:
        return replace(options, day_first=shown_order(dates(file)))


def require_utf8(text: str) -> None:
    """Raises Rejected for text in another encoding."""
    if _NOT_UTF8.search(text):
        raise Rejected("not UTF-8 text; save the file as UTF-8")


def stem(name: str) -> str:
    """A file's own name, without its folders and its ending."""
    return PurePosixPath(name).stem


def _section(start: int, date: str | None, held: list[str]) -> Iterator[tuple[int, Section]]:
    text = "\n".join(held).strip()
    if text:
        empty = next(n for n, line in enumerate(held) if line.strip())
        yield start + (empty if date is None else 0), Section(date, text)
