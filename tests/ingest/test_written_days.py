from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from pgmem_local.ingest.moments import UNREADABLE
from pgmem_local.ingest.written_days import CONTRADICTED, parse_written

NOW = datetime(2026, 7, 1, tzinfo=timezone.utc)


def day(text: str, day_first: bool | None = None) -> str | None:
    moment = parse_written(text, timezone.utc, NOW, day_first).moment
    return None if moment is None else moment.day.isoformat()


@pytest.mark.parametrize(
    "written",
    [
        "Sunday, 17 December 2023",
        "December 17th, 2023",
        "Sonntag, 17. Dezember 2023",
        "dimanche 17 décembre 2023",
        "domingo, 17 de diciembre de 2023",
        "domingo, 17 de dezembro de 2023",
        "domenica 17 dicembre 2023",
        "zondag 17 december 2023",
        "söndag 17 december 2023",
        "søndag den 17. december 2023",
        "niedziela, 17 grudnia 2023",
        "воскресенье, 17 декабря 2023 г.",
        "17 Aralık 2023 Pazar",
        "الأحد، 17 ديسمبر 2023",
        "2023年12月17日 日曜日",
        "2023年12月17日星期日",
        "2023년 12월 17일 일요일",
        "Sun 2023-12-17",
        "2023_12_17",
        "17 Dec. 2023",
    ],
)
def test_a_date_in_words_is_read_in_many_languages(written: str) -> None:
    assert day(written) == "2023-12-17"


def test_what_already_could_be_read_is_read_as_before() -> None:
    assert day("2023-12-17") == "2023-12-17"
    assert parse_written(1702771200, timezone.utc, NOW).moment is not None
    assert parse_written("03/04/2025", timezone.utc, NOW).ambiguous
    assert day("Thursday, 03/04/2025", day_first=True) == "2025-04-03"


def test_a_weekday_that_contradicts_its_date_is_noted_and_the_date_counts() -> None:
    parsed = parse_written("Sunday, March 3rd 2025", timezone.utc, NOW)
    assert parsed.moment is not None
    assert (parsed.moment.day.isoformat(), parsed.note) == ("2025-03-03", CONTRADICTED)


def test_a_month_that_means_two_things_in_two_languages_is_settled_by_the_weekday_or_not_at_all() -> None:
    assert day("17 listopada 2023") is None, "November in Polish, October in Croatian"
    assert day("piątek, 17 listopada 2023") == "2023-11-17"
    assert day("utorak, 17. listopada 2023.") == "2023-10-17"


@pytest.mark.parametrize(
    "text",
    ["Chapter 3 March 2024", "31 February 2024", "I left on 17 December 2023", "March 2024", "17 December 23", "May 3 4 2020", "٣"],
)
def test_what_is_more_or_less_than_a_date_is_none(text: str) -> None:
    assert parse_written(text, timezone.utc, NOW).note == UNREADABLE


@pytest.mark.parametrize(
    ("written", "hour", "offset"),
    [
        ("15 September 2024 at 07:30:00 GMT+2", 7, 2.0),
        ("September 15, 2024 at 7:30 PM UTC", 19, 0.0),
        ("15. September 2024 um 07:30 +05:30", 7, 5.5),
        ("December 3, 2024, 12:05 AM", 0, 0.0),
    ],
)
def test_a_time_of_day_and_its_zone_are_read_along(written: str, hour: int, offset: float) -> None:
    moment = parse_written(written, timezone.utc, NOW).moment
    assert moment is not None
    assert (moment.local.hour, moment.local.utcoffset()) == (hour, timedelta(hours=offset))
