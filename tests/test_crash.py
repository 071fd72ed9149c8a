"""The short form of `scripts/crash_test.py`, which kills more often when it is run by hand."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pgmem_local.store import MemoryStore
from scripts import crash_test
from tests.store.builders import delete


def test_kills_of_an_ingest_lose_double_and_halve_nothing(tmp_path: Path) -> None:
    assert crash_test.kill_ingests(tmp_path, entries=60, kills=6, chance=random.Random(5)) >= 2


def test_kills_of_a_forgetting_leave_no_half_and_no_trace(tmp_path: Path) -> None:
    assert crash_test.kill_forgettings(tmp_path, entries=45, kills=3, chance=random.Random(6)) >= 2


def test_script_sees_what_is_lost_doubled_or_halved(tmp_path: Path) -> None:
    diary = crash_test.write_diary(tmp_path / "diary.jsonl", 6)
    expected, _ = crash_test.undisturbed(diary, tmp_path / "whole")
    home = tmp_path / "home"
    crash_test.run(["ingest", str(diary), "--home", str(home)])
    crash_test.same_as(home, expected)
    with MemoryStore.open(home) as store:
        delete(store, ["s3"])  # type: ignore[list-item]
    with pytest.raises(crash_test.Broken, match="half learned"):
        crash_test.check(home, expected)
    with pytest.raises(crash_test.Broken, match="kind state"):
        crash_test.same_as(home, expected)
    with MemoryStore.open(home) as store:
        delete(store, ["s1", "c1", "s2", "c2", "e1"])  # type: ignore[list-item]
    with pytest.raises(crash_test.Broken, match="more is gone"):
        crash_test.still_there(home, [crash_test.topic(number) for number in range(6)], set())
