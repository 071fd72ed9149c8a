"""The date and time in front of a WhatsApp message: how they are written, and which of their parts is the day.

WhatsApp writes both as the phone's language and region do: "[31/08/2024, 18:58:07]" (iOS), "8/31/24, 6:58 PM -" (Android),
"2024. 8. 31. 오후 6:58 -" … No line says which part is the day, so the whole file is looked at: an order that gives impossible
dates, or dates that run backwards, is not the one. Where two orders are left, nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from enum import Enum

MARKS = "\u200e\u200f\u061c\u200b\u202a-\u202e\u2066-\u2069\ufeff"
"""Invisible marks that WhatsApp sets around lines, names and parts of a date."""

_M = f"[{MARKS}]{{0,4}}"
_HALF = (
    r"(?P<{0}>[ap][.]?\s?m\b[.]?|[πμ][.]?\s?μ[.]?|[صم](?!\w)|午前|午後|上午|下午|凌晨|早上|中午|晚上|清晨|오전|오후|\b(?:SA|CH)\b"
    r"|पूर्वाह्न|अपराह्न)"
)
_AFTERNOON = ("p", "μ", "م", "午後", "下午", "中午", "晚上", "오후", "ch", "अपराह्न")
_STAMP = re.compile(
    rf"{_M}(?P<bracket>\[)?{_M}"
    rf"(?P<one>\d{{1,4}}){_M}(?P<mark>[-/.])\s?{_M}(?P<two>\d{{1,2}}){_M}(?P=mark)\s?{_M}(?P<three>\d{{1,4}})(?!\d)[.]?{_M}"
    rf"(?:[,،]\s{{0,2}}|\s{{1,2}}){_M}(?:(?!\d)[^\W\d_]{{1,3}}[.]?\s)??"  # a word such as "kl." before the time
    rf"(?:{_HALF.format('before')}\s?)?"
    rf"(?P<hour>\d{{1,2}})[:.](?P<minute>\d{{2}})(?:[:.](?P<second>\d{{2}}))?(?!\d){_M}"
    rf"(?:\s?{_HALF.format('after')})?{_M}"
    rf"(?(bracket)\]\s?|\s[-–—]\s){_M}",
    re.IGNORECASE,
)
_SERVICE_BEGAN = date(2009, 1, 1)
_CLOCKS_MAY_DIFFER = timedelta(days=2)
_STRAY_LINES = 50
"""One line in so many may be a date that was pasted from elsewhere."""

_LONGEST_PASTE = 20
"""Lines of another time within a chat that are taken for pasted into it."""


class DateOrder(Enum):
    """Which part of 01/02/03 is what."""

    DAY_FIRST = ("day", "month", "year")
    MONTH_FIRST = ("month", "day", "year")
    YEAR_FIRST = ("year", "month", "day")


@dataclass(frozen=True)
class Stamp:
    """What stands in front of a message, not yet read as a date. `bracketed` tells iOS from Android, `end` where it ends in the line."""

    parts: tuple[str, str, str]
    clock: time
    bracketed: bool
    end: int

    @classmethod
    def of(cls, line: str) -> Stamp | None:
        match = _STAMP.match(line)
        clock = None if match is None else _clock(match)
        if match is None or clock is None:
            return None
        return cls((match["one"], match["two"], match["three"]), clock, match["bracket"] is not None, match.end())

    @property
    def written(self) -> str:
        return "/".join(self.parts)

    def day(self, order: DateOrder) -> date | None:
        """The date in this order; four digits are a year wherever they stand."""
        if len(self.parts[0]) == 4:
            order = DateOrder.YEAR_FIRST
        named = dict(zip(order.value, self.parts, strict=True))
        if len(named["year"]) not in (2, 4):
            return None
        year = int(named["year"])
        try:
            return date(year if year > 99 else 2000 + year, int(named["month"]), int(named["day"]))
        except ValueError:
            return None

    def local(self, order: DateOrder) -> datetime | None:
        """On the phone's clock."""
        day = self.day(order)
        return None if day is None else datetime.combine(day, self.clock)


def _clock(match: re.Match[str]) -> time | None:
    hour = int(match["hour"])
    half = (match["before"] or match["after"] or "").casefold()
    if half and hour <= 12:
        hour = hour % 12 + (12 if half.startswith(_AFTERNOON) else 0)
    try:
        return time(hour, int(match["minute"]), int(match["second"] or 0))
    except ValueError:
        return None


@dataclass
class _Reading:
    """How the dates of a file come out in one order."""

    impossible: int = 0
    backwards: int = 0
    _last: date | None = None

    def add(self, day: date | None, today: date) -> None:
        if day is None or not _SERVICE_BEGAN <= day <= today + _CLOCKS_MAY_DIFFER:
            self.impossible += 1
            return
        if self._last is not None and self._last - day > timedelta(days=1):  # a message may arrive a little late
            self.backwards += 1
        self._last = day


@dataclass
class DateEvidence:
    """What the dates of one file tell about their order."""

    today: date
    stamps: int = 0
    doubtful: str | None = None
    """The first date whose day could be its month."""
    _readings: dict[DateOrder, _Reading] = field(default_factory=lambda: {order: _Reading() for order in DateOrder})

    def add(self, stamp: Stamp) -> None:
        self.stamps += 1
        days = {order: stamp.day(order) for order in DateOrder}
        for order, day in days.items():
            self._readings[order].add(day, self.today)
        first, second = days[DateOrder.DAY_FIRST], days[DateOrder.MONTH_FIRST]
        if self.doubtful is None and first and second and first != second:
            self.doubtful = stamp.written

    def order(self) -> DateOrder | None:
        """The one order the file can have; None where more than one is left."""
        fitting = list(self._fitting())
        if len(fitting) > 1 and self.doubtful is None:
            return fitting[0]
        forward = [order for order in fitting if self._runs_forward(order, fitting)]
        return forward[0] if len(forward) == 1 else None

    def _fitting(self) -> Iterator[DateOrder]:
        for order, reading in self._readings.items():
            if reading.impossible * _STRAY_LINES <= self.stamps:
                yield order

    def _runs_forward(self, order: DateOrder, rivals: list[DateOrder]) -> bool:
        """Whether the dates go back far more often in every other order."""
        own = self._readings[order].backwards
        return all(self._readings[rival].backwards > 10 * own for rival in rivals if rival is not order)


@dataclass
class ArrivalOrder:
    """Tells lines that are dated well before those above them: a chat is written down in the order in which it arrives.

    Single lines may be out of it, but a file put together from two begins anew: after `_LONGEST_PASTE` such lines, so does this.
    """

    _latest: datetime | None = None
    _behind: int = 0

    def is_behind(self, local: datetime) -> bool:
        if self._latest is None or local >= self._latest - timedelta(days=1):
            self._latest = max(local, self._latest or local)
            self._behind = 0
            return False
        self._behind += 1
        if self._behind > _LONGEST_PASTE:
            self._latest, self._behind = local, 0
            return False
        return True
