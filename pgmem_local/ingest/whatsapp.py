"""WhatsApp's exported chats, from iPhones and Android phones: text files of lines such as "31/08/24, 18:58 - Name: words".

A file has no zone, no ids and no word on who its owner is. The order of its dates is read from the whole file in a first pass or
asked (--day-first, --month-first), and so is the owner's name (--me). Lines without a date belong to the message above them.

A line that somebody pastes into a message looks like a message of its own where it has the form of this very phone's export. Lines
of another form, and dates that are none in this file's order, stay part of the message they are in; what stands in the owner's name
and is dated well before the lines above it is rejected, since nobody's own messages arrive late. More than that no reader can tell.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import PurePath
from typing import BinaryIO

from pgmem_local.conversation import Turn
from pgmem_local.errors import IngestError
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.people import Names, own_or_others, same_name
from pgmem_local.ingest.reader import Counts, Reader
from pgmem_local.ingest.records import LeftOut, Record, RecordReader, Rejected
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.source import FileSource, Source, head
from pgmem_local.ingest.text_files import require_utf8
from pgmem_local.ingest.whatsapp_dates import ArrivalOrder, DateEvidence, DateOrder, Stamp
from pgmem_local.ingest.whatsapp_wording import SYSTEM, sender_and_text, words_of

LONGEST_MESSAGE = 100_000
"""Characters; WhatsApp itself allows 65,536."""
PASTED = (
    "in your name, but dated more than a day before the message above it, as in a chat pasted into a message;"
    " if it is yours, put it into a file of its own"
)

_READ_AT_ONCE = 64 * 1024
_LINES_LOOKED_AT = 40
_FIRST_LINE_SHOWN = 80
_ADDRESSED = re.compile(r"WhatsApp.*?\s(?:with|mit|con|avec|com|met|med|с|z|ile|-)\s(?P<name>.+)", re.IGNORECASE)


class WhatsApp:
    """Exported chats, each a text file; also in a folder or archive with the media beside it. Implements `Format`."""

    name = "whatsapp"
    title = "WhatsApp chat export"

    def recognise(self, source: Source) -> str | None:
        for name in _text_files(source):
            if (stamp := _first_stamp(source, name)) is not None:
                return f"{name} begins with a message of {stamp}"
        return None

    def read(self, source: Source, options: ReadOptions) -> Reader:
        return WhatsAppReader(source, options)


def _text_files(source: Source) -> tuple[str, ...]:
    return tuple(name for name in source.names if name.lower().endswith(".txt"))


def _first_stamp(source: Source, name: str) -> str | None:
    """The first line's date and time, where that line is a message's and one of the first has a sender."""
    lines = [line for line in head(source, name).decode("utf-8", "replace").split("\n")[:_LINES_LOOKED_AT] if line.strip()]
    stamps = [(line, stamp) for line in lines if (stamp := Stamp.of(line)) is not None]
    if not stamps or stamps[0][0] is not lines[0]:
        return None
    if not any(sender_and_text(line[stamp.end :]) for line, stamp in stamps):
        return None
    return f"{stamps[0][1].written}, {stamps[0][1].clock.isoformat('minutes')}"


@dataclass(frozen=True)
class _Line:
    """One line, or a stretch of a very long one; only where `begins` can it be the beginning of a message."""

    number: int
    text: str
    begins: bool


def _lines(file: BinaryIO) -> Iterator[_Line]:
    number, begins = 1, True
    while piece := file.readline(_READ_AT_ONCE):
        yield _Line(number, piece.decode("utf-8", "surrogateescape").removesuffix("\n").removesuffix("\r"), begins)
        begins = piece.endswith(b"\n")
        number += begins


@dataclass
class _Survey:
    """What a first pass over one file finds, apart for lines of either form: of a phone, all lines have one."""

    today: date
    dates: dict[bool, DateEvidence] = field(init=False)
    names: dict[bool, Names] = field(init=False)
    first_line: str = ""

    def __post_init__(self) -> None:
        self.dates = {bracketed: DateEvidence(self.today) for bracketed in (True, False)}
        self.names = {bracketed: Names() for bracketed in (True, False)}

    def add(self, line: _Line) -> None:
        self.first_line = self.first_line or line.text.strip()[:_FIRST_LINE_SHOWN]
        stamp = Stamp.of(line.text) if line.begins else None
        if stamp is None:
            return
        self.dates[stamp.bracketed].add(stamp)
        if (sent := sender_and_text(line.text[stamp.end :])) is not None:
            self.names[stamp.bracketed].add(sent[0])

    @property
    def bracketed(self) -> bool:
        return self.dates[True].stamps > self.dates[False].stamps


@dataclass(frozen=True)
class _Plan:
    """How one file is to be read."""

    chat: str
    bracketed: bool
    order: DateOrder
    names: frozenset[str]

    def begins_message(self, line: _Line) -> bool:
        return line.begins and self.opened(line.text) is not None

    def opened(self, line: str) -> tuple[datetime, str] | None:
        """The time of a message of this file and what follows it; None for a line that goes on, or has another phone's form."""
        stamp = Stamp.of(line)
        local = stamp.local(self.order) if stamp and stamp.bracketed is self.bracketed else None
        return (local, line[stamp.end :]) if stamp and local else None


@dataclass
class _Gathered:
    """The lines of a message, as many as it may have."""

    number: int
    lines: list[str]
    length: int = 0
    complete: bool = True

    def add(self, line: _Line) -> None:
        self.length += len(line.text) + 1
        if self.length > LONGEST_MESSAGE:
            self.complete = False
        elif line.begins:
            self.lines.append(line.text)
        else:
            self.lines[-1] += line.text


WHATSAPP = WhatsApp()


class WhatsAppReader(RecordReader[str]):
    """Two passes: one to learn the form, the order of dates and the names of every file, one to read."""

    name = "whatsapp"
    unit = "line"
    wanted = "lines such as “31/08/24, 18:58 - Name: words” (the chat's menu, Export chat)"

    def __init__(self, source: Source, options: ReadOptions) -> None:
        super().__init__(source, options)
        self._plans: dict[str, _Plan] = {}
        self._arrival: defaultdict[str, ArrivalOrder] = defaultdict(ArrivalOrder)
        self._me = options.me

    def records(self) -> Iterator[Record[str] | Reject]:
        surveys = {name: self._surveyed(name) for name in self._chats()}
        plans = self._planned(surveys)
        self._plans = {self.shown(name): plan for name, plan in plans.items()}
        for name in self.planned(plans):
            yield from self._messages(name, plans[name])

    def read(self, record: Record[str]) -> Turn | LeftOut:
        plan = self._plans[record.file]
        require_utf8(record.content)
        opened = plan.opened(record.content)
        assert opened is not None  # only such lines begin a record
        local, said = opened
        is_behind = self._arrival[record.file].is_behind(local)
        sent = sender_and_text(said, plan.names)
        if sent is None:
            return LeftOut(SYSTEM)
        name, text = sent
        words, reason = words_of(text, plan.bracketed)
        if reason is not None:
            return LeftOut(reason)
        is_owner = same_name(name, self._me)
        if is_owner and is_behind:
            raise Rejected(PASTED)
        return own_or_others(words.strip(), name, is_owner, plan.chat, self.moment(record, local.isoformat()))

    # ---------------------------------------------------------------- first pass

    def _chats(self) -> tuple[str, ...]:
        """The chats among the files; all text files where the user insists on this format."""
        files = _text_files(self.source) or self.source.names
        return tuple(name for name in files if _first_stamp(self.source, name)) or files

    def _surveyed(self, name: str) -> _Survey:
        survey = _Survey(self.options.now.date())
        with self.open(name, Counts()) as file:
            for line in _lines(file):
                survey.add(line)
        return survey

    def _planned(self, surveys: dict[str, _Survey]) -> dict[str, _Plan]:
        chats = {name: survey for name, survey in surveys.items() if survey.dates[survey.bracketed].stamps}
        if not chats:
            first = next((survey.first_line for survey in surveys.values() if survey.first_line), "")
            raise IngestError(f"{self.source.path}: no message found; it begins {first!r}, expected {self.wanted}")
        everybody = Names()
        for survey in chats.values():
            everybody.update(survey.names[survey.bracketed])
        self._me = everybody.owner(self.options.me, self.source.path)
        orders = {name: self._order(survey) for name, survey in chats.items()}
        return {name: self._plan(name, survey, self._decided(name, survey, orders)) for name, survey in chats.items()}

    def _order(self, survey: _Survey) -> DateOrder | None:
        if self.options.day_first is not None:
            return DateOrder.DAY_FIRST if self.options.day_first else DateOrder.MONTH_FIRST
        return survey.dates[survey.bracketed].order()

    def _decided(self, name: str, survey: _Survey, orders: dict[str, DateOrder | None]) -> DateOrder:
        """The file's own order, else that which all chats exported with it have."""
        shared = {order for order in orders.values() if order is not None}
        order = orders[name] or (shared.pop() if len(shared) == 1 else None)
        if order is None:
            doubtful = survey.dates[survey.bracketed].doubtful
            raise IngestError(
                f"{self.shown(name)}: a date such as {doubtful} may have the day or the month first, and nothing in the file"
                " tells; say --day-first or --month-first"
            )
        return order

    def _plan(self, name: str, survey: _Survey, order: DateOrder) -> _Plan:
        names = survey.names[survey.bracketed].counted
        return _Plan(self._chat_name(name, names), survey.bracketed, order, frozenset(names))

    def _chat_name(self, name: str, names: Iterable[str]) -> str:
        """From the file's name, the archive's or folder's where that says nothing, else from whom the chat is with."""
        inside = PurePath(name)
        places = [inside.stem, *reversed(inside.parts[:-1])]
        if not isinstance(self.source, FileSource):
            places.append(PurePath(self.source.path).stem)
        for place in places:
            if (match := _ADDRESSED.search(place)) is not None:
                return match["name"]
        others = [one for one in names if not same_name(one, self._me)]
        if not inside.stem.startswith("_chat"):
            return inside.stem
        return others[0] if len(others) == 1 else "WhatsApp group"

    # ---------------------------------------------------------------- second pass

    def _messages(self, name: str, plan: _Plan) -> Iterator[Record[str] | Reject]:
        gathered: _Gathered | None = None
        with self.open(name) as file:
            for line in _lines(file):
                if plan.begins_message(line):
                    if gathered is not None:
                        yield self._record(name, gathered)
                    gathered = _Gathered(line.number, [line.text], len(line.text))
                elif gathered is not None:
                    gathered.add(line)
                elif line.text.strip():
                    yield self.reject(Record(self.shown(name), line.number, line.text), "stands before the first message")
                else:
                    self.counts.blank += 1
        if gathered is not None:
            yield self._record(name, gathered)

    def _record(self, name: str, gathered: _Gathered) -> Record[str] | Reject:
        record = Record(self.shown(name), gathered.number, "\n".join(gathered.lines))
        if gathered.complete:
            return record
        return self.reject(record, f"longer than {LONGEST_MESSAGE} characters: no message; only its beginning is kept here")
