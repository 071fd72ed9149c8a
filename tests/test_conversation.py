from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from pgmem_local.conversation import LONGEST_REPLY, Exchange, Moment, Speaker, Turn, entry_key, pair_exchanges

NOON = Moment(datetime(2026, 3, 2, 12, tzinfo=timezone.utc), 60)


def user(text: str, session: str | None = None) -> Turn:
    return Turn(text, None, Speaker.USER, session)


def assistant(text: str, session: str | None = None) -> Turn:
    return Turn(text, None, Speaker.ASSISTANT, session)


def test_words_of_others_are_exchanges_of_their_own_and_told_apart_by_author() -> None:
    leila = Turn("See you at ten!", None, Speaker.OTHER, "walk", "Leila")
    tariq = Turn("See you at ten!", None, Speaker.OTHER, "walk", "Tariq")
    assert list(pair_exchanges([user("Hi", "walk"), leila, tariq])) == [Exchange(user("Hi", "walk")), Exchange(leila), Exchange(tariq)]
    assert len({entry_key(leila), entry_key(tariq), entry_key(user("See you at ten!"))}) == 3


def test_moment_keeps_the_instant_and_the_writers_clock() -> None:
    written = datetime(2026, 3, 2, 0, 30, tzinfo=timezone(timedelta(hours=1)))
    moment = Moment.of(written)
    assert moment.utc == datetime(2026, 3, 1, 23, 30, tzinfo=timezone.utc)
    assert moment.isoformat() == "2026-03-02T00:30:00+01:00"
    assert moment.day.isoformat() == "2026-03-02"


def test_moment_of_a_clock_without_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="no UTC offset"):
        Moment.of(datetime(2026, 3, 2))


def test_moments_are_ordered_by_instant_whatever_the_clock_showed() -> None:
    later = Moment.of(datetime(2026, 3, 2, 12, 30, tzinfo=timezone(timedelta(hours=-5))))
    earlier = Moment.of(datetime(2026, 3, 2, 13, 0, tzinfo=timezone(timedelta(hours=5))))
    assert earlier < later


def test_key_does_not_depend_on_offset_spacing_normal_form_or_session() -> None:
    turn = Turn("Déjà  vu\n", NOON, session="a")
    same = Turn(unicodedata.normalize("NFD", "Déjà vu"), Moment(NOON.utc, -300), session="b")
    assert entry_key(turn) == entry_key(same)


@pytest.mark.parametrize(
    "other",
    [Turn("Tea", NOON), Turn("tea", None), Turn("tea", NOON, Speaker.ASSISTANT), Turn("tea", Moment(NOON.utc + timedelta(1)))],
)
def test_key_depends_on_words_instant_and_speaker(other: Turn) -> None:
    assert entry_key(other) != entry_key(Turn("tea", NOON))


def test_key_of_an_exchange_is_that_of_what_the_user_said() -> None:
    assert Exchange(user("hi"), "a").key == Exchange(user("hi"), "b").key == entry_key(user("hi"))


def test_replies_belong_to_the_last_user_turn_of_their_session() -> None:
    stream = [user("one", "a"), user("two", "b"), assistant("1", "a"), user("three", "a"), assistant("2", "b"), assistant("3", "a")]
    assert list(pair_exchanges(stream)) == [
        Exchange(user("one", "a"), "1"),
        Exchange(user("two", "b"), "2"),
        Exchange(user("three", "a"), "3"),
    ]


def test_reply_to_nothing_comes_out_as_the_turn_it_is() -> None:
    assert list(pair_exchanges([assistant("hello", "a"), user("hi", "b")])) == [assistant("hello", "a"), Exchange(user("hi", "b"))]


def test_what_is_no_turn_passes_through() -> None:
    assert list(pair_exchanges([user("hi"), 7, assistant("ho")])) == [7, Exchange(user("hi"), "ho")]


def test_diary_entry_comes_out_as_soon_as_the_next_is_read() -> None:
    read: list[str] = []

    def entries() -> Iterator[Turn]:
        for text in ("one", "two", "three"):
            read.append(text)
            yield user(text)

    assert next(pair_exchanges(entries())) == Exchange(user("one"))
    assert read == ["one", "two"]


def test_no_more_sessions_than_the_limit_are_kept_open() -> None:
    stream = [user("hi", str(number)) for number in range(5)] + [assistant("late", "0"), assistant("in time", "4")]
    found = list(pair_exchanges(stream, limit=2))
    assert assistant("late", "0") in found
    assert found[-1] == Exchange(user("hi", "4"), "in time")
    assert sum(isinstance(item, Exchange) for item in found) == 5


def test_log_of_endless_replies_does_not_fill_memory() -> None:
    piece = "x" * (LONGEST_REPLY // 2)
    found = list(pair_exchanges([user("go"), *[assistant(piece)] * 3]))
    assert found == [assistant(piece), Exchange(user("go"), f"{piece}\n{piece}")]


def test_day_of_a_time_before_there_were_zones_is_the_writers() -> None:
    written = datetime(1660, 1, 1, tzinfo=ZoneInfo("Europe/Stockholm"))  # 1 h 12 min 12 s ahead of Greenwich
    assert Moment.of(written).day == date(1660, 1, 1)
