"""Plain text: a diary in one file, or a folder of dated files -> an entry under each date, else each paragraph as an undated one.

A date counts where it stands alone on its line ("Sunday, 3 March 2024", "== 2024-03-03 ==", "Date: 3 March 2024 at 07:30") or begins
one ("2024-03-03: …", "[2024-03-03 07:30] …"). Names of files count as dates, their times do not: copying changes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import PurePosixPath
from typing import BinaryIO

from pgmem_local.conversation import Turn
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.reader import Reader
from pgmem_local.ingest.records import LeftOut, Record, RecordReader
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.source import Source, head
from pgmem_local.ingest.text_files import Dated, Line, Section, require_utf8, sections, text_lines, with_shown_order
from pgmem_local.ingest.written_days import day_in_name, is_day

_ENDINGS = (".txt", ".text")
_LINES_LOOKED_AT = 50
_ROUND_A_DATE = "#=*_~-–—[](): .\t"
_LABEL = re.compile(r"\A\s*(?:date|datum|fecha|data|dato|päivä)\s*:\s*", re.I)
_BEGINS_WITH_DATE = re.compile(
    r"\s*\[?(?P<date>(?:\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3\d{4})"
    r"(?:[T ,]{1,2}\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\.?)?)?)(?:\]\s*|\s*:\s+|\s+[-–—]\s+|\t\s*)(?P<rest>\S.*)",
    re.I,
)
_CHAT_LINE = re.compile(
    r"[\u200e\u200f\ufeff]*\[?\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4},?\s+\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[ap]\.?\s?m\.?)?"
    r"(?:\]|\s+-)\s[^:]{1,60}:\s",
    re.I,
)
_OTHER_FORMAT = re.compile(r"\s*(?:[{<]|\[\s*(?:[{\[\"\]]|$))")


class PlainTextFormat:
    """Text files that are neither chats nor data. Implements `Format`."""

    name = "plain"
    title = "Plain text"

    def recognise(self, source: Source) -> str | None:
        names = _texts(source)
        if not names or len(names) < len(source.names):
            return None
        starts = [head(source, name) for name in islice(names, _LINES_LOOKED_AT)]
        if not all(_is_prose(start) for start in starts):
            return None
        return f"{names[0]} is text" if len(names) == 1 else f"all {len(names)} files are text"

    def read(self, source: Source, options: ReadOptions) -> Reader:
        return PlainText(source, options)


PLAIN_TEXT = PlainTextFormat()


class PlainText(RecordReader[Section]):
    """The text files of a source. Implements `Reader`."""

    name = PlainTextFormat.name
    unit = "line"
    wanted = "text, with dates on lines of their own"

    def records(self) -> Iterator[Record[Section] | Reject]:
        asked = self.options
        for name in self.planned(_texts(self.source) or self.source.names):
            self.options = with_shown_order(self, name, _dates)
            with self.open(name) as file:
                for number, section in self._sections(name, text_lines(file)):
                    yield Record(self.shown(name), number, section)
            self.options = asked

    def _sections(self, name: str, lines: Iterator[Line]) -> Iterator[tuple[int, Section]]:
        """A file named by a date is one entry; else the dates in it cut it."""
        date = day_in_name(name)
        if date is None:
            return sections(lines, dated_line, paragraphs=True)
        return ((number, Section(date, found.text)) for number, found in sections(lines, lambda _: None, paragraphs=False))

    def read(self, record: Record[Section]) -> Turn | LeftOut:
        require_utf8(record.content.text)
        return Turn(record.content.text, self.moment(record, record.content.date))

    def raw(self, content: Section) -> str:
        return content.raw


def dated_line(line: str) -> Dated | None:
    """The date a line consists of or begins with."""
    alone = _LABEL.sub("", line, count=1).strip(_ROUND_A_DATE)
    if is_day(alone):
        return Dated(alone)
    match = _BEGINS_WITH_DATE.match(line)
    return Dated(match["date"], match["rest"]) if match and is_day(match["date"]) else None


def _dates(file: BinaryIO) -> Iterator[str]:
    return (found.date for line in text_lines(file) if (found := dated_line(line.text)) is not None)


def _is_prose(start: bytes) -> bool:
    """No NUL, no markup, no JSON, and few of its lines are messages of a chat."""
    text = start.decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if line.strip()][:_LINES_LOOKED_AT]
    messages = sum(bool(_CHAT_LINE.match(line)) for line in lines)
    dates = sum(bool(_CHAT_LINE.match(line) or dated_line(line)) for line in lines)
    return "\x00" not in text and not _OTHER_FORMAT.match(text) and 2 * messages <= dates


def _texts(source: Source) -> list[str]:
    """Files named as text; a file without an ending is taken at its content."""
    named = [name for name in source.names if name.casefold().endswith(_ENDINGS)]
    alone = [name for name in source.names if len(source.names) == 1 and not PurePosixPath(name).suffix]
    return named or alone
