"""Tables: CSV or TSV whose first line names the columns, one entry or chat turn a row.

Columns go by the names that JSON Lines take for fields, or by the user's own (--map). A quote that is never closed costs its own
row alone: what it swallowed is read again.
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from pgmem_local.conversation import Turn
from pgmem_local.ingest.fields import names_of_fields, plain, turn_of
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.reader import Reader
from pgmem_local.ingest.records import LONGEST_RAW, LeftOut, Record, RecordReader, Rejected
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.source import Source, head
from pgmem_local.ingest.text_files import require_utf8, with_shown_order

LONGEST_LINE = 1024 * 1024

_ENDINGS = (".csv", ".tsv", ".tab")
_DELIMITERS = (",", ";", "\t", "|")
_SEPARATOR_LINE = re.compile(r"\ufeff?sep=([,;|\t])\s*$", re.I)
_SAME_NAME = "two columns of one name: the first counts"
_COLUMNS_SHOWN = 12
_LETTERS_SHOWN = 30


class TableFormat:
    """Files named .csv or .tsv: alone, or among others if a column holds the text. Implements `Format`."""

    name = "table"
    title = "CSV, TSV"

    def recognise(self, source: Source) -> str | None:
        names = names_of_fields({})
        for name in _tables(source):
            columns = _first_columns(head(source, name))
            if len(source.names) == 1 or any(plain(column) in names["text"] for column in columns):
                return f"{name} has the columns {_shown(columns)}"
        return None

    def read(self, source: Source, options: ReadOptions) -> Reader:
        return Table(source, options)


TABLE = TableFormat()


@dataclass(frozen=True)
class Row:
    """One row: its cells by the `plain` names of their columns, or the problem with it, and the lines it stands on."""

    raw: str
    cells: dict[str, str] | None = None
    problem: str | None = None


class Table(RecordReader[Row]):
    """All tables of a source. Implements `Reader`."""

    name = TableFormat.name
    unit = "line"
    wanted = "a table whose first line names its columns, such as timestamp,text or timestamp,session,role,content"

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        self._names = names_of_fields(options.fields)

    def records(self) -> Iterator[Record[Row] | Reject]:
        asked = self.options
        for name in self.planned(_tables(self.source) or self.source.names):
            self.options = with_shown_order(self, name, self._dates)
            with self.open(name) as file:
                yield from self._rows(self.shown(name), file)
            self.options = asked

    def _dates(self, file: BinaryIO) -> Iterator[str]:
        header, rows = _opened(file)
        columns = [plain(name) for name in header.cells or ()] if header is not None else []
        for row in rows:
            cells = dict(zip(columns, row.cells or (), strict=False))
            yield from (cells[name] for name in self._names["timestamp"] if name in cells)

    def _rows(self, shown: str, file: BinaryIO) -> Iterator[Record[Row] | Reject]:
        header, rows = _opened(file)
        if header is None:
            return
        if (problem := self._problem_with(header)) is not None:
            yield self.reject(Record(shown, header.number, Row(header.raw)), problem)
            return
        columns = [plain(name) for name in header.cells or ()]
        if len(set(columns)) < len(columns):
            self.counts.note(shown, header.number, _SAME_NAME)
        for row in rows:
            if _is_blank(row):
                self.counts.blank += 1
            else:
                yield Record(shown, row.number, _named(row, columns))

    def _problem_with(self, header: _Parsed) -> str | None:
        """Why the first line does not say where the text and what else the user has named is."""
        if header.cells is None:
            return f"the first line does not name the columns: {header.problem}"
        columns = {plain(name) for name in header.cells}
        missing = [own for own in self.options.fields.values() if plain(own) not in columns]
        if missing:
            return f"no column is called {missing[0]!r}; the columns are {_shown(header.cells)}"
        if not columns.intersection(self._names["text"]):
            return f"no column is known to hold the text; the columns are {_shown(header.cells)}; say which with --map text=COLUMN"
        return None

    def read(self, record: Record[Row]) -> Turn | LeftOut:
        row = record.content
        require_utf8(row.raw)
        if row.cells is None:
            raise Rejected(row.problem or "not a row")
        if not any(row.cells.get(name, "").strip() for name in self._names["text"]):
            return LeftOut("a row without text")
        return turn_of(self, record, row.cells, self._names)

    def raw(self, content: Row) -> str:
        return content.raw[:LONGEST_RAW]


@dataclass(frozen=True)
class _Parsed:
    number: int
    raw: str
    cells: list[str] | None = None
    problem: str | None = None


class _Lines:
    """The lines of a file with their ends, numbered; those given back come again. `held` are the lines of the row at hand."""

    def __init__(self, file: BinaryIO) -> None:
        self.number = 0
        self.held: list[str] = []
        self.too_long = False
        self._file = file
        self._waiting: deque[str] = deque()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._waiting.popleft() if self._waiting else self._read()
        if not line:
            raise StopIteration
        self.number += 1
        self.held.append(line)
        return line

    def first(self) -> str:
        """The first line that is not blank, without taking it."""
        line = next((line for line in self if line.strip()), "")
        self.give_back(self.held)
        return line

    def give_back(self, lines: list[str]) -> None:
        self._waiting.extendleft(reversed(lines))
        self.number -= len(lines)
        self.held = []

    def _read(self) -> str:
        line = self._file.readline(LONGEST_LINE)
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            self.too_long = True
            while (rest := self._file.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                pass
        return line.decode("utf-8", "surrogateescape")


def _opened(file: BinaryIO) -> tuple[_Parsed | None, Iterator[_Parsed]]:
    """(the row that names the columns, the rows after it)."""
    lines = _Lines(file)
    rows = _parsed(lines, delimiter_of(lines.first()))
    return next((row for row in rows if not _is_blank(row) and not _SEPARATOR_LINE.match(row.raw)), None), rows


def _parsed(lines: _Lines, delimiter: str) -> Iterator[_Parsed]:
    """The rows of a table, and what stands where none could be made out."""
    rows = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)
    while True:
        start, lines.held, lines.too_long = lines.number + 1, [], False
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            first, *swallowed = lines.held
            lines.give_back(swallowed)
            yield _Parsed(start, first, problem=_explained(error, delimiter))
            continue
        raw = "".join(lines.held)
        yield _Parsed(start, raw, problem=f"longer than {LONGEST_LINE // 2**20} MiB") if lines.too_long else _Parsed(start, raw, cells)


def _named(row: _Parsed, columns: list[str]) -> Row:
    """The row with its cells under their columns; empty cells too many are nothing."""
    cells = row.cells
    if cells is None:
        return Row(row.raw, problem=row.problem)
    if any(cells[len(columns) :]):
        return Row(row.raw, problem=f"{len(cells)} cells under {len(columns)} columns: put quotes round a text that holds the separator")
    return Row(row.raw, dict(zip(reversed(columns[: len(cells)]), reversed(cells[: len(columns)]), strict=True)))


def _explained(error: csv.Error, delimiter: str) -> str:
    known = {
        "unexpected end of data": "a quote that is never closed",
        "field larger": "a text of more than 131072 characters, or a quote that is never closed",
        "expected after": f'a quote that is neither doubled ("") nor followed by {delimiter!r}',
    }
    return next((said for part, said in known.items() if part in str(error)), f"not a row of a table ({error})")


def delimiter_of(line: str) -> str:
    """What separates the columns this line names: what Excel's "sep=;" says, else what makes most known names of it, then most names."""
    if named := _SEPARATOR_LINE.match(line):
        return named[1]
    names = {known for ours in names_of_fields({}).values() for known in ours}

    def worth(delimiter: str) -> tuple[int, int]:
        columns = _cells(line, delimiter)
        return len(names.intersection(plain(column) for column in columns)), len(columns)

    return max(_DELIMITERS, key=worth)


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    except csv.Error:
        return []


def _first_columns(start: bytes) -> list[str]:
    lines = start.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").splitlines()
    first, second = [*(line for line in lines if line.strip()), "", ""][:2]
    return _cells(second if _SEPARATOR_LINE.match(first) else first, delimiter_of(first))


def _shown(columns: list[str]) -> str:
    names = [column.strip()[:_LETTERS_SHOWN] for column in columns[:_COLUMNS_SHOWN]]
    return ", ".join(names) + (", …" if len(columns) > _COLUMNS_SHOWN else "")


def _is_blank(row: _Parsed) -> bool:
    return row.cells is not None and not any(cell.strip() for cell in row.cells)


def _tables(source: Source) -> list[str]:
    return [name for name in source.names if name.casefold().endswith(_ENDINGS)]
