from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

import pytest

from pgmem_local.conversation import Exchange, Moment, Turn
from pgmem_local.ingest.period import Period, Within
from pgmem_local.ingest.rejects import Reject

REJECT = Reject("f", 1, "r", "x")


def on(day: int, hour: int = 12, offset: int = 0) -> Exchange:
    return Exchange(Turn("x", Moment.of(datetime(2026, 3, day, hour, tzinfo=timezone(timedelta(hours=offset))))))


UNDATED = Exchange(Turn("x", None))


@pytest.mark.parametrize(
    ("period", "kept"),
    [
        (Period(), [1, 2, 3]),
        (Period(since=date(2026, 3, 2)), [2, 3]),
        (Period(until=date(2026, 3, 2)), [1, 2]),
        (Period(date(2026, 3, 2), date(2026, 3, 2)), [2]),
    ],
)
def test_both_ends_belong_to_the_period(period: Period, kept: list[int]) -> None:
    assert list(Within([on(1), on(2), on(3)], period)) == [on(day) for day in kept]


def test_day_is_the_writers_own() -> None:
    late_in_vienna = on(2, 0, 1)  # still the first of March in UTC
    assert list(Within([late_in_vienna], Period(since=date(2026, 3, 2)))) == [late_in_vienna]


def test_what_is_left_out_is_counted_and_rejects_pass() -> None:
    within = Within([on(1), REJECT, UNDATED, on(3)], Period(since=date(2026, 3, 2)))
    assert list(within) == [REJECT, on(3)]
    assert (within.outside, within.undated) == (1, 1)


def test_undated_entries_stay_where_no_day_is_asked_for() -> None:
    assert list(Within([UNDATED], Period())) == [UNDATED]
