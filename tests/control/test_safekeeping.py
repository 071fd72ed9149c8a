"""Backups are whole or refused, and a memory is never lost on the way back."""

from __future__ import annotations

import shutil
import sqlite3
import stat
from pathlib import Path

import pytest

from pgmem_local.control.forgetting import Selection
from pgmem_local.errors import StoreBusy, StoreError
from pgmem_local.graph.nodes import Kind, NodeId
from pgmem_local.memory import PersonaMemory
from pgmem_local.store import MemoryStore, locate
from pgmem_local.store.cipher import is_encrypted
from pgmem_local.store.encryption import convert
from tests.control.conftest import content, current, never, opened, texts
from tests.fakes import HashEmbedder

PASSPHRASE = "correct horse 'battery'"


def test_what_was_backed_up_comes_back_row_by_row(diary: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("elsewhere") / "copy.db"
    with opened(diary) as memory:
        before = content(memory)
        kept = memory.backup(path)
        memory.remember("I am allergic to walnuts.")
        memory.pin(NodeId("s1"))
        assert memory.restore(path).counts == kept.counts
        assert content(memory) == before
        assert "I am allergic to walnuts." not in current(memory)
    with opened(diary) as memory:
        assert content(memory) == before
        assert memory.store.integrity_check() == []


def test_backup_is_one_file_that_only_its_owner_reads(diary: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with opened(diary) as memory:
        kept = memory.backup(tmp_path / "out" / "copy.db")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["copy.db"]
    assert stat.S_IMODE(kept.path.stat().st_mode) == 0o600
    assert kept.counts["state"] == 5


def test_backup_never_overwrites(diary: Path) -> None:
    path = diary / "copy.db"
    path.write_text("mine")
    with opened(diary) as memory, pytest.raises(StoreError, match="not overwritten"):
        memory.backup(path)
    assert path.read_text() == "mine"


def damaged(whole: Path) -> dict[str, Path]:
    """Files that are no good backups."""
    folder = whole.parent
    cut, page, text, empty = (folder / name for name in ("cut.db", "page.db", "text.db", "empty.db"))
    content = whole.read_bytes()
    cut.write_bytes(content[: len(content) // 2])
    page.write_bytes(content[:8192] + bytes(4096) + content[12288:])
    text.write_text("Dear diary")
    empty.touch()
    other = folder / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    unfounded = folder / "unfounded.db"
    shutil.copyfile(whole, unfounded)
    with sqlite3.connect(unfounded) as connection:
        connection.execute("DELETE FROM vectors WHERE node = 's1'")
    return {"cut": cut, "page": page, "text": text, "empty": empty, "missing": folder / "none.db", "other": other, "unfounded": unfounded}


@pytest.mark.parametrize("kind", ["cut", "page", "text", "empty", "missing", "other", "unfounded"])
def test_damaged_backup_is_refused_and_nothing_changes(kind: str, diary: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("elsewhere")
    with opened(diary) as memory:
        memory.backup(folder / "copy.db")
        before = content(memory)
        with pytest.raises(StoreError):
            memory.restore(damaged(folder / "copy.db")[kind])
        assert content(memory) == before
        assert not list(memory.store.place.folder.glob("*.tmp*"))


def test_backup_that_does_not_arrive_whole_leaves_the_memory_as_it_was(diary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(diary) as memory:
        memory.backup(diary / "copy.db")
        memory.pin(NodeId("s1"))
        before = content(memory)
        monkeypatch.setattr(MemoryStore, "integrity_check", lambda store: ["a row is gone"])
        with pytest.raises(StoreError, match="as it was"):
            memory.restore(diary / "copy.db")
        assert content(memory) == before


def test_running_process_follows_a_restore(diary: Path) -> None:
    with opened(diary) as memory, opened(diary) as other:
        memory.backup(diary / "copy.db")
        other.remember("I am allergic to walnuts.")
        assert "I am allergic to walnuts." in current(other)
        memory.restore(diary / "copy.db")
        assert "I am allergic to walnuts." not in current(other)
        assert "I am allergic to walnuts." not in texts(other, Kind.CONTEXT)
        state = other.remember("I keep bees.")
        assert memory.get(state.id).text == "I keep bees."
        assert memory.vectors.nearest(Kind.STATE, memory.embedder.embed(["I keep bees."])[0], 1)[0][0] == state.id


def test_running_process_compares_no_vector_of_another_memory(diary: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    with opened(elsewhere) as another:
        another.remember("I keep bees.")
        another.backup(elsewhere / "copy.db")
    with opened(diary) as memory, opened(diary) as other:
        memory.restore(elsewhere / "copy.db")
        (found,) = other.search("bees", 1)
        assert found.text == "I keep bees."
        query = other.embedder.embed(["I keep bees."])[0]
        assert other.vectors.nearest(Kind.STATE, query, 1)[0] == (NodeId("s1"), pytest.approx(1.0, abs=1e-5))


def test_no_number_is_given_again_after_a_restore(diary: Path) -> None:
    with opened(diary) as memory:
        memory.backup(diary / "copy.db")
        first = memory.remember("I am allergic to walnuts.")
        memory.restore(diary / "copy.db")
    with opened(diary) as memory:
        assert memory.remember("I keep bees.").id != first.id


def test_nothing_is_restored_while_something_is_learned(diary: Path) -> None:
    with opened(diary) as memory, opened(diary) as other:
        memory.backup(diary / "copy.db")
        with other.store.learning(), pytest.raises(StoreBusy):
            memory.restore(diary / "copy.db")


def test_copy_of_too_few_rows_is_no_backup(diary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryStore, "check_copy", lambda store, path: {"nodes": 1})
    with opened(diary) as memory, pytest.raises(StoreError, match="does not hold"):
        memory.backup(diary / "copy.db")
    assert not list(diary.glob("copy*"))


class TestEncrypted:
    """A backup of an encrypted memory opens with the passphrase the memory has, and with nothing else."""

    @staticmethod
    def sealed(home: Path) -> PersonaMemory:
        store = MemoryStore.open(home, prompt=lambda: PASSPHRASE)
        return PersonaMemory(store, never, lambda: HashEmbedder(512))

    @pytest.fixture
    def encrypted(self, diary: Path) -> Path:
        convert(locate(diary), None, PASSPHRASE)
        return diary

    def test_backup_is_encrypted_and_comes_back(self, encrypted: Path) -> None:
        with self.sealed(encrypted) as memory:
            kept = memory.backup(encrypted / "copy.db")
            assert is_encrypted(kept.path)
            assert b"espresso" not in kept.path.read_bytes()
            memory.remember("Walnuts make me ill.")
            assert memory.restore(kept.path).counts == kept.counts
            assert "Walnuts make me ill." not in current(memory)

    def test_plain_backup_is_not_put_in_the_place_of_an_encrypted_memory(self, diary: Path) -> None:
        with opened(diary) as memory:
            memory.backup(diary / "plain.db")
        convert(locate(diary), None, PASSPHRASE)
        with self.sealed(diary) as memory, pytest.raises(StoreError, match="pgmem encrypt"):
            memory.restore(diary / "plain.db")

    def test_forgetting_works_and_leaves_no_plain_file(self, encrypted: Path) -> None:
        with self.sealed(encrypted) as memory:
            assert memory.forget(Selection(text="espresso")).contexts == 1
            assert not any("espresso" in text for text in texts(memory, Kind.CONTEXT))
            assert memory.store.integrity_check() == []
