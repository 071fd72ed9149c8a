"""A disk that is full or may not be written to: a clear error, nothing half-written, and all is well once there is room again."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from pgmem_local.errors import IngestError, StoreError
from pgmem_local.graph.nodes import Kind
from pgmem_local.ingest.rejects import Reject, RejectsFile
from pgmem_local.lesson import Lesson
from pgmem_local.store import MemoryStore, VectorIndexes, index_files
from tests.store.builders import arrival, at, open_store, state_lesson, vector


def fill_disk(store: MemoryStore) -> None:
    """Let the database grow no further, as on a full disk."""
    with store._database.read() as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
    store._database._connection.execute(f"PRAGMA max_page_count = {pages}")


def make_room(store: MemoryStore) -> None:
    store._database._connection.execute("PRAGMA max_page_count = 1000000")


def write_protect(store: MemoryStore) -> None:
    store._database._connection.execute("PRAGMA query_only = ON")


def unprotect(store: MemoryStore) -> None:
    store._database._connection.execute("PRAGMA query_only = OFF")


FAULTS = [
    pytest.param(fill_disk, make_room, "is full; nothing was written", id="full"),
    pytest.param(write_protect, unprotect, "cannot write .*readonly", id="read-only"),
]
Fault = Callable[[MemoryStore], None]


def dump(store: MemoryStore) -> list[str]:
    with store._database.read() as connection:
        return list(connection.iterdump())


@pytest.mark.parametrize(("fault", "repair", "said"), FAULTS)
def test_entries_that_do_not_fit_leave_nothing_and_can_be_added_later(
    fault: Fault, repair: Fault, said: str, tmp_path: Path
) -> None:
    arrivals = [arrival(f"entry {number} " + "long " * 200, at(number)) for number in range(64)]
    with open_store(tmp_path) as store:
        store.add([arrival("there before", at(0))])
        before = dump(store)
        fault(store)
        with pytest.raises(StoreError, match=said):
            store.add(arrivals)
        assert dump(store) == before
        assert store.known_keys(one.exchange.key for one in arrivals) == set()
        repair(store)
        assert len(store.add(arrivals).new) == 64
        assert store.integrity_check() == []


@pytest.mark.parametrize(("fault", "repair", "said"), FAULTS)
def test_lesson_that_does_not_fit_leaves_its_turn_pending(fault: Fault, repair: Fault, said: str, tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        (source,) = store.add([arrival("there before", at(0))]).new
        lesson = state_lesson(store, "much " * 500, source, states=30)
        before = dump(store)
        fault(store)
        with pytest.raises(StoreError, match=said):
            store.land(lesson)
        assert dump(store) == before
        assert [context for context, _ in store.pending()] == [source]
        repair(store)
        store.land(lesson)
        assert store.pending() == []
        assert store.integrity_check() == []


@pytest.mark.parametrize("moment", ["_save_one", "_write_side_file", "_sync"])
def test_index_that_cannot_be_saved_is_said_and_rebuilt(moment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    with open_store(tmp_path) as store:
        store.add([arrival(f"entry {number}", at(number)) for number in range(20)])
        indexes = VectorIndexes(store, exact_below=1)
        monkeypatch.setattr(index_files, moment, full)
        with pytest.raises(StoreError, match="rebuilt next time, free some space"):
            indexes.save()
        monkeypatch.undo()
    with open_store(tmp_path) as store:
        assert VectorIndexes(store, exact_below=1).nearest(Kind.CONTEXT, vector("entry 7"), 1)[0][0] == "c8"


def test_reject_that_cannot_be_kept_is_an_error_that_names_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, content: bytes) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    with RejectsFile(tmp_path / "rejects.jsonl") as rejects:
        rejects.add(Reject("a.jsonl", 1, "cut", "{"))
        monkeypatch.setattr(os, "write", full)
        with pytest.raises(IngestError, match=r"rejects\.jsonl \(No space left on device\); make room"):
            rejects.add(Reject("a.jsonl", 2, "cut", "["))
        monkeypatch.undo()
    assert (tmp_path / "rejects.jsonl").read_text(encoding="utf-8").count("\n") == 1


def test_learning_goes_on_where_its_progress_cannot_be_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, content: bytes) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    with open_store(tmp_path) as store:
        monkeypatch.setattr(os, "write", full)
        with store.learning() as lock:
            lock.note(1, 2)
            store.land(Lesson())
