from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

import pytest

from pgmem_local.conversation import Moment
from pgmem_local.dates import Grain, day_moment, find_dates, with_dates


def said(iso: str) -> Moment:
    return Moment.of(datetime.fromisoformat(iso))


TUESDAY = said("2025-12-30T21:00:00+01:00")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yesterday I bought a tent.", "2025-12-29"),
        ("Next Friday I fly to Oslo.", "2026-01-02 or 2026-01-09"),
        ("I saw her last Monday.", "2025-12-29 or 2025-12-22"),
        ("I saw her last Friday.", "2025-12-26"),
        ("She starts at the hospital on Monday.", "2026-01-05"),
        ("We met on Monday.", "2025-12-29"),
        ("It broke two weeks ago.", "2025-12-16"),
        ("He left three months ago.", "September 2025"),
        ("Back in a week.", "2026-01-06"),
        ("A few days ago it rained.", "December 2025"),
        ("Last month was quiet.", "November 2025"),
        ("Next week is full.", "week of 2026-01-05"),
        ("Last year was long.", "2024"),
        ("The fair is on 3 January.", "2026-01-03"),
        ("It rained on December 28th.", "2025-12-28"),
        ("Friday the 2nd is the last shift.", "2026-01-02"),
        ("It ends on Friday the 2nd.", "2026-01-02"),
        ("It was on Thursday the 27th of November.", "2025-11-27"),
        ("Moved here on 4 May 2019.", "2019-05-04"),
        ("Moved here on May 4th, 2019.", "2019-05-04"),
        ("Since 2021-03-01 it is ours.", "2021-03-01"),
        ("Married in August 2012.", "August 2012"),
        ("The day before yesterday it snowed.", "2025-12-28"),
    ],
)
def test_date_is_resolved_from_the_day_it_was_said(text: str, expected: str) -> None:
    assert [str(one) for one in find_dates(text, TUESDAY)] == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "Jo's birthday is 3 June.",
        "They climb every Tuesday and most Sundays.",
        "On Tuesdays he swims.",
        "He may go.",
        "It is the 31 June.",
        "Room 2030",
        "",
    ],
)
def test_no_date_is_made_up(text: str) -> None:
    assert find_dates(text, TUESDAY) == []


def test_undated_text_gives_only_whole_dates() -> None:
    assert [str(one) for one in find_dates("Yesterday, 4 May 2019, on Monday", None)] == ["2019-05-04"]


def test_next_friday_is_doubtful_only_where_two_days_may_be_meant() -> None:
    assert find_dates("next Friday", TUESDAY)[0].doubtful
    assert not find_dates("next Monday", TUESDAY)[0].doubtful


def test_turn_of_the_year_and_the_writers_clock_count() -> None:
    new_year = said("2026-01-01T00:30:00+09:00")
    assert find_dates("yesterday", new_year)[0].day == date(2025, 12, 31)
    assert find_dates("last month", new_year)[0].day == date(2025, 12, 1)
    assert day_moment(date(2025, 12, 31), new_year).day == date(2025, 12, 31)
    assert day_moment(date(2025, 12, 31), new_year).local.utcoffset() == timedelta(hours=9)


def test_relative_words_get_their_date_behind_them_and_stay() -> None:
    assert with_dates("Yesterday I bought a tent.", TUESDAY) == "Yesterday (2025-12-29) I bought a tent."
    assert with_dates("On 4 May 2019 we met.", TUESDAY) == "On 4 May 2019 we met."
    assert with_dates("Bought today, seen yesterday.", TUESDAY, today=False) == "Bought today, seen yesterday (2025-12-29)."
    assert with_dates("We moved last weekend.", TUESDAY) == "We moved last weekend (weekend of 2025-12-27)."
    assert with_dates("Wednesday evenings, every other Friday.", TUESDAY) == "Wednesday evenings, every other Friday."
    assert with_dates("Yesterday I bought a tent.", None) == "Yesterday I bought a tent."


def test_date_knows_how_exact_it_is() -> None:
    assert [one.grain for one in find_dates("last week, last month, last year, yesterday", TUESDAY)] == [
        Grain.WEEK, Grain.MONTH, Grain.YEAR, Grain.DAY,
    ]  # fmt: skip
    assert day_moment(date(2026, 1, 1), Moment(datetime(2026, 1, 1, tzinfo=timezone.utc))).day == date(2026, 1, 1)


def test_first_day_there_is_begins_somewhere_east_of_greenwich_too() -> None:
    never_set = Moment.of(datetime.min.replace(tzinfo=timezone.utc).astimezone(timezone(timedelta(hours=5))))
    (today,) = find_dates("I swam today.", never_set)
    assert day_moment(today.day, never_set).day == never_set.day == date.min


def test_weekday_alone_on_that_day_is_that_day() -> None:
    (dated,) = find_dates("Tuesday. Rain.", TUESDAY)
    assert str(dated) == "2025-12-30"
    (dated,) = find_dates("The doctor comes on Tuesday.", TUESDAY)
    assert str(dated) == "2026-01-06"


def test_since_a_weekday_is_since_the_one_before() -> None:
    (dated,) = find_dates("Barley tea every morning since Monday.", TUESDAY)
    assert str(dated) == "2025-12-29"
