"""Forgotten means gone: no byte of any file holds it, all else is as it was, and a process may die in the middle (D6-02)."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from pgmem_local.control.forgetting import Selection
from pgmem_local.errors import StoreBusy
from pgmem_local.graph.nodes import Kind, NodeId
from pgmem_local.memory import PersonaMemory
from pgmem_local.store import MemoryStore
from pgmem_local.store.database import Database
from tests.control.canaries import CANARIES, FORGETTING, KEPT, MOMENTS, STEM, index_everything, planted, reader, traces_in
from tests.control.conftest import believe, content, current, never, opened, texts
from tests.fakes import HashEmbedder

ROOT = Path(__file__).parents[2]
Rows = dict[str, set[tuple[object, ...]]]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("planted")
    with pytest.MonkeyPatch.context() as patch:
        believe(patch)
        index_everything(patch)
        planted(home)
    return home


@pytest.fixture
def home(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    index_everything(monkeypatch)
    return Path(shutil.copytree(original, tmp_path / "home"))


def rows(home: Path) -> Rows:
    with closing(sqlite3.connect(home / "profiles" / "default" / "memory.db")) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        kept = [name for name in tables if name not in ("meta", "counters", "acts", "sqlite_sequence")]
        return {name: set(connection.execute(f'SELECT * FROM "{name}"')) for name in kept}


def without(all_rows: Rows, identifiers: set[NodeId]) -> Rows:
    """The rows that do not speak of these nodes."""
    return {name: {row for row in found if not identifiers.intersection(map(str, row))} for name, found in all_rows.items()}


def test_every_canary_is_there_before(home: Path) -> None:
    assert {one for held in traces_in(home).values() for one in held} == set(CANARIES)


def test_no_byte_of_any_file_holds_what_was_forgotten_while_the_memory_is_open_and_after(home: Path) -> None:
    with opened(home) as memory, opened(home) as other:
        memory.forget(memory.plan_forgetting(FORGETTING))
        assert traces_in(home) == {}
        assert memory.search(STEM) == other.search(STEM) == ()
        assert memory.store.integrity_check() == []
    assert traces_in(home) == {}


def test_all_else_is_row_by_row_as_it_was(home: Path) -> None:
    before = rows(home)
    with opened(home) as memory:
        plan = memory.plan_forgetting(FORGETTING)
        (retold,) = plan.retold
        memory.forget(plan)
        told_anew = {node.id for node in memory.graph.of_kind(Kind.EPISODE) if node.text == "A walk by the lake."}
    gone = {node.id for node in plan.removed}
    after = rows(home)
    expected, left = without(before, gone), without(after, told_anew)
    assert retold.text == "A walk by the lake."
    assert len(told_anew) == 1
    assert {name for name in left if left[name] != expected[name]} == {"chunks"}
    assert after["chunks"] <= before["chunks"]


def test_receipt_is_the_difference_of_the_rows(home: Path) -> None:
    before = rows(home)
    with opened(home) as memory:
        plan = memory.plan_forgetting(FORGETTING)
        receipt = memory.forget(plan)
    after = rows(home)
    kinds = {kind: sum(row[1] == kind.value for row in before["nodes"] - after["nodes"]) for kind in Kind}
    assert (receipt.contexts, receipt.states, receipt.traits) == (kinds[Kind.CONTEXT], kinds[Kind.STATE], kinds[Kind.TRAIT])
    assert (receipt.episodes + receipt.rewritten, receipt.rewritten) == (kinds[Kind.EPISODE], 1)
    assert receipt.judgements == len(before["judgements"]) - len(after["judgements"]) == plan.judgements
    assert receipt.vectors == len(before["vectors"] - after["vectors"])
    assert (receipt.reject_lines, receipt.history_lines) == (plan.reject_lines, plan.history_lines) == (2, 2)
    assert receipt.files > 1


def test_vectors_of_what_was_forgotten_are_in_no_file(home: Path) -> None:
    with opened(home) as memory:
        plan = memory.plan_forgetting(FORGETTING)
        vectors = [memory.vectors.vectors([node.id])[0].tobytes() for node in plan.removed]
        memory.forget(plan)
        held = [path.name for path in home.rglob("*") if path.is_file() for one in vectors if one in path.read_bytes()]
        assert held == []
        assert list(memory.store.place.index_folder.glob("*.hnsw"))


def test_other_records_of_rejects_and_history_stay_and_only_their_owner_reads_them(home: Path) -> None:
    with opened(home) as memory:
        memory.forget(memory.plan_forgetting(FORGETTING))
        place = memory.store.place
    assert '"raw": "bread"' in place.rejects.read_text()
    assert place.chat_history.read_text().split() == ["#", "2026-05-01", "10:00:00", "+weather"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in (place.rejects, place.chat_history)} == {0o600}


def test_what_stays_is_still_known_and_what_went_is_not(home: Path) -> None:
    with opened(home, reader()) as memory:
        memory.forget(memory.plan_forgetting(FORGETTING))
        assert [text for text in KEPT if text in texts(memory, Kind.CONTEXT)] == list(KEPT)
        assert "User swims on Wednesdays" in current(memory)
        shown = memory.recall(f"Who lives0 near {CANARIES[0]}?").evidence.ranked
        assert [entry.node.text for entry in shown if STEM in entry.node.text] == []


@pytest.mark.parametrize("guard", ["scrub", "files"])
def test_look_at_the_bytes_notices_a_broken_guard(guard: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if guard == "scrub":
        monkeypatch.setattr(Database, "scrub", lambda database: None)
    else:
        monkeypatch.setattr("pgmem_local.control.traces.clear_from", lambda *_: 0)
    with opened(home) as memory:
        memory.forget(memory.plan_forgetting(FORGETTING))
        assert traces_in(home) != {}


@pytest.mark.parametrize("moment", MOMENTS)
def test_process_killed_in_the_middle_leaves_the_old_or_the_new_and_the_next_finishes(moment: str, home: Path) -> None:
    with opened(home) as memory:
        before = content(memory)
    command = [sys.executable, "-m", "tests.control.canaries", str(home), moment]
    assert subprocess.run(command, cwd=ROOT, check=False, timeout=300).returncode == -signal.SIGKILL
    with opened(home) as memory:
        if moment in ("before the rows go", "inside the transaction"):
            assert content(memory) == before
            memory.forget(memory.plan_forgetting(FORGETTING))
        assert memory.store.sweep_due() is None
        assert traces_in(home) == {}
        assert memory.search(STEM) == ()
        assert memory.store.integrity_check() == []
        (hit,) = memory.vectors.nearest(Kind.CONTEXT, memory.embedder.embed([KEPT[0]])[0], 1)
        assert memory.get(hit[0]).text == KEPT[0]


def test_everything_leaves_nothing_but_an_empty_memory(home: Path) -> None:
    with opened(home) as memory:
        receipt = memory.forget(Selection(everything=True))
        assert (len(memory.graph), receipt.reject_lines, receipt.history_lines) == (0, 3, 3)
        assert {name for name, found in rows(home).items() if found} == set()
        place = memory.store.place
        assert not any(path.exists() for path in (place.rejects, place.chat_history, place.model_states))
        assert not [text for text in KEPT if any(text.encode() in path.read_bytes() for path in home.rglob("*") if path.is_file())]
        assert memory.remember("I begin anew.").id not in {"s1", "s2"}


def test_reader_that_does_not_end_delays_the_sweep_and_the_next_open_finishes(home: Path) -> None:
    store = MemoryStore.open(home, busy_seconds=0.2)
    with closing(sqlite3.connect(store.place.database, isolation_level=None)) as slow:
        slow.execute("BEGIN")
        slow.execute("SELECT count(*) FROM nodes").fetchone()
        with PersonaMemory(store, never, lambda: HashEmbedder(512)) as memory, pytest.raises(StoreBusy):
            memory.forget(Selection(text=STEM))
        slow.execute("ROLLBACK")
    with opened(home) as memory:
        assert memory.store.sweep_due() is None
    assert traces_in(home) == {}
