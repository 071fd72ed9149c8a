"""`pgmem ingest` with real models, killed without a warning again and again, ends where an undisturbed run ends."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pgmem_local.graph.nodes import Context, Kind
from pgmem_local.store import MemoryStore, VectorIndexes
from tests.short_diary import ENTRIES, write_diary

pytestmark = pytest.mark.models

PATIENCE = 240.0

MOMENTS = {
    "when the command begins": "SELECT 0",
    "when the memory exists": "SELECT count(*) FROM meta",
    "when the entries are stored": f"SELECT count(*) = {len(ENTRIES)} FROM contexts",
    "when the first entry is learned": "SELECT count(*) FROM contexts WHERE learned",
    "when the first day is closed": "SELECT count(*) FROM chunks WHERE closed",
}
"""What the database says when the kill is due: a query that gives more than 0, but for the first."""


@pytest.fixture(scope="module")
def diary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_diary(tmp_path_factory.mktemp("diary") / "diary.jsonl")


@pytest.fixture(scope="module")
def undisturbed(diary: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("undisturbed")
    assert finish(diary, home)["new"] == len(ENTRIES)
    return home


def command(diary: Path, home: Path) -> list[str]:
    return [sys.executable, "-m", "pgmem_local", "ingest", str(diary), "--home", str(home), "--model", "smollm2-135m", "--json"]


def finish(diary: Path, home: Path) -> Any:
    """Let the command run to its end; what it printed."""
    ended = subprocess.run(command(diary, home), capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


def database(home: Path) -> Path:
    return home / "profiles" / "default" / "memory.db"


def kill_at(moment: str, diary: Path, home: Path) -> bool:
    """Start the command and kill it at this moment; whether it was still at work then."""
    process = subprocess.Popen(command(diary, home), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        assert process.stderr is not None
        process.stderr.readline()
        if moment != "when the command begins":
            wait_until(lambda: process.poll() is not None or reached(moment, home))
        return process.poll() is None
    finally:
        process.kill()
        process.communicate()


def reached(moment: str, home: Path) -> bool:
    try:
        with sqlite3.connect(f"file:{database(home)}?mode=ro", uri=True, timeout=5) as connection:
            return bool(connection.execute(MOMENTS[moment]).fetchone()[0])
    except sqlite3.OperationalError:  # no file yet, or no tables in it
        return False


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "the moment never came"
        time.sleep(0.002)


def contexts(home: Path) -> list[Context]:
    with MemoryStore.open(home) as store:
        return [node for node in store.load_graph().of_kind(Kind.CONTEXT) if isinstance(node, Context)]


def dump(home: Path) -> list[str]:
    with sqlite3.connect(database(home)) as connection:
        return list(connection.iterdump())


def test_five_kills_and_a_rerun_leave_what_an_undisturbed_run_leaves(diary: Path, undisturbed: Path, tmp_path: Path) -> None:
    assert [kill_at(moment, diary, tmp_path) for moment in MOMENTS] == [True] * len(MOMENTS)
    finish(diary, tmp_path)
    assert contexts(tmp_path) == contexts(undisturbed)
    with MemoryStore.open(tmp_path) as store:
        assert store.pending() == []
        assert store.chunks_to_close() == []
        assert store.counts()["turns_learned"] == len(ENTRIES)
        assert store.integrity_check() == []
        indexes = VectorIndexes(store)
        for kind in Kind:
            ids = store.vector_ids(kind)
            found = [indexes.nearest(kind, vector, 1)[0][0] for vector in store.vectors_of(ids)]
            assert [store.node(one).text for one in found] == [store.node(one).text for one in ids]


def test_same_file_again_makes_no_model_call_and_changes_no_row(diary: Path, undisturbed: Path) -> None:
    before = dump(undisturbed)
    again = finish(diary, undisturbed)
    assert (again["new"], again["known"], again["model_calls"]) == (0, len(ENTRIES), 0)
    assert dump(undisturbed) == before
