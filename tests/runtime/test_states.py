"""States on disk: private, replaced as a whole, worthless once damaged or once anything they depend on has changed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from pgmem_local.runtime.states import fingerprint, is_kept, load_state, save_state


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    save_state(tmp_path / "states", "key", b"what was evaluated")
    assert load_state(tmp_path / "states", "key") == b"what was evaluated"
    assert is_kept(tmp_path / "states", "key")


def test_another_key_finds_nothing(tmp_path: Path) -> None:
    save_state(tmp_path, "key", b"x")
    assert load_state(tmp_path, "other") is None
    assert load_state(tmp_path / "missing", "key") is None


def test_only_the_newest_is_kept(tmp_path: Path) -> None:
    for key in ("one", "two"):
        save_state(tmp_path, key, b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["two.state"]


@pytest.mark.parametrize("umask", [0o022, 0o000])
def test_nobody_else_may_read_it(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        save_state(tmp_path / "states", "key", b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "states").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "states" / "key.state").stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", [lambda kept: kept[:-1], lambda kept: kept[:-1] + b"?", lambda kept: b"", lambda kept: b"x" * 99])
def test_a_damaged_one_is_not_used_and_goes(tmp_path: Path, damage: object) -> None:
    save_state(tmp_path, "key", b"what was evaluated")
    path = tmp_path / "key.state"
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    assert load_state(tmp_path, "key") is None
    assert not is_kept(tmp_path, "key")


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "states").write_text("a file")
    save_state(tmp_path / "states", "key", b"x")
    assert load_state(tmp_path / "states", "key") is None


def test_fingerprint_tells_files_apart(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    seen = set()
    for content in (b"a" * 100, b"b" * 100, b"a" * 101):
        path.write_bytes(content)
        os.utime(path, (1, 1))
        seen.add(fingerprint(path))
    os.utime(path, (2, 2))
    seen.add(fingerprint(path))
    assert len(seen) == 4
    assert fingerprint(path) == fingerprint(path)
