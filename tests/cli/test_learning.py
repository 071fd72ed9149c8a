"""Storing now and learning later: `--no-llm`, `--max-minutes` and `pgmem learn`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Models, Shell, diary, entry


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return diary(tmp_path / "diary.jsonl", *(entry(f"I drink tea number {day}.", day) for day in range(9)))


def test_no_llm_stores_and_indexes_without_a_model_call_and_learning_follows(pgmem: Shell, models: Models, file: Path) -> None:
    done = pgmem.json("ingest", str(file), "--no-llm")
    assert (done["new"], done["turns_learned"], done["pending"], done["model_calls"]) == (9, 0, 9, 0)
    assert not any(opened.startswith("chat") for opened in models.opened)
    assert "tea number 3" in pgmem("recall", "tea").stdout
    later = pgmem.json("learn")
    assert (later["turns_learned"], later["pending"]) == (9, 0)


def test_no_minutes_at_all_learn_nothing_and_lose_nothing(pgmem: Shell, file: Path) -> None:
    done = pgmem.json("ingest", str(file), "--max-minutes", "0")
    assert (done["new"], done["turns_learned"], done["pending"]) == (9, 0, 9)
    assert pgmem.json("learn", "--max-minutes", "5")["pending"] == 0


def test_what_waits_is_said_with_the_command_that_goes_on(pgmem: Shell, file: Path) -> None:
    shown = pgmem("ingest", str(file), "--no-llm").stdout
    assert "9 entries still to be learned: `pgmem learn`" in shown
    assert "relations" not in shown, "nothing was learned, so there is nothing to count"


def test_learn_with_nothing_pending_opens_no_model(pgmem: Shell, models: Models) -> None:
    assert pgmem.json("learn")["turns_learned"] == 0
    assert models.opened == []
