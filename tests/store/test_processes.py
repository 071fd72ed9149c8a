"""Several processes in one memory, and processes that die: nothing lost, nothing half written."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from pgmem_local.errors import StoreBusy
from pgmem_local.graph.nodes import Kind, NodeId
from pgmem_local.store import MemoryStore, VectorIndexes
from pgmem_local.store.database import Database
from pgmem_local.store.learning import current_learner
from pgmem_local.store.searchers import HnswSearcher
from tests.store.builders import arrival, at, open_store, state_lesson, vector

ROOT = Path(__file__).parents[2]


def start(job: str, home: Path, name: str = "entry", count: int = 0) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.store.worker", job, str(home), name, str(count)]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def kill_at_random(process: subprocess.Popen[str], chance: random.Random) -> list[str]:
    """Let it work for a moment, end it without a warning, and return what it had reported as done."""
    assert process.stdout is not None
    done = [process.stdout.readline().strip()]
    time.sleep(chance.uniform(0.0, 0.15))
    process.kill()
    rest, _ = process.communicate()
    return done + rest.split()


@contextmanager
def write_lock(store: MemoryStore, seconds: float) -> Iterator[None]:
    """Someone else writes to the database for so long."""
    other = sqlite3.connect(store.place.database, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(seconds, other.execute, ["ROLLBACK"])
    timer.start()
    yield
    timer.join()
    other.close()


# Two processes (D3-04)


def test_two_processes_that_add_lose_nothing_and_share_no_id(tmp_path: Path) -> None:
    processes = [start("add", tmp_path, name, 40) for name in ("diary", "chat")]
    assert [process.wait(60) for process in processes] == [0, 0]
    with open_store(tmp_path) as store:
        texts = {store.node(identifier).text for identifier, _ in store.pending()}
        assert texts == {f"{name} {number}" for name in ("diary", "chat") for number in range(40)}
        assert store.integrity_check() == []


def test_a_write_waits_for_another_and_is_not_lost(tmp_path: Path) -> None:
    with open_store(tmp_path) as store, write_lock(store, 1.0):
        began = time.monotonic()
        (source,) = store.add([arrival("patient", at(0))]).new
        store.land(state_lesson(store, "is patient", source))
        assert time.monotonic() - began > 0.8
        assert store.counts()["state"] == 1


def test_a_wait_that_is_too_long_ends_in_a_clear_error_and_can_be_repeated(tmp_path: Path) -> None:
    with open_store(tmp_path, busy_seconds=0.1) as store:
        with write_lock(store, 0.5), pytest.raises(StoreBusy, match="try again"):
            store.add([arrival("later")])
        assert store.counts()["context"] == 0
        store.add([arrival("later")])
        assert store.counts()["context"] == 1


def test_reading_and_opening_do_not_wait_for_a_writer(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        store.add([arrival("known", at(0))])
        with write_lock(store, 1.0):
            began = time.monotonic()
            with open_store(tmp_path) as reader:
                assert len(reader.load_graph()) == 1
                assert reader.known_keys([arrival("known", at(0)).exchange.key])
            assert time.monotonic() - began < 0.8


def test_many_may_open_a_new_memory_at_once(tmp_path: Path) -> None:
    def begin(number: int) -> int:
        with open_store(tmp_path) as store:
            return len(store.add([arrival(f"entry {number}")]).new)

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(begin, range(16))) == 16


def test_switching_the_journal_is_tried_again_where_sqlite_does_not_wait(tmp_path: Path) -> None:
    """Seen about once in 150 openings when eight connections begin one memory at the same instant."""

    class LosesTheRaceTwice:
        tries = 0

        def execute(self, statement: str) -> sqlite3.Cursor:
            self.tries += 1
            if self.tries < 3:
                raise sqlite3.OperationalError("database is locked")
            return sqlite3.connect(":memory:").execute("SELECT 'wal'")

    database = Database(tmp_path / "memory.db", wal=True, busy_seconds=5)
    database.close()
    connection = database._connection = LosesTheRaceTwice()  # type: ignore[assignment]
    database._set_journal("wal")
    assert connection.tries == 3


def test_threads_may_share_a_store(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:

        def work(number: int) -> NodeId:
            (source,) = store.add([arrival(f"entry {number}", at(number))]).new
            store.land(state_lesson(store, f"state {number}", source))
            return source

        with ThreadPoolExecutor(4) as pool:
            assert len(set(pool.map(work, range(40)))) == 40
        assert store.counts()["state"] == 40
        assert store.integrity_check() == []


def test_only_one_process_learns_and_the_other_hears_which(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgmem_local.store.learning.PATIENCE_SECONDS", 0.2)
    holder = start("hold", tmp_path)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with open_store(tmp_path) as store:
        with pytest.raises(StoreBusy, match=f"process {holder.pid}"), store.learning():
            pass
        store.add([arrival("may be added meanwhile")])
        holder.kill()
        holder.communicate()
        assert current_learner(store.place.learning_lock) is None
        with store.learning() as lock:
            lock.note(3, 40)
            learner = current_learner(store.place.learning_lock)
            assert learner is not None
            assert (learner.process, learner.done, learner.total) == (os.getpid(), 3, 40)


def test_a_second_learner_waits_a_moment_for_the_first(tmp_path: Path) -> None:
    holder = start("hold", tmp_path)
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == "held\n"
    threading.Timer(0.5, holder.stdin.close).start()
    with open_store(tmp_path) as store, store.learning():
        holder.wait(10)


# Processes that die


def test_a_killed_process_leaves_whole_lessons_only(tmp_path: Path) -> None:
    chance = random.Random(7)
    reported: list[str] = []
    for round_ in range(6):
        reported += kill_at_random(start("learn", tmp_path, f"round {round_}", 12), chance)
    with open_store(tmp_path) as store:
        assert store.integrity_check() == []
        pending = {identifier for identifier, _ in store.pending()}
        graph = store.load_graph()
        for context in graph.of_kind(Kind.CONTEXT):
            taught = graph.derived(context.id)
            assert len(taught) == (0 if context.id in pending else 12)
            assert sum(len(graph.evidence(state)) for state in taught) == (0 if context.id in pending else 22)
        learned = len(graph.of_kind(Kind.CONTEXT)) - len(pending)
        assert store.spent()["extract"].calls == store.counts()["turns_learned"] == learned
        assert set(reported) <= {context.id for context in graph.of_kind(Kind.CONTEXT)} - pending
        assert len(reported) >= 6


def test_a_process_killed_while_it_saves_its_index_leaves_a_usable_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads = counted_loads(monkeypatch)
    chance = random.Random(11)
    for round_ in range(6):
        kill_at_random(start("index", tmp_path, f"round {round_}"), chance)
        with open_store(tmp_path) as store:
            hits = VectorIndexes(store, exact_below=1).nearest(Kind.CONTEXT, vector("query"), 10)
            rows = store.vector_rows(Kind.CONTEXT)
            expected = np.argsort(-(rows.matrix @ vector("query")), kind="stable")[:10]
            assert [identifier for identifier, _ in hits] == [rows.ids[row] for row in expected]
    assert len(loads) == 6


def counted_loads(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Index files that were believed: the old one stays in use until the new one is whole."""
    loads: list[Path] = []
    load: Callable[[Path, int], HnswSearcher] = HnswSearcher.load

    def noted(path: Path, dimension: int) -> HnswSearcher:
        loads.append(path)
        return load(path, dimension)

    monkeypatch.setattr(HnswSearcher, "load", noted)
    return loads
