"""`pgmem export` and `pgmem import`: what they print, what a script gets, and what they need no model for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgmem_local.errors import IngestError, StoreError
from tests.cli.conftest import Models, Shell


def test_export_comes_in_elsewhere(remembered: Shell, tmp_path: Path, models: Models) -> None:
    path = str(tmp_path / "memory.jsonl")
    assert "2 contexts, 2 states, 1 traits, 2 judgements" in remembered("export", path).stdout
    assert models.opened == [], "an export needs no model"
    other = Shell(tmp_path / "other")
    result = other("import", path)
    assert f"imported from {path}: 2 contexts, 2 states, 1 traits, 2 judgements" in result.stdout
    assert models.opened == ["embedder"]
    assert other.json("me") == remembered.json("me")
    assert "holds nothing that is not known" in other("import", path).stdout
    assert models.opened == ["embedder"], "what is known needs no vector"


def test_long_import_says_how_far_it_is(remembered: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgmem_local.cli.progress.LINE_SECONDS", 0)
    remembered("export", str(tmp_path / "memory.jsonl"))
    assert "5 entries read" in Shell(tmp_path / "other")("import", str(tmp_path / "memory.jsonl")).stderr


def test_scripts_get_counts(remembered: Shell, tmp_path: Path) -> None:
    path = str(tmp_path / "memory.jsonl")
    value = remembered.json("export", path)
    assert (value["path"], value["format"], value["records"]["state"]) == (path, "jsonl", 2)
    assert value["bytes"] == Path(path).stat().st_size
    assert Shell(tmp_path / "other").json("import", path)["new"]["trait"] == 1


def test_standard_output_gets_the_export_and_nothing_else(remembered: Shell) -> None:
    lines = remembered("export", "-").stdout.splitlines()
    assert [json.loads(line)["record"] for line in lines][:2] == ["header", "chunk"]


@pytest.mark.parametrize(("name", "first"), [("markdown", "# What is"), ("graphml", "<?xml"), ("HTML", "<!DOCTYPE html>")])
def test_other_forms_are_asked_for_by_name(name: str, first: str, remembered: Shell) -> None:
    assert remembered("export", "-", "--format", name).stdout.startswith(first)


def test_owner_of_an_encrypted_memory_is_told_that_the_file_is_plain(
    remembered: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "encrypted" not in remembered("export", "-").stderr
    monkeypatch.setattr("pgmem_local.store.sqlite.MemoryStore.encrypted", True)
    result = remembered("export", str(tmp_path / "memory.md"))
    assert result.stderr.splitlines() == ["pgmem: this memory is encrypted, and an export is not: whoever reads the file reads all of it"]


def test_lines_that_wait_to_be_learned_are_told(pgmem: Shell, tmp_path: Path) -> None:
    (tmp_path / "diary.jsonl").write_text('{"timestamp": "2026-03-01T12:00:00Z", "text": "I ski."}\n')
    pgmem("ingest", str(tmp_path / "diary.jsonl"), "--no-llm")
    pgmem("export", str(tmp_path / "memory.jsonl"))
    assert "1 line still to be learned: pgmem learn" in Shell(tmp_path / "other")("import", str(tmp_path / "memory.jsonl")).stdout


def test_unknown_format_is_an_error_that_names_all(remembered: Shell, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="jsonl"):
        remembered("export", str(tmp_path / "memory.jsonl"), "--format", "docx")


def test_file_that_no_export_wrote_is_an_error(pgmem: Shell, tmp_path: Path) -> None:
    (tmp_path / "diary.md").write_text("Dear diary")
    with pytest.raises(IngestError, match=r"diary\.md, line 1: .*nothing was imported"):
        pgmem("import", str(tmp_path / "diary.md"))


@pytest.mark.parametrize("command", ["export", "import"])
def test_help_has_an_example(command: str, pgmem: Shell) -> None:
    assert f"Example: pgmem {command}" in pgmem(command, "--help").stdout
