"""Whether a question is about the past, and about which time, told from its words (not in the paper): then nothing fades, more of what
changed is shown, and what was said in that time comes first.

Words and the newest moment of the memory come in; no clock is read and no model asked. Some words are always about the past ("used to",
"back then"), some only beside a verb in the past ("before", "in March"), and a date is where it is over. English in full; of other
languages a few words that mean nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from pgmem_local.conversation import Moment
from pgmem_local.dates import Dated, Grain, find_dates

Period = tuple[date, date]
"""First and last day."""
_MONTHS = "january february march april may june july august september october november december".split()  # noqa: SIM905
_SEASON = r"(?:spring|summer|autumn|fall|winter)"


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(patterns)})\b", re.IGNORECASE)


_PAST_ANYWAY = _words(
    "used to", r"did(?:n['’]t| not)? (?:I|we|he|she|it|they|you) use to",
    r"back (?:then|when|in)", r"in those days", r"at that time", r"in the past", r"formerly", r"former", r"previously", r"previous",
    r"originally", r"initially", r"no longer", r"(?:not|never|\w+n['’]t)\b.*\bany ?more", r"ago",
    rf"last (?:year|month|week(?:end)?|{_SEASON})",
    "früher", "damals", "ehemals", "seinerzeit", "autrefois", "jadis", "auparavant", "à l['’]époque", "antiguamente", "antaño",
    "solía", "en aquel entonces", "un tempo", "all['’]epoca", "antigamente", "naquela época", "vroeger", "destijds",
)  # fmt: skip
_ACCUSTOMED = _words(r"(?:am|are|is|be|been|get|got|getting|become)\s+(?:\w+\s+)?used to")
_PAST_VERB = _words("was", "were", "wasn['’]t", "weren['’]t", "did", "didn['’]t", "had", "came", "went", "[a-z]{3,}ed")
_PAST_BESIDE_A_VERB = _words(
    "before", "earlier", "until", "once", "at first", "at the time", "between", "my old", "my first",
    "when I (?:was|lived|had|worked|studied)", "as a (?:child|kid|boy|girl|teenager|student)", rf"in (?:the )?{_SEASON}",
)  # fmt: skip
_COMPARES = _words("still", "yet", "already", "any ?more", "longer", "since", "changes?", "again", "instead")
_LASTS = re.compile(r"\bsince\s+(?:\w+\s+){0,2}$", re.IGNORECASE)
"""What goes on since a date is not over."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_MONTH = _words(rf"(?:in|of|during|(?:at|until) the (?:start|beginning|end) of) (?P<month>{'|'.join(_MONTHS)})")
_AND_MONTH = re.compile(rf"\s+(?:and|or|to|until)\s+(?P<month>{'|'.join(_MONTHS)})\b", re.IGNORECASE)



def period_asked_about(question: str, newest: Moment | None) -> Period | None:
    """The time from the first to the last month or year that a question names, where it may be over; None where it names none."""
    if newest is None:
        return None
    named_years = [int(year[0]) for year in _YEAR.finditer(question)]
    numbers = [_MONTHS.index(name.lower()) + 1 for name in _named_months(question)]
    months = [_month_of(_year_of(number, named_years, newest.day), number) for number in numbers]
    years = [] if months else [(date(year, 1, 1), date(year, 12, 31)) for year in named_years]
    named = [*months, *years]
    if not named or _LASTS.search(question[: _first_named(question)]):
        return None
    return min(first for first, _ in named), max(last for _, last in named)


def _named_months(question: str) -> list[str]:
    """The months after "in" or "of", and those joined to them: in February and March."""
    found: list[str] = []
    for month in _MONTH.finditer(question):
        found.append(month["month"])
        if further := _AND_MONTH.match(question, month.end()):
            found.append(further["month"])
    return found


def _first_named(question: str) -> int:
    return min(match.start() for pattern in (_MONTH, _YEAR) for match in pattern.finditer(question))


def _year_of(month: int, named: Sequence[int], today: date) -> int:
    """The one year named, else that in which such a month last began."""
    return named[0] if len(named) == 1 else today.year - (month > today.month)


def _month_of(year: int, month: int) -> Period:
    return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)


def asks_about_past(question: str, newest: Moment | None) -> bool:
    """Whether a question asks for what was. Without a newest moment years and months decide nothing."""
    if _PAST_ANYWAY.search(_ACCUSTOMED.sub("", question)):
        return True
    told = bool(_PAST_VERB.search(question))
    if told and _PAST_BESIDE_A_VERB.search(question):
        return True
    return newest is not None and any(day < newest.day for day in _last_days(question, newest, told))


def asks_about_now(question: str, past: bool) -> bool:
    """Whether a question asks for what is and nothing else: it is not about the `past`, no verb of it is, and it does not ask what has
    changed."""
    return not (past or _PAST_VERB.search(question) or _COMPARES.search(question))


def _last_days(question: str, newest: Moment, told: bool) -> Iterator[date]:
    """The last day of each time that a question names and that may be over; months and days of the week only where a verb tells."""
    for dated in find_dates(question, newest):
        if not _LASTS.search(question[: dated.start]) and (told or not dated.relative):
            yield _last_day(dated)
    for year in _YEAR.finditer(question):
        if not _LASTS.search(question[: year.start()]):
            yield date(int(year[0]), 12, 31)
    for month in _MONTH.finditer(question) if told else ():
        yield _month_before(_MONTHS.index(month["month"].lower()) + 1, newest.day)


def _last_day(dated: Dated) -> date:
    days = {Grain.DAY: 0, Grain.WEEKEND: 1, Grain.WEEK: 6, Grain.MONTH: 30, Grain.YEAR: 365}
    return min(dated.day, date.max - timedelta(days=366)) + timedelta(days=days[dated.grain])


def _month_before(month: int, today: date) -> date:
    """The last such month that began, as its day 28; the present one is not over."""
    return date(today.year - (month > today.month), month, today.day if month == today.month else 28)
