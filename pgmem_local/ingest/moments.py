"""When something was written: any of the ways files spell a time -> `Moment`. Nothing is guessed and nothing is invented.

An unreadable or missing time gives no moment, never the time of ingest. A time without a zone is read in the given zone, and the
note says so. A doubtful time is kept with a note: a past before 1900 may be real (old diaries are), and so may a future (clocks
are wrong). One that cannot be true is not: a number before 1980 is a clock that was never set, and a year far ahead would win
against everything newer.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pgmem_local.conversation import Moment
from pgmem_local.errors import IngestError

NO_TIME = "no time given: stored without one"
UNREADABLE = "time not understood: stored without one"
IMPOSSIBLE = "implausible time (never set, or far in the future): stored without one"
ANCIENT = "implausible time, before 1900: kept as given"
FUTURE = "implausible time, in the future: kept as given"

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_FIRST_PLAUSIBLE = datetime(1900, 1, 1, tzinfo=timezone.utc)
_FIRST_PLAUSIBLE_NUMBER = datetime(1980, 1, 1, tzinfo=timezone.utc)
_CLOCKS_MAY_DIFFER = timedelta(days=2)
_FAR_AHEAD = timedelta(days=3653)

_LONGEST_WRITTEN = 80
_NUMBER = re.compile(r"[+-]?[0-9]{1,20}(?:\.[0-9]{1,20})?")
_CLOCK = (
    r"(?:[T\s,]\s*(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,20}))?)?)?"
    r"\s*(?P<zone>Z|UTC|GMT|[+\-\u2212][0-9]{2}(?::?[0-9]{2})?)?(?:\[[^\]]*\])?"
)
_YEAR_FIRST = re.compile(r"(?P<year>[0-9]{4})(?P<mark>[-/.])(?P<month>[0-9]{1,2})(?P=mark)(?P<day>[0-9]{1,2})" + _CLOCK, re.I)
_COMPACT = re.compile(
    r"(?P<year>(?:19|20)[0-9]{2})(?P<month>[0-9]{2})(?P<day>[0-9]{2})"
    r"(?:T(?P<hour>[0-9]{2})(?P<minute>[0-9]{2})(?:(?P<second>[0-9]{2})(?P<fraction>))?(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?)?",
    re.I,
)
_DAY_OR_MONTH_FIRST = re.compile(
    r"(?P<one>[0-9]{1,2})(?P<mark>[-/.])(?P<two>[0-9]{1,2})(?P=mark)(?P<year>[0-9]{4}|[0-9]{2})" + _CLOCK, re.I
)


@dataclass(frozen=True)
class ParsedMoment:
    """A moment, or none, and what there is to say about it.

    ambiguous: only the writer can tell which day is meant; the record must not be stored before that.
    """

    moment: Moment | None
    note: str | None = None
    ambiguous: bool = False


def named_zone(name: str) -> tzinfo:
    """The time zone of this name; raises IngestError where the computer knows none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise IngestError(f"no time zone is named {name!r}; use a name such as Europe/Vienna, America/New_York or UTC") from None


def parse_moment(value: object, zone: tzinfo | None, now: datetime, day_first: bool | None = None) -> ParsedMoment:
    """Read a time as it stands in a file. `zone` is for times without one; None means this computer's. day_first: 03/04 is in April."""
    if value is None or value == "":
        return ParsedMoment(None, NO_TIME)
    if isinstance(value, str):
        return _from_words(value.strip(), zone, now, day_first)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _from_number(value, zone, now)
    return ParsedMoment(None, UNREADABLE)


def _from_words(text: str, zone: tzinfo | None, now: datetime, day_first: bool | None) -> ParsedMoment:
    if not text:
        return ParsedMoment(None, NO_TIME)
    if len(text) > _LONGEST_WRITTEN:
        return ParsedMoment(None, UNREADABLE)
    if match := _YEAR_FIRST.fullmatch(text) or _COMPACT.fullmatch(text):
        return _from_fields(match, int(match["month"]), int(match["day"]), zone, now)
    if match := _DAY_OR_MONTH_FIRST.fullmatch(text):
        return _from_either_order(match, text, zone, now, day_first)
    if _NUMBER.fullmatch(text):
        return _from_number(float(text) if "." in text else int(text), zone, now)
    return ParsedMoment(None, UNREADABLE)


def _from_either_order(
    match: re.Match[str], text: str, zone: tzinfo | None, now: datetime, day_first: bool | None
) -> ParsedMoment:
    """13/04/2025 has one reading and so have 04/04/2025 and, with dots, 03.04.2025; 03/04/2025 has two, of which the user may choose."""
    one, two = int(match["one"]), int(match["two"])
    if day_first is not None and (two if day_first else one) <= 12:
        return _from_fields(match, *((two, one) if day_first else (one, two)), zone, now)
    if len(match["year"]) == 4 and (match["mark"] == "." or one > 12 or one == two):
        return _from_fields(match, two, one, zone, now)
    if len(match["year"]) == 4 and two > 12:
        return _from_fields(match, one, two, zone, now)
    what_to_do = "write it as year-month-day, or say --day-first or --month-first"
    return ParsedMoment(None, f"the date {text!r} has more than one reading: {what_to_do}", ambiguous=True)


def _from_fields(match: re.Match[str], month: int, day: int, zone: tzinfo | None, now: datetime) -> ParsedMoment:
    fraction = int((match["fraction"] or "0").ljust(6, "0")[:6])
    clock = (int(match["hour"] or 0), int(match["minute"] or 0), int(match["second"] or 0), fraction)
    try:
        written = datetime(_year(match["year"]), month, day, *clock)
        moment = Moment.of(written.replace(tzinfo=_offset(match["zone"])) if match["zone"] else _in_zone(written, zone))
    except (ValueError, OverflowError):
        return ParsedMoment(None, UNREADABLE)
    assumed = None if match["zone"] else _assumption(zone, date_only=match["hour"] is None)
    return _judged(moment, assumed, _FIRST_PLAUSIBLE, now)


def _year(written: str) -> int:
    """Of two digits, a year between 1970 and 2069."""
    year = int(written)
    return year if len(written) > 2 else year + (2000 if year < 70 else 1900)


def _from_number(value: int | float, zone: tzinfo | None, now: datetime) -> ParsedMoment:
    """Seconds, milliseconds, microseconds or nanoseconds since 1970, told apart by size; 20260302 is a date."""
    if isinstance(value, float) and not math.isfinite(value):
        return ParsedMoment(None, UNREADABLE)
    if isinstance(value, int) and (match := _COMPACT.fullmatch(str(value) if abs(value) < 10**8 else "")):
        return _from_fields(match, int(match["month"]), int(match["day"]), zone, now)
    try:
        instant = _EPOCH + _since_epoch(value)
        moment = Moment.of(instant.astimezone(zone))
    except (ValueError, OverflowError, OSError):
        return ParsedMoment(None, IMPOSSIBLE)
    if instant < _FIRST_PLAUSIBLE_NUMBER:
        return ParsedMoment(None, IMPOSSIBLE)
    return _judged(moment, None, _FIRST_PLAUSIBLE_NUMBER, now)


def _since_epoch(value: int | float) -> timedelta:
    """1e11 seconds are the year 5138, 1e11 milliseconds 1973: between them no real time is in doubt."""
    size = abs(value)
    if size < 10**11:
        return timedelta(seconds=value)
    if size < 10**14:
        return timedelta(milliseconds=value)
    if size < 10**17:
        return timedelta(microseconds=value)
    return timedelta(microseconds=value // 1000)


def _judged(moment: Moment, note: str | None, earliest: datetime, now: datetime) -> ParsedMoment:
    """`note` is what had to be assumed; a doubt about the moment itself weighs more."""
    if moment.utc - now > _FAR_AHEAD:
        return ParsedMoment(None, IMPOSSIBLE)
    if moment.utc - now > _CLOCKS_MAY_DIFFER:
        return ParsedMoment(moment, FUTURE)
    return ParsedMoment(moment, ANCIENT if moment.utc < earliest else note)


def _offset(text: str) -> timezone:
    if text.upper() in ("Z", "UTC", "GMT"):
        return timezone.utc
    digits = text[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(offset if text[0] == "+" else -offset)


def _in_zone(written: datetime, zone: tzinfo | None) -> datetime:
    """A clock time made an instant. Of an hour that a clock change repeats, the first is meant."""
    if zone is not None:
        return written.replace(tzinfo=zone)
    try:
        return written.astimezone()
    except OSError:  # Windows knows no local time before 1970
        return written.replace(tzinfo=datetime.now().astimezone().tzinfo)


def _assumption(zone: tzinfo | None, date_only: bool) -> str:
    where = f"as {zone}" if zone is not None else "in this computer's zone"
    return f"{'date without time of day' if date_only else 'no time zone given'}: read {where}"
