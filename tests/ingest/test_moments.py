"""Times as files spell them. NOW is fixed: no test depends on the day it runs."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgmem_local.conversation import Moment
from pgmem_local.errors import IngestError
from pgmem_local.ingest import moments
from pgmem_local.ingest.moments import ParsedMoment, named_zone, parse_moment

NOW = datetime(2026, 7, 1, tzinfo=timezone.utc)
NEW_YEAR = datetime(2026, 1, 1, tzinfo=timezone.utc)
VIENNA = ZoneInfo("Europe/Vienna")


def parse(value: object, zone: tzinfo | None = VIENNA) -> ParsedMoment:
    return parse_moment(value, zone, NOW)


def utc(value: object) -> datetime:
    moment = parse(value).moment
    assert moment is not None
    return moment.utc


@pytest.mark.parametrize(
    "value",
    [
        1767225600,
        1767225600000,
        1767225600000000,
        1767225600000000000,
        "1767225600",
        "1767225600.0",
        "2026-01-01T00:00:00Z",
        "2026-01-01T01:00:00+01:00",
        "2026-01-01t00:00z",
        "2026-01-01 00:00:00 UTC",
        "2025-12-31T19:00:00-0500",
        "2026-01-01T01:00:00+01",
        "2026-01-01T01:00:00+01:00[Europe/Vienna]",
        "20260101T000000Z",
        " 2026-01-01T00:00:00.000Z ",
    ],
)
def test_one_instant_is_one_moment_however_it_is_written(value: object) -> None:
    assert utc(value) == NEW_YEAR
    assert parse(value).note is None


@pytest.mark.parametrize("value", [1767225600.25, "2026-01-01T00:00:00.25Z", "2026-01-01T00:00:00,250000000Z", "1767225600.25"])
def test_fractions_of_a_second_are_kept(value: object) -> None:
    assert utc(value) == NEW_YEAR + timedelta(seconds=0.25)


def test_offset_of_the_writer_is_kept() -> None:
    assert parse("2026-01-01T05:30:00+05:30").moment == Moment(NEW_YEAR, 330)


def test_number_is_shown_on_the_clock_of_the_zone_so_that_its_day_is_right() -> None:
    moment = parse(1767225600, ZoneInfo("America/New_York")).moment
    assert moment is not None
    assert moment.day.isoformat() == "2025-12-31"


@pytest.mark.parametrize("value", ["2026-01-01T00:00:00", "2026/01/01 0:00"])
def test_time_without_zone_is_read_in_the_given_zone_and_marked(value: str) -> None:
    assert parse(value) == ParsedMoment(Moment(NEW_YEAR - timedelta(hours=1), 60), "no time zone given: read as Europe/Vienna")


@pytest.mark.parametrize("value", ["2026-01-01", 20260101, "20260101", "01.01.2026", "1/1/2026"])
def test_date_alone_is_the_start_of_its_day_in_the_given_zone_and_marked(value: object) -> None:
    expected = ParsedMoment(Moment(NEW_YEAR - timedelta(hours=1), 60), "date without time of day: read as Europe/Vienna")
    assert parse(value) == expected


def test_without_a_given_zone_the_computers_own_is_taken_and_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    local = datetime(2026, 1, 1).astimezone().astimezone(timezone.utc)
    parsed = parse("2026-01-01T00:00:00", None)
    assert parsed.moment is not None
    assert parsed.moment.utc == local
    assert parsed.note == "no time zone given: read in this computer's zone"


def test_summer_time_is_minded() -> None:
    assert utc("2026-06-01T12:00:00") == datetime(2026, 6, 1, 10, tzinfo=timezone.utc)


@pytest.mark.parametrize("value", ["03/04/2025", "3-4-2025", "01/02/2026 10:00", "03.04.25", "1/1/26"])
def test_date_with_two_readings_is_not_guessed(value: str) -> None:
    parsed = parse(value)
    assert parsed.ambiguous
    assert parsed.moment is None
    assert value in (parsed.note or "")


@pytest.mark.parametrize("value", ["13/04/2025", "04/13/2025", "13.04.2025", "13-04-2025"])
def test_date_with_one_reading_is_read(value: str) -> None:
    moment = parse(value).moment
    assert moment is not None
    assert moment.day.isoformat() == "2025-04-13"


def test_dots_mean_day_first() -> None:
    assert utc("03.04.2025 12:00Z") == datetime(2025, 4, 3, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize("value", [None, "", "   "])
def test_missing_time_is_no_moment(value: object) -> None:
    assert parse(value) == ParsedMoment(None, moments.NO_TIME)


@pytest.mark.parametrize(
    "value",
    [
        "yesterday",
        float("nan"),
        float("inf"),
        True,
        [],
        {},
        "2026-02-30",
        "2026-01-01T25:00",
        "0000-01-01",
        "x" * 100_000,
        "03/04/2025 10:00Z[" + "x" * 1000 + "]",
        "٢٠٢٦-٠١-٠١",
    ],
)
def test_unreadable_time_is_no_moment(value: object) -> None:
    assert parse(value) == ParsedMoment(None, moments.UNREADABLE)


@pytest.mark.parametrize("value", [0, -1, "0", 99999999999999999, 10**400, 1e300, "9999-12-31T23:59:59Z", 2026])
def test_time_that_cannot_be_true_is_flagged_and_not_believed(value: object) -> None:
    assert parse(value) == ParsedMoment(None, moments.IMPOSSIBLE)


def test_very_old_date_is_kept_and_flagged() -> None:
    parsed = parse("1660-01-01T08:00:00Z")
    assert parsed == ParsedMoment(Moment(datetime(1660, 1, 1, 8, tzinfo=timezone.utc), 0), moments.ANCIENT)


def test_near_future_is_kept_and_flagged_beyond_two_days() -> None:
    assert parse((NOW + timedelta(days=1)).isoformat()).note is None
    late = parse((NOW + timedelta(days=3)).isoformat())
    assert late.moment is not None
    assert late.note == moments.FUTURE


def test_moments_from_all_sources_can_be_sorted_together() -> None:
    values = [1767225600, "2026-01-01", "2026-01-01T00:00:00", "2025-05-05T10:00:00+02:00"]
    found = [moment for value in values if (moment := parse(value).moment) is not None]
    assert len(sorted(found)) == len(values)


def test_zone_is_found_by_name_and_an_unknown_name_says_what_to_use() -> None:
    assert str(named_zone("Europe/Vienna")) == "Europe/Vienna"
    for wrong in ("Vienna", "", "../etc/passwd"):
        with pytest.raises(IngestError, match="Europe/Vienna"):
            named_zone(wrong)


@given(st.one_of(st.text(), st.integers(), st.floats(), st.from_regex(r"[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}.{0,9}")))
def test_no_value_makes_it_fail_and_what_has_no_moment_has_a_note(value: object) -> None:
    parsed = parse(value)
    assert parsed.moment is not None or parsed.note
    assert not (parsed.ambiguous and parsed.moment)


@given(st.datetimes(datetime(1900, 1, 2), datetime(2026, 6, 30), timezones=st.timezones()))
def test_what_isoformat_writes_is_read_back(when: datetime) -> None:
    assert when.utcoffset() is not None
    if (when.utcoffset() or timedelta()) % timedelta(minutes=1):
        when = when.replace(tzinfo=timezone.utc)  # offsets with seconds, before 1972, have no ISO form
    assert utc(when.isoformat()) == when.astimezone(timezone.utc)


@given(st.datetimes(datetime(1980, 1, 2), datetime(2026, 6, 30)), st.sampled_from([1, 10**3, 10**6, 10**9]))
def test_number_of_any_unit_is_read_back(when: datetime, units: int) -> None:
    instant = when.replace(microsecond=0, tzinfo=timezone.utc)
    assert utc(int(instant.timestamp()) * units) == instant
