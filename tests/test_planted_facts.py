"""`scripts/planted_facts.py` on two sample exports: it counts every export, and sees what is missing and what should not be there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from scripts import planted_facts
from tests.cli.conftest import models
from tests.ingest.reading import SAMPLES

__all__ = ["models"]

CHATS, VAULT = "chatgpt/conversations.json", "vault/2024-09-15.md"
PEANUTS = {"fact": "Peanut allergy", "files": [CHATS]}
KNEE = {"fact": "My knee is still sore; knee again", "files": [CHATS, VAULT], "kind": "update"}
NO_FACT = {"fact": "private comments, hidden messages, other branches", "files": [VAULT, CHATS], "kind": "negative"}

pytestmark = pytest.mark.usefixtures("models")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "exports" / "chatgpt").mkdir(parents=True)
    shutil.copy(SAMPLES / "chatgpt.json", tmp_path / "exports" / CHATS)
    shutil.copytree(SAMPLES / "vault", tmp_path / "exports" / "vault")
    return tmp_path / "exports"


def run(folder: Path, *facts: dict[str, Any]) -> int:
    file = folder.parent / "facts.json"
    file.write_text(json.dumps(facts), encoding="utf-8")
    return planted_facts.main([str(folder), str(file), "--me", "Nora"])


def test_facts_are_found_and_every_export_is_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, PEANUTS, KNEE, NO_FACT) == 0
    told = capsys.readouterr().out
    assert "2 of 2 facts found, 100% of the entries recalled" in told
    counted = {line.split()[0]: line.split()[1:] for line in told.splitlines() if line.startswith(("chatgpt", "vault"))}
    assert counted == {"chatgpt": ["5", "5", "of", "5", "2", "of", "2"], "vault": ["2", "2", "of", "2", "1", "of", "1"]}


def test_fact_that_changed_is_found_only_where_all_its_files_are(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, KNEE | {"files": [*KNEE["files"], "vault/absent.md"]}) == 1
    assert "NOT FOUND  My knee is still sore" in capsys.readouterr().out


def test_what_is_no_fact_must_not_be_stored(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    note = folder / "vault" / "Ebba.md"
    note.write_text("private comment\n", encoding="utf-8")
    assert run(folder, NO_FACT) == 1
    assert "STORED, though no fact: private comment" in capsys.readouterr().out


def test_branch_that_was_left_is_no_fact(folder: Path) -> None:
    conversations = json.loads((folder / CHATS).read_text(encoding="utf-8"))
    assert "Give me a dinner plan for 4 people" in set(planted_facts.not_shown(conversations))


def test_export_that_cannot_be_read_is_a_failure(folder: Path) -> None:
    (folder / "pictures").mkdir()
    (folder / "pictures" / "a.jpg").write_bytes(b"\xff\xd8\xff")
    assert run(folder, PEANUTS) == 1
