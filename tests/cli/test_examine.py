"""`pgmem doctor` and `pgmem status`."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from pgmem_local.doctor.findings import Finding, Verdict
from pgmem_local.store import MemoryStore
from tests.cli.conftest import Models, Shell, diary, entry


def findings(output: str) -> dict[str, dict[str, Any]]:
    return {finding["name"]: finding for finding in json.loads(output)["findings"]}


@pytest.fixture(autouse=True)
def models_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgmem_local.doctor.health._models", lambda memory: iter(()))


def ingested(pgmem: Shell, tmp_path: Path) -> None:
    pgmem("ingest", str(diary(tmp_path / "diary.jsonl", entry("I drink jasmine tea."), entry("I swim on Wednesdays.", 1))))


def test_sound_memory_is_healthy(pgmem: Shell, tmp_path: Path) -> None:
    ingested(pgmem, tmp_path)
    result = pgmem("doctor", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["healthy"] is True
    assert {"rows", "index", "duplicates", "invalidated"} <= findings(result.stdout).keys()
    assert "ok    rows" in pgmem("doctor").stdout


def test_broken_row_ends_with_1_and_is_named(pgmem: Shell, tmp_path: Path) -> None:
    ingested(pgmem, tmp_path)
    with sqlite3.connect(pgmem.home / "profiles" / "default" / "memory.db") as connection:
        connection.execute("DELETE FROM vectors WHERE node = 's1'")
    result = pgmem("doctor")
    assert result.exit_code == 1
    assert "a node without a vector: s1" in result.stdout


def test_missing_model_is_a_finding(pgmem: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    monkeypatch.setattr("pgmem_local.runtime.model_files.search_folders", lambda: [tmp_path / "none"])
    result = pgmem("doctor", "--json")
    assert result.exit_code == 1
    assert "pgmem models pull" in findings(result.stdout)["chat model"]["detail"]


def test_privacy_shows_its_findings_and_ends_with_1_on_a_bad_one(pgmem: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = Finding("sockets", Verdict.BAD, "a socket was opened", ("connect",))
    monkeypatch.setattr("pgmem_local.cli.examine.examine_privacy", lambda *arguments: [bad])
    result = pgmem("doctor", "--privacy")
    assert result.exit_code == 1
    assert "BAD   sockets         a socket was opened\n" in result.stdout


def test_status_of_no_memory_begins_none(pgmem: Shell) -> None:
    assert "0 entries: 0 learned, 0 pending\nlast written never" in pgmem("status").stdout
    assert not pgmem.home.exists()


def test_status_shows_who_learns_and_how_far_it_is(pgmem: Shell, tmp_path: Path) -> None:
    ingested(pgmem, tmp_path)
    assert "nobody is learning\n2 entries: 2 learned, 0 pending\nlast written 2" in pgmem("status").stdout
    with MemoryStore.open(pgmem.home) as store, store.learning() as lock:
        lock.note(1, 4)
        status = json.loads(pgmem("status", "--json").stdout)
        assert (status["learning"], status["learner"]["done"], status["learner"]["total"]) == (True, 1, 4)
        assert status["seconds_left"] is not None
        assert ": 1 of 4 done, about" in pgmem("status").stdout


def test_no_model_is_opened_to_examine(pgmem: Shell, models: Models) -> None:
    pgmem("doctor")
    pgmem("status")
    assert models.opened == []
