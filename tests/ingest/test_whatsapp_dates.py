from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgmem_local.ingest.whatsapp_dates import ArrivalOrder, DateEvidence, DateOrder, Stamp

TODAY = date(2026, 7, 1)


@pytest.mark.parametrize(
    "line",
    [
        "[31/08/2024, 18:58:07] Nora: hi",
        "\u200e[31/08/2024, 18:58:07] Nora: hi",
        "\ufeff[31/08/2024, 6:58:07\u202fPM] Nora: hi",
        "[31.08.24, 18:58:07] Nora: hi",
        "[31/08/24 18:58:07] Nora: hi",
        "31/08/2024, 18:58:07 - Nora: hi",
        "31.08.24, 18:58:07 - Nora: hi",
        "31-08-2024 18:58:07 - Nora: hi",
        "31/8/24, 6:58:07\u202fp.\u00a0m. - Nora: hi",
        "31/8/24, 6:58:07 p. m. - Nora: hi",
        "31/8/2024, 6:58:07 μ.μ. - Nora: hi",
        "31.8.2024 klo 18.58.07 - Nora: hi",
        "2024/08/31, 18:58:07 - Nora: hi",
        "2024-08-31 18:58:07 - Nora: hi",
        "2024. 8. 31. 오후 6:58:07 - Nora: hi",
        "2024/8/31 下午6:58:07 - Nora: hi",
        "\u200f\u0663\u0661\u200f/\u0668\u200f/\u0662\u0660\u0662\u0664\u060c \u0666:\u0665\u0668:\u0660\u0667 م - Nora: hi",
    ],
)
def test_stamp_is_read_as_phones_of_many_languages_write_it(line: str) -> None:
    stamp = Stamp.of(line)
    assert stamp is not None
    assert line[stamp.end :] == "Nora: hi"
    assert stamp.local(DateOrder.DAY_FIRST) == datetime(2024, 8, 31, 18, 58, 7)


@pytest.mark.parametrize(("written", "hour"), [("12:05 AM", 0), ("12:05 PM", 12), ("1:05 a. m.", 1), ("0:05 AM", 0), ("13:05 PM", 13)])
def test_noon_and_midnight_of_twelve_hour_clocks(written: str, hour: int) -> None:
    stamp = Stamp.of(f"8/31/24, {written} - Nora: hi")
    assert stamp is not None
    assert stamp.clock.hour == hour


@pytest.mark.parametrize(
    "line",
    [
        "", "Nora: hi", "31/08/2024", "31/08/2024, 18:58", "at 31/08/2024, 18:58 - Nora: hi", "31/08/24, 25:00 - x", "[31/08/24, 18:58 - x",
        "31/08-24, 18:58 - x", "3/4: 18:58 - x", "- [ ] 31/08/24, 18:58", "1" * 5000, " " * 5000, "\u200e" * 5000,
    ],
)  # fmt: skip
def test_other_lines_have_no_stamp(line: str) -> None:
    assert Stamp.of(line) is None


def order_of(*dates: str) -> DateOrder | None:
    evidence = DateEvidence(TODAY)
    for written in dates:
        stamp = Stamp.of(f"{written}, 10:00 - Nora: hi")
        assert stamp is not None
        evidence.add(stamp)
    return evidence.order()


@pytest.mark.parametrize(
    ("dates", "order"),
    [
        (["01/02/24", "31/03/24"], DateOrder.DAY_FIRST),
        (["01/02/24", "03/31/24"], DateOrder.MONTH_FIRST),
        (["01/02/24", "02/01/25", "03/02/25"], None),
        (["03/01/24", "02/02/24", "01/03/24"], DateOrder.DAY_FIRST),
        (["01/03/24", "02/02/24", "03/01/24"], DateOrder.MONTH_FIRST),
        (["24/08/01", "24/08/31"], DateOrder.YEAR_FIRST),
        (["3/4/25", "5/6/25"], None),
        (["5/5/25", "6/6/25"], DateOrder.DAY_FIRST),
        (["5/7/26", "5/7/26"], DateOrder.MONTH_FIRST),
    ],
)
def test_order_is_what_the_whole_file_allows(dates: list[str], order: DateOrder | None) -> None:
    assert order_of(*dates) is order


def test_four_digits_are_a_year_in_front_whatever_the_other_dates_say() -> None:
    stamp = Stamp.of("2024/08/31, 10:00 - Nora: hi")
    assert stamp is not None
    assert {stamp.day(order) for order in DateOrder} == {date(2024, 8, 31)}
    assert order_of("2024/08/03", "2024/08/04") is not None


def test_one_stray_date_does_not_turn_a_long_file() -> None:
    days = [date(2024, 1, 1) + timedelta(days=number) for number in range(200)]
    written = [day.strftime("%d/%m/%y") for day in days]
    assert order_of(*written[:100], "08/31/20", *written[100:]) is DateOrder.DAY_FIRST


@given(st.lists(st.dates(date(2010, 1, 1), TODAY), min_size=1, max_size=40), st.sampled_from(["%d/%m/%y", "%m/%d/%y"]))
def test_order_is_never_the_wrong_one(days: list[date], form: str) -> None:
    """For chats that run forward; the right order, or none."""
    found = order_of(*(day.strftime(form) for day in sorted(days)))
    right = DateOrder.DAY_FIRST if form.startswith("%d") else DateOrder.MONTH_FIRST
    if found is not None and found is not right:
        stamps = [Stamp.of(f"{day.strftime(form)}, 10:00 - x") for day in days]
        assert all(stamp and stamp.day(found) == stamp.day(right) for stamp in stamps)


@given(st.text(alphabet="0123456789/.-:, []\u200e\u202faApPmM\u0660x"))
def test_any_line_is_looked_at_without_a_crash(line: str) -> None:
    stamp = Stamp.of(line)
    found = [stamp.local(order) for order in DateOrder] if stamp is not None else []
    assert all(local is None or local.year > 0 for local in found)


def test_lines_of_an_earlier_time_are_behind_until_the_file_goes_on_from_there() -> None:
    arrival, now = ArrivalOrder(), datetime(2024, 8, 31)
    assert not arrival.is_behind(now)
    assert not arrival.is_behind(now - timedelta(hours=20))
    assert arrival.is_behind(now - timedelta(hours=25))
    assert not arrival.is_behind(now)
    earlier = [now - timedelta(days=90 - number) for number in range(40)]
    assert [arrival.is_behind(time) for time in earlier] == [True] * 20 + [False] * 20


def test_one_line_from_the_future_holds_up_no_more_than_a_few() -> None:
    arrival = ArrivalOrder()
    days = [datetime(2020, 1, 1) + timedelta(days=number) for number in range(100)]
    behind = [arrival.is_behind(time) for time in [days[0], datetime(2025, 1, 1), *days[1:]]]
    assert sum(behind) == 20
