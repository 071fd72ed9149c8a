"""Dates in English text, resolved against the day the text was written (ProGraph, section 3.1: relative expressions).

Words and a moment come in, absolute dates come out; nothing here reads a clock, and no model is asked. Where the words allow two
days ("next Friday", said on a Tuesday) both are kept and the date is doubtful. A day without a year in a sentence about a birthday is
left alone: it comes back every year. Words of other languages are left as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from enum import Enum

from pgmem_local.conversation import Moment


class Grain(str, Enum):
    """How exactly a date is known; the day beside it is where that time begins."""

    DAY = "day"
    WEEKEND = "weekend"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True)
class Dated:
    """Words of a text from `start` to `end` that mean a date. `other` is the second day they may mean."""

    start: int
    end: int
    words: str
    day: date
    grain: Grain = Grain.DAY
    other: date | None = None
    relative: bool = True

    @property
    def doubtful(self) -> bool:
        return self.other is not None

    def __str__(self) -> str:
        if self.other is not None:
            return f"{self.day} or {self.other}"
        return written(self.day, self.grain)


def written(day: date, grain: Grain) -> str:
    """A date as a reader sees it, no more exact than it is known."""
    if grain in (Grain.WEEK, Grain.WEEKEND):
        return f"{grain.value} of {day}"
    if grain is Grain.MONTH:
        return f"{_MONTHS[day.month - 1].capitalize()} {day.year}"
    return str(day.year) if grain is Grain.YEAR else str(day)


def day_moment(day: date, said: Moment) -> Moment:
    """The beginning of a day on the clock of whoever spoke."""
    try:
        return Moment.of(datetime.combine(day, time(), timezone(timedelta(minutes=said.offset_minutes))))
    except OverflowError:  # east of Greenwich the first day there is begins before UTC can tell it
        return Moment(datetime.min.replace(tzinfo=timezone.utc), said.offset_minutes)


def find_dates(text: str, said: Moment | None) -> list[Dated]:
    """The dates a text names, in its order. Without a moment only complete ones are resolved."""
    found: list[Dated] = []
    for dated in sorted(_all(text, said.day if said else None), key=lambda one: (one.start, -one.end)):
        if not found or dated.start >= found[-1].end:
            found.append(dated)
    return found


def with_dates(text: str, said: Moment | None, today: bool = True) -> str:
    """The text with each relative date spelled out behind its words: yesterday (2025-12-29). today: also the day of the text itself."""
    for dated in reversed(find_dates(text, said)):
        if dated.relative and (today or said is None or dated.day != said.day):
            text = f"{text[: dated.end]} ({dated}){text[dated.end :]}"
    return text


# ------------------------------------------------------------------ what the words mean

_MONTHS = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905
_NUMBERS = {word: n for n, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())} | {  # noqa: SIM905
    "a": 1, "an": 1, "a couple of": 2,
}  # fmt: skip
_VAGUE = {"a few": 3, "several": 4}

_MONTH = rf"(?P<month>{'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in _MONTHS)}|sept)\.?"
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_WEEKDAY = rf"(?P<weekday>{'|'.join(WEEKDAYS)})"
_PART_OF_DAY = r"(?:morning|afternoon|evening|night)"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join((*_NUMBERS, *_VAGUE))})"
_UNIT = r"(?P<unit>day|week|month|year)s?"
_BIRTHDAY = re.compile(r"\b(birthday|born|name day|anniversary)\b", re.IGNORECASE)
_PAST = re.compile(
    r"\b(was|were|had|did|went|bought|met|came|saw|got|left|told|said|made|took|gave|found|lost|began|ran|won|sent|fell|felt|held"
    r"|[a-z]{2,}ed)\b",
    re.IGNORECASE,
)
_AHEAD = re.compile(r"\b(will|going to|starts?|begins?|leaves?|plans?|is|are|has to|must|may|might|tomorrow)\b|'ll\b|’ll\b", re.IGNORECASE)


@dataclass(frozen=True)
class _Setting:
    """Where an expression stands: the day of the text, and whether the sentence around it tells of what is over."""

    today: date
    past: bool
    yearly: bool


_Meaning = tuple[date, Grain, "date | None"]
_Rule = Callable[[re.Match[str], _Setting], "_Meaning | None"]


def _all(text: str, today: date | None) -> Iterator[Dated]:
    for pattern, rule, complete in _RULES:
        if today is None and not complete:
            continue
        for match in pattern.finditer(text):
            meaning = _read(match, rule, text, today or date.min)
            if meaning is not None:
                day, grain, other = meaning
                yield Dated(match.start(), match.end(), match[0], day, grain, other, relative=not complete)


def _read(match: re.Match[str], rule: _Rule, text: str, today: date) -> _Meaning | None:
    sentence = _sentence_around(text, match.start())
    past = bool(_PAST.search(sentence)) and not _AHEAD.search(sentence)
    try:
        return rule(match, _Setting(today, past, bool(_BIRTHDAY.search(sentence))))
    except (ValueError, OverflowError):  # the 31st of June is no day
        return None


def _sentence_around(text: str, place: int) -> str:
    start = max(text.rfind(stop, 0, place) for stop in ".!?\n") + 1
    ends = [at for stop in ".!?\n" if (at := text.find(stop, place)) >= 0]
    return text[start : min(ends, default=len(text))]


def _iso(match: re.Match[str], _: _Setting) -> _Meaning:
    return date(int(match["year"]), int(match["number"]), int(match["day"])), Grain.DAY, None


def _full(match: re.Match[str], _: _Setting) -> _Meaning:
    return date(int(match["year"]), _month(match), int(match["day"])), Grain.DAY, None


def _month_of_year(match: re.Match[str], _: _Setting) -> _Meaning:
    return date(int(match["year"]), _month(match), 1), Grain.MONTH, None


def _day_of_month(match: re.Match[str], setting: _Setting) -> _Meaning | None:
    """ "3 June": that day in the year that brings it nearest, unless it comes back every year."""
    if setting.yearly:
        return None
    years = (setting.today.year + step for step in (-1, 0, 1))
    days = [date(year, _month(match), int(match["day"])) for year in years]
    return min(days, key=lambda day: abs(day - setting.today)), Grain.DAY, None


def _numbered_weekday(match: re.Match[str], setting: _Setting) -> _Meaning | None:
    """ "Friday the 31st": the nearest Friday that is a 31st."""
    near = (setting.today + timedelta(days=step * sign) for step in range(370) for sign in (1, -1))
    wanted = (WEEKDAYS.index(match["weekday"].lower()), int(match["day"]))
    return next(((day, Grain.DAY, None) for day in near if (day.weekday(), day.day) == wanted), None)


def _near_day(match: re.Match[str], setting: _Setting) -> _Meaning:
    return setting.today + timedelta(days=_NEAR_DAYS[" ".join(match[0].lower().split())]), Grain.DAY, None


def _ago(match: re.Match[str], setting: _Setting) -> _Meaning:
    return _moved(match, setting, -1)


def _ahead(match: re.Match[str], setting: _Setting) -> _Meaning:
    return _moved(match, setting, 1)


def _moved(match: re.Match[str], setting: _Setting, sign: int) -> _Meaning:
    """Days and weeks count to the day, months and years only to themselves; "a few" is no number and gives a month."""
    words = " ".join(match["count"].lower().split())
    count = sign * (_VAGUE.get(words) or _NUMBERS.get(words) or int(words))
    unit, today = match["unit"].lower(), setting.today
    if unit in ("day", "week"):
        day = today + timedelta(days=count * (7 if unit == "week" else 1))
        return (day.replace(day=1), Grain.MONTH, None) if words in _VAGUE else (day, Grain.DAY, None)
    if unit == "month":
        return _month_away(today, count), Grain.MONTH, None
    return date(today.year + count, 1, 1), Grain.YEAR, None


def _this_unit(match: re.Match[str], setting: _Setting) -> _Meaning:
    step = {"last": -1, "this": 0, "next": 1}[match["which"].lower()]
    unit, today = match["unit"].lower(), setting.today
    if unit == "week":
        return today + timedelta(days=7 * step - today.weekday()), Grain.WEEK, None
    if unit == "weekend":
        return today + timedelta(days=7 * step - today.weekday() + WEEKDAYS.index("saturday")), Grain.WEEKEND, None
    if unit == "month":
        return _month_away(today, step), Grain.MONTH, None
    return date(today.year + step, 1, 1), Grain.YEAR, None


def _weekday(match: re.Match[str], setting: _Setting) -> _Meaning | None:
    """The coming Friday, or the one before where the sentence tells of what is over; on a Friday "Friday." alone is that day, as at the
    head of a diary's page. "Every Friday" is no date."""
    which = (match["which"] or "").lower()
    if which in ("every", "each", "most", "other"):
        return None
    ahead = (WEEKDAYS.index(match["weekday"].lower()) - setting.today.weekday()) % 7
    if not which and not ahead:
        return setting.today, Grain.DAY, None
    coming, before = setting.today + timedelta(days=ahead or 7), setting.today - timedelta(days=(-ahead) % 7 or 7)
    if which == "next":
        return coming, Grain.DAY, coming + timedelta(days=7) if _same_week(coming, setting.today) else None
    if which == "last":
        return before, Grain.DAY, before - timedelta(days=7) if _same_week(before, setting.today) else None
    return (before if setting.past or which == "since" else coming), Grain.DAY, None


def _same_week(one: date, other: date) -> bool:
    return one.isocalendar()[:2] == other.isocalendar()[:2]


def _month(match: re.Match[str]) -> int:
    return next(number for number, name in enumerate(_MONTHS, 1) if name.startswith(match["month"].lower()[:3]))


def _month_away(today: date, months: int) -> date:
    place = today.year * 12 + today.month - 1 + months
    return date(place // 12, place % 12 + 1, 1)


_NEAR_DAYS = {
    "day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0,
    "this evening": 0, "tomorrow": 1, "day after tomorrow": 2,
}  # fmt: skip


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b{words}\b".replace(" ", r"\s+"), re.IGNORECASE)


_RULES: tuple[tuple[re.Pattern[str], _Rule, bool], ...] = (
    (_pattern(rf"{_YEAR}-(?P<number>\d\d)-(?P<day>\d\d)"), _iso, True),
    (_pattern(rf"{_DAY}(?: of)? {_MONTH},? {_YEAR}"), _full, True),
    (_pattern(rf"{_MONTH} {_DAY},? {_YEAR}"), _full, True),
    (_pattern(rf"{_MONTH} {_YEAR}"), _month_of_year, True),
    (_pattern(rf"(?:on )?{_WEEKDAY},? (?:the )?{_DAY}(?: of)? {_MONTH}"), _day_of_month, False),
    (_pattern(rf"{_DAY}(?: of)? {_MONTH}"), _day_of_month, False),
    (_pattern(rf"{_MONTH} {_DAY}"), _day_of_month, False),
    (_pattern(rf"(?:on )?{_WEEKDAY},? the {_DAY}"), _numbered_weekday, False),
    (_pattern("|".join(_NEAR_DAYS).join(("(?:", ")"))), _near_day, False),
    (_pattern(rf"{_COUNT} {_UNIT} ago"), _ago, False),
    (_pattern(rf"in {_COUNT} {_UNIT}(?: time)?"), _ahead, False),
    (_pattern(r"(?P<which>last|this|next) (?P<unit>weekend|week|month|year)"), _this_unit, False),
    (_pattern(rf"(?:(?P<which>last|this|next|every|each|most|other|since|on) )?{_WEEKDAY}(?!s| {_PART_OF_DAY}s)"), _weekday, False),
)
"""Pattern, rule, and whether the words alone make a whole date."""
