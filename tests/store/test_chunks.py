from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from pgmem_local.conversation import Moment
from pgmem_local.graph.nodes import NodeId
from pgmem_local.lesson import Lesson
from pgmem_local.store import MemoryStore
from tests.store.builders import NOON, arrival, at, delete, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with open_store(tmp_path, chunk_exchanges=3) as opened:
        yield opened


def learn(store: MemoryStore, contexts: Sequence[NodeId]) -> None:
    store.land(Lesson(learned=tuple(contexts)))


def chunks(store: MemoryStore) -> list[list[str]]:
    """Texts by chunk, in the order of the chunks' numbers."""
    numbers = range(1, store.counts()["chunks"] + 1)
    return [[store.node(context).text for context in store.chunk_contexts(number)] for number in numbers]


def labels(store: MemoryStore) -> list[str]:
    with sqlite3.connect(store.place.database) as connection:
        return [label for (label,) in connection.execute("SELECT label FROM chunks ORDER BY id")]


def test_a_session_is_a_chunk_and_a_long_one_is_cut(store: MemoryStore) -> None:
    store.add([arrival(str(number), at(number), session="monday") for number in range(5)])
    store.add([arrival("5", at(5), session="monday"), arrival("6", at(6), session="monday")])
    assert chunks(store) == [["0", "1", "2"], ["3", "4", "5"], ["6"]]
    assert labels(store) == ["monday"] * 3


def test_without_sessions_each_day_of_the_writer_is_a_chunk(store: MemoryStore) -> None:
    late_in_tokyo = Moment(NOON, offset_minutes=13 * 60)
    store.add([arrival("today", at(1)), arrival("tomorrow", at(20)), arrival("there", late_in_tokyo), arrival("sometime")])
    assert chunks(store) == [["today"], ["there", "tomorrow"], ["sometime"]]
    assert labels(store) == ["2024-05-01", "2024-05-02", "undated"]


def test_a_closed_chunk_takes_nothing_more(store: MemoryStore) -> None:
    learn(store, store.add([arrival("one", at(0))]).new)
    store.land(Lesson(closes=1))
    store.add([arrival("two", at(1))])
    assert chunks(store) == [["one"], ["two"]]


def test_what_is_pending_is_learned_in_event_time_whatever_came_first(store: MemoryStore) -> None:
    store.add([arrival("undated"), arrival("new b", at(49), session="n"), arrival("new a", at(48), session="n")])
    store.add([arrival("old b", at(2), session="o"), arrival("old a", at(1), session="o"), arrival("no time", session="o")])
    order = [(store.node(context).text, chunk) for context, chunk in store.pending()]
    assert order == [("old a", 3), ("old b", 3), ("no time", 3), ("new a", 2), ("new b", 2), ("undated", 1)]


def test_learned_contexts_are_not_pending(store: MemoryStore) -> None:
    first, second = store.add([arrival("one", at(0)), arrival("two", at(1))]).new
    learn(store, [first])
    assert store.pending() == [(second, 1)]
    assert store.counts()["pending"] == 1


def test_chunks_close_oldest_first_once_nothing_in_them_is_pending(store: MemoryStore) -> None:
    new, old, waiting = store.add([arrival("new", at(48)), arrival("old", at(0)), arrival("waiting", at(24))]).new
    assert store.chunks_to_close() == []
    learn(store, [new, old])
    assert store.chunks_to_close() == [2, 1]
    assert store.chunks_to_close(except_label="2024-05-03") == [2]
    store.land(Lesson(learned=(waiting,), closes=2))
    assert store.chunks_to_close() == [3, 1]


def test_the_offline_pass_takes_all_closed_chunks_and_no_open_one(store: MemoryStore) -> None:
    learn(store, store.add([arrival("b", at(24)), arrival("a", at(0)), arrival("c", at(48))]).new)
    store.land(Lesson(closes=1))
    store.land(Lesson(closes=2))
    assert store.unconsolidated_chunks() == [2, 1]
    store.land(Lesson(consolidates=True))
    assert store.unconsolidated_chunks() == []
    store.land(Lesson(closes=3))
    assert store.unconsolidated_chunks() == [3]


def test_a_lesson_may_close_a_chunk_and_consolidate_it(store: MemoryStore) -> None:
    learn(store, store.add([arrival("a", at(0))]).new)
    store.land(Lesson(closes=1, consolidates=True))
    assert store.unconsolidated_chunks() == []
    assert store.counts()["open_chunks"] == 0


def test_a_chunk_whose_exchanges_were_deleted_is_not_closed(store: MemoryStore) -> None:
    added = store.add([arrival("a", at(0))]).new
    learn(store, added)
    delete(store, added)
    assert store.chunks_to_close() == []
