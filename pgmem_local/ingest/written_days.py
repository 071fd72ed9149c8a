"""A date as people and their programs write it in words -> `Moment`: "Sunday, March 3rd 2025", "3 de noviembre de 2024", "2024年9月15日".

Adds to `moments` the names of months and weekdays, from CLDR in the languages below. Nothing is guessed: every word must be known in
one language, day and year must both stand there, and where two languages read two dates the weekday has to decide.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timezone, tzinfo
from functools import lru_cache
from pathlib import PurePosixPath

from pgmem_local.ingest.moments import NO_TIME, UNREADABLE, ParsedMoment, parse_moment

CONTRADICTED = "the weekday contradicts the date: the date counts"

_LONGEST = 60
_LANGUAGES = (
    *("en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "fi", "is", "pl", "cs", "sk", "hu", "ro", "hr", "sl", "sr", "bg"),
    *("uk", "ru", "el", "tr", "ca", "et", "lv", "lt", "id", "ar", "hi", "ja", "zh", "zh_Hant", "ko"),
)
_SMALL_WORDS = frozenset(
    ("st", "nd", "rd", "th", "the", "of", "on", "at", "den", "der", "dem", "am", "um", "uhr", "le", "la", "las", "il", "el", "à", "às")
)
_CLOCK = re.compile(
    r"(?<![\d:])(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?(?:\s?(?P<half>[ap])\.?\s?m\b\.?)?"
    r"(?:\s?(?P<zone>z|(?:gmt|utc)?(?P<offset>[+-]\d{1,2}(?::?\d{2})?)|gmt|utc)(?![\w:]))?(?![\d:])"
)
_EAST_ASIAN = re.compile(r"(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日일]")
_NUMERIC = re.compile(r"(?<!\d)(\d{1,4})([-/._])(\d{1,2})\2(\d{1,4})(?!\d)")
_NUMBER = re.compile(r"\d+")
_MAY_HOLD_DATE = re.compile(r"\d{4}|\d[-/.]\d")
_BETWEEN_WORDS = re.compile(r"[^\w\u0300-\u036f\u0900-\u0957]+|\d+|_+")
_EITHER_ORDER = re.compile(r"(?<![-/.\d])(\d{1,2})([-/.])(\d{1,2})\2(?:\d{4}|\d{2})(?![-/.\d])")
_BARE_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)?")
_COMPACT_DAY = re.compile(r"(?:19|20)\d{6}")
_YEAR_MONTH_DAY = re.compile(r"\d{4}-\d{1,2}-\d{1,2}")
_LEADING_DAY = re.compile(r"(\d{4})[-_.]?(\d{2})[-_.]?(\d{2})(?!\d)")
_SOME_TIME = datetime(2100, 1, 1, tzinfo=timezone.utc)
_MOST_WORDS = 8
_QUOTED = re.compile(r"'([^']+)'")


@dataclass(frozen=True)
class _Language:
    """Names as they are written in dates, folded; `small` are words that stand between."""

    months: dict[str, int]
    weekdays: dict[str, int]
    small: frozenset[str]


@dataclass(frozen=True)
class _Written:
    """The same date in numbers, and the weekday it names (Monday is 0)."""

    date: str
    weekday: int | None


def parse_written(value: object, zone: tzinfo | None, now: datetime, day_first: bool | None = None) -> ParsedMoment:
    """Whatever `parse_moment` reads, and dates in words, with or without weekday and time of day."""
    parsed = parse_moment(value, zone, now, day_first)
    if parsed.note != UNREADABLE or not isinstance(value, str):
        return parsed
    text = value.strip()
    if len(text) > _LONGEST or not _MAY_HOLD_DATE.search(text):
        return parsed
    readings = {reading.moment: reading for reading in _readings(text, zone, now, day_first)}
    agreeing = [reading for reading in readings.values() if reading.note != CONTRADICTED]
    fitting = list(readings.values()) if len(readings) == 1 else agreeing
    return fitting[0] if len(fitting) == 1 else parsed


def is_day(text: str) -> bool:
    """Whether this is a date and nothing else, perhaps an ambiguous or impossible one. Of bare numbers, 20240915 is one."""
    text = text.strip()
    if not _MAY_HOLD_DATE.search(text) or (_BARE_NUMBER.fullmatch(text) and not _COMPACT_DAY.fullmatch(text)):
        return False
    return parse_written(text, timezone.utc, _SOME_TIME).note not in (UNREADABLE, NO_TIME)


def day_in_name(name: str) -> str | None:
    """The date a file is named by: 2024-09-15.md, "2024-09-15 Moving day.md", 2024/09/15.md, "Sunday, September 15th 2024.md"."""
    parts = PurePosixPath(name).with_suffix("").parts
    nested = "-".join(parts[-3:])
    if _YEAR_MONTH_DAY.fullmatch(nested) and is_day(nested):
        return nested
    stem = parts[-1] if parts else ""
    leading = _LEADING_DAY.match(stem)
    candidates = (stem, "-".join(leading.groups()) if leading else "")
    return next((text for text in candidates if is_day(text)), None)


def shown_order(dates: Iterable[str]) -> bool | None:
    """Whether the day comes first in dates such as 03/04/2025, where others like 13/04/2025 show it and none shows the contrary."""
    seen: set[bool] = set()
    for date in dates:
        if match := _EITHER_ORDER.search(date):
            one, two = int(match[1]), int(match[3])
            seen.update({True} if two <= 12 < one else {False} if one <= 12 < two else ())
    return seen.pop() if len(seen) == 1 else None


def _readings(text: str, zone: tzinfo | None, now: datetime, day_first: bool | None) -> Iterator[ParsedMoment]:
    """What each language makes of it. Where English reads it all, the others are not asked."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text, clock = _without_clock(_EAST_ASIAN.sub(r" \1-\2-\3 ", text))
    words = [word for word in _BETWEEN_WORDS.split(text) if word]
    if len(words) > _MOST_WORDS:
        return
    for name in _LANGUAGES:
        written = _in_numbers(text, words, _language(name))
        if written is None:
            continue
        parsed = parse_moment(f"{written.date} {clock}".strip(), zone, now, day_first)
        if parsed.moment is not None and written.weekday not in (None, parsed.moment.day.weekday()):
            parsed = replace(parsed, note=CONTRADICTED)
        yield parsed
        if name == "en":
            return


def _without_clock(text: str) -> tuple[str, str]:
    """The date alone, and the time of day as parse_moment takes it ("" where none is given)."""
    match = _CLOCK.search(text)
    if match is None:
        return text, ""
    hour = int(match["hour"])
    if match["half"]:
        hour = hour % 12 + (12 if match["half"] == "p" else 0)
    clock = f"{hour:02}:{match['minute']}:{match['second'] or '00'}{_zone(match)}"
    return f"{text[: match.start()]} {text[match.end() :]}", clock


def _zone(match: re.Match[str]) -> str:
    """GMT+2 as +02."""
    if not match["offset"]:
        return "Z" if match["zone"] else ""
    sign, digits = match["offset"][0], match["offset"][1:]
    hours = digits[:-3] if ":" in digits else digits[:-2] if len(digits) > 2 else digits
    return f"{sign}{hours:0>2}{digits[len(hours) :]}"


def _in_numbers(text: str, words: list[str], language: _Language) -> _Written | None:
    words = [word for word in words if word not in language.small]
    months = [word for word in words if word in language.months and word not in language.weekdays]
    months = months or [word for word in words if word in language.months]
    weekdays = [word for word in words if word not in months]
    if len(months) > 1 or len(weekdays) > 1 or not all(word in language.weekdays for word in weekdays):
        return None
    date = _with_month(text, language.months[months[0]]) if months else _numeric(text)
    return None if date is None else _Written(date, language.weekdays[weekdays[0]] if weekdays else None)


def _with_month(text: str, month: int) -> str | None:
    """Beside the month's name stand a day and a year of four digits, and no other number."""
    numbers = [str(int(number)) for number in _NUMBER.findall(text) if len(number) <= 4]
    years = [number for number in numbers if len(number) == 4]
    days = [number for number in numbers if len(number) <= 2]
    if len(_NUMBER.findall(text)) != 2 or not years or not days:
        return None
    return f"{years[0]}-{month:02}-{int(days[0]):02}"


def _numeric(text: str) -> str | None:
    match = _NUMERIC.search(text)
    if match is None or len(_NUMBER.findall(text)) != 3:
        return None
    mark = "-" if match[2] == "_" else match[2]
    return mark.join(str(int(part)) if len(part) < 3 else part for part in match.group(1, 3, 4))


@lru_cache(maxsize=len(_LANGUAGES))
def _language(name: str) -> _Language:
    from babel import Locale  # reads its data from files: only where a date in words is met

    locale = Locale.parse(name)
    months = _names(locale.months)
    weekdays = _names(locale.days)
    patterns = (locale.date_formats[width].pattern for width in ("full", "long", "medium"))
    small = {word for pattern in patterns for literal in _QUOTED.findall(pattern) for word in _BETWEEN_WORDS.split(literal.casefold())}
    return _Language(months, weekdays, frozenset(small | _SMALL_WORDS) - months.keys() - weekdays.keys())


def _names(tables: object) -> dict[str, int]:
    """Full and short names of all forms; one that stands for two things names neither."""
    found: dict[str, int] = {}
    doubtful: set[str] = set()
    for form in ("format", "stand-alone"):
        for width in ("wide", "abbreviated"):
            for number, name in tables[form][width].items():  # type: ignore[index]
                for spelling in _spellings(name):
                    if found.setdefault(spelling, number) != number:
                        doubtful.add(spelling)
    return {name: number for name, number in found.items() if name not in doubtful}


def _spellings(name: str) -> Iterator[str]:
    """As `_BETWEEN_WORDS` would cut it out of a line: one word without dots. Others, as 11月, are not names but numbers."""
    words = [word for word in _BETWEEN_WORDS.split(unicodedata.normalize("NFKC", name).casefold()) if word]
    if len(words) == 1 and not any(letter.isdigit() for letter in name):
        yield words[0]
