"""An encrypted memory: nothing of it can be read without the passphrase, and no process that dies on the way loses anything."""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pgmem_local.errors import PassphraseNeeded, StoreBusy, StoreError, WrongPassphrase
from pgmem_local.graph.nodes import Kind
from pgmem_local.store import MemoryStore, Place, VectorIndexes, encryption
from pgmem_local.store.cipher import is_encrypted, quoted
from pgmem_local.store.encryption import convert
from pgmem_local.store.passphrase import find_passphrase
from tests.store.builders import DIMENSION, IDENTITY, arrival, at, state_lesson, vector

ROOT = Path(__file__).parents[2]
SECRET = "correct horse 'battery' -- staple"
CANARIES = [f"canary{number}zebra{number * 7919}" for number in range(20)]


def opened(home: Path, passphrase: str | None = SECRET) -> MemoryStore:
    store = MemoryStore.open(home, prompt=None if passphrase is None else lambda: passphrase)
    store.expect_vectors(IDENTITY, DIMENSION)
    return store


def begun(home: Path, count: int = 20) -> Place:
    """A plain memory with a canary an entry, in a note of it and in its index files."""
    with opened(home) as store:
        for number, canary in enumerate(CANARIES[:count]):
            (source,) = store.add([arrival(canary, at(number), reply=f"reply {canary}", session=f"session {canary}")]).new
            store.land(state_lesson(store, f"likes {canary}", source))
        VectorIndexes(store, exact_below=1).save()
        return store.place


def texts(home: Path, passphrase: str | None = SECRET) -> list[str]:
    with opened(home, passphrase) as store:
        assert store.integrity_check() == []
        return [node.text for kind in Kind for node in store.load_graph().of_kind(kind)]


def leaks(home: Path) -> dict[str, list[str]]:
    """Canaries that stand in a file, by the file's name; also a vector, which tells as much as words."""
    needles = {canary: canary.encode() for canary in CANARIES} | {"vector": vector(CANARIES[0]).tobytes()}
    files = [path for path in home.rglob("*") if path.is_file()]
    found = {path.name: [name for name, needle in needles.items() if needle in path.read_bytes()] for path in files}
    return {name: hits for name, hits in found.items() if hits}


def test_nothing_can_be_read_in_any_file_of_an_encrypted_memory(tmp_path: Path) -> None:
    place = begun(tmp_path)
    assert {"memory.db"} <= leaks(tmp_path).keys(), "the canaries must be there before"
    convert(place, None, SECRET)
    encryption.discard_derived(place)
    assert leaks(tmp_path) == {}
    with opened(tmp_path) as store:
        (new,) = store.add([arrival(f"again {CANARIES[0]}", at(99))]).new
        store.land(state_lesson(store, f"still likes {CANARIES[1]}", new))
        VectorIndexes(store, exact_below=1).save()
        assert (store.place.folder / "memory.db-wal").stat().st_size > 0
        assert leaks(tmp_path) == {}, "in the write-ahead log"
    assert leaks(tmp_path) == {}
    assert len(texts(tmp_path)) == 42


def test_encrypting_rekeying_and_decrypting_change_no_row(tmp_path: Path) -> None:
    place = begun(tmp_path)
    before = texts(tmp_path)
    for old, new in ((None, SECRET), (SECRET, "other"), ("other", None)):
        convert(place, old, new)
        assert is_encrypted(place.database) is (new is not None)
        assert texts(tmp_path, new) == before
    assert oct(place.database.stat().st_mode)[-3:] == "600"


def test_index_of_an_encrypted_memory_is_rebuilt_in_memory(tmp_path: Path) -> None:
    place = begun(tmp_path)
    convert(place, None, SECRET)
    encryption.discard_derived(place)
    with opened(tmp_path) as store:
        indexes = VectorIndexes(store, exact_below=1)
        assert indexes.nearest(Kind.CONTEXT, vector(CANARIES[3]), 1)[0][0] == "c4"
        store.add([arrival("one more")])
        indexes.refresh()
        indexes.save()
    assert list(place.index_folder.iterdir()) == []


@pytest.mark.parametrize("wrong", ["wrong", SECRET.upper(), SECRET + " "])
def test_wrong_passphrase_is_said_so_and_changes_nothing(wrong: str, tmp_path: Path) -> None:
    place = begun(tmp_path, 1)
    convert(place, None, SECRET)
    before = place.database.read_bytes()
    with pytest.raises(WrongPassphrase, match="does not open"):
        opened(tmp_path, wrong)
    with pytest.raises(WrongPassphrase):
        convert(place, wrong, "new")
    assert place.database.read_bytes() == before


def test_nobody_to_ask_is_a_clear_error(tmp_path: Path) -> None:
    convert(begun(tmp_path, 1), None, SECRET)
    with pytest.raises(PassphraseNeeded, match="PGMEM_PASSPHRASE_FILE"):
        opened(tmp_path, None)


@pytest.mark.parametrize("passphrase", ["", "a\x00b"])
def test_passphrase_that_sqlite_would_cut_is_refused(passphrase: str) -> None:
    with pytest.raises(StoreError, match="choose another"):
        quoted(passphrase)


def test_file_named_in_the_environment_gives_the_passphrase_unless_others_may_read_it(tmp_path: Path) -> None:
    file = tmp_path / "passphrase"
    file.write_text(f"{SECRET}\nsecond line\n", encoding="utf-8")
    file.chmod(0o600)
    environment = {"PGMEM_PASSPHRASE_FILE": str(file)}
    assert find_passphrase(Place(tmp_path), None, environment) == SECRET
    file.chmod(0o644)
    with pytest.raises(StoreError, match="chmod 600"):
        find_passphrase(Place(tmp_path), None, environment)


def test_memory_that_another_process_has_open_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encryption, "_BUSY_SECONDS", 0.1)
    place = begun(tmp_path, 2)
    chat = subprocess.Popen(
        [sys.executable, "-m", "tests.store.worker", "add_later", str(tmp_path), "not lost", "1"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert chat.stdout is not None
    chat.stdout.readline()
    with pytest.raises(StoreBusy, match="another process has"):
        convert(place, None, SECRET)
    chat.communicate(b"")
    assert "not lost" in texts(tmp_path, None)
    assert not is_encrypted(place.database)


def test_missing_extra_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = begun(tmp_path, 1)
    convert(place, None, SECRET)
    monkeypatch.setitem(sys.modules, "sqlcipher3", None)
    with pytest.raises(StoreError, match=r"pip install 'pgmem-local\[encrypted\]'"):
        opened(tmp_path)


def test_copy_that_is_not_the_same_takes_no_ones_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = begun(tmp_path, 3)
    before = texts(tmp_path, None)

    def damaged(connection: object) -> list[str]:
        return ["row 1 missing from index"]

    monkeypatch.setattr("pgmem_local.store.integrity.problems", damaged)
    with pytest.raises(StoreError, match="nothing was changed"):
        convert(place, None, SECRET)
    monkeypatch.undo()
    assert texts(tmp_path, None) == before


@pytest.mark.parametrize("step", ["_copy", "_verify", "_swap"])
def test_failure_at_any_step_leaves_the_memory_and_no_copy(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = begun(tmp_path, 3)
    convert(place, None, SECRET)
    real: Callable[..., object] = getattr(encryption, step)

    def fails(*arguments: object) -> None:
        if step != "_swap":
            real(*arguments)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(encryption, step, fails)
    with pytest.raises(StoreError, match="as it was, free some space"):
        convert(place, SECRET, None)
    monkeypatch.undo()
    assert not encryption.new_file(place).exists()
    assert len(texts(tmp_path)) == 6


def test_plain_copy_that_a_dead_process_left_goes_with_the_next_opening(tmp_path: Path) -> None:
    place = begun(tmp_path, 3)
    convert(place, None, SECRET)
    encryption.new_file(place).write_text(CANARIES[0], encoding="utf-8")
    assert len(texts(tmp_path)) == 6
    assert not encryption.new_file(place).exists()


def test_killed_at_any_moment_the_memory_is_the_old_one_or_the_new_one(tmp_path: Path) -> None:
    begun(tmp_path)
    code = f"""
import sys
from pgmem_local.store import Place
from pgmem_local.store.encryption import convert
from pgmem_local.store.cipher import is_encrypted
from pathlib import Path
place = Place(Path(sys.argv[1]))
print("begin", flush=True)
while True:
    convert(place, *(({SECRET!r}, None) if is_encrypted(place.database) else (None, {SECRET!r})))
    print("converted", flush=True)
"""
    chance = random.Random(3)
    for round_ in range(8):
        process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE)
        assert process.stdout is not None
        for _ in range(1 + round_ % 2):  # one way as often as the other
            process.stdout.readline()
        time.sleep(chance.uniform(0.0, 0.8))
        process.kill()
        process.communicate()
        assert len(texts(tmp_path)) == 40


def test_what_is_overwritten_is_gone_from_its_blocks(tmp_path: Path) -> None:
    file = tmp_path / "old"
    file.write_bytes(CANARIES[0].encode() * 100)
    kept = os.open(file, os.O_RDONLY)
    encryption.discard(file)
    assert set(os.read(kept, 10_000)) == {0}
    os.close(kept)
    assert not file.exists()
