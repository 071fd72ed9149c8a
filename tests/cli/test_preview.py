"""`pgmem ingest --dry-run`: what would be read, without a model and without a trace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgmem_local.cli import preview
from pgmem_local.errors import IngestError
from tests.cli.conftest import Models, Shell, diary, entry
from tests.ingest.reading import SAMPLES


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return diary(tmp_path / "diary.jsonl", entry("I drink tea.", 0), '{"text": "cut', entry("My knee hurts.", 1), {"text": "undated"})


def test_json_tells_format_counts_span_speakers_and_first_entries(pgmem: Shell, file: Path) -> None:
    result = pgmem("ingest", str(file), "--dry-run", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 3
    assert (found["format"], found["entries"], found["rejected"], found["undated"]) == ("jsonl", 3, 1, 1)
    assert found["speakers"] == {"user": 3}
    assert (found["earliest"], found["latest"]) == ("2026-03-01T12:00:00+01:00", "2026-03-02T12:00:00+01:00")
    assert [one["text"] for one in found["first"]] == ["I drink tea.", "My knee hurts.", "undated"]
    assert found["estimated_seconds"] is None


def test_nothing_is_written_and_no_model_is_opened(pgmem: Shell, models: Models, file: Path) -> None:
    pgmem("ingest", str(file), "--dry-run")
    assert not pgmem.home.exists()
    assert models.opened == []


def test_entries_the_memory_has_are_known_and_the_time_of_the_others_is_estimated(pgmem: Shell, tmp_path: Path) -> None:
    pgmem("ingest", str(diary(tmp_path / "old.jsonl", entry("I drink tea.", 0))))
    new = diary(tmp_path / "new.jsonl", entry("I drink tea.", 0), entry("I swim.", 1))
    found = pgmem.json("ingest", str(new), "--dry-run")
    assert (found["new"], found["known"]) == (1, 1)
    assert found["estimated_seconds"] is not None


def test_people_read_the_same_in_lines(pgmem: Shell) -> None:
    shown = pgmem("ingest", str(SAMPLES / "claude.json"), "--dry-run").stdout
    assert "3 entries: 3 new, 0 known, 0 records rejected" in shown
    assert "speakers: user 3, assistant 3" in shown
    assert "user: Add: tell Tariq, he lives in Lund now." in shown
    assert "    assistant: Added as item 4." in shown
    assert "1× text of an attachment, pasted or uploaded: left out, since it need not be the owner's (conversation 1)" in shown
    assert "nothing is written yet: the same command without --dry-run reads it in" in shown


def test_format_that_was_taken_is_said_with_its_reason(pgmem: Shell) -> None:
    result = pgmem("ingest", str(SAMPLES / "claude.json"), "--dry-run")
    assert "Claude (claude.json holds conversations as Claude exports them)" in result.stderr


def test_path_that_holds_nothing_is_an_error(pgmem: Shell, tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="nothing could be read"):
        pgmem("ingest", str(diary(tmp_path / "d.jsonl", "[1]")), "--dry-run")


def test_terminal_commands_in_a_text_are_not_shown(pgmem: Shell, tmp_path: Path) -> None:
    file = diary(tmp_path / "d.jsonl", entry("red \x1b[31malert\x1b]0;title\x07 \u202e"))
    assert "\x1b" not in pgmem("ingest", str(file), "--dry-run").stdout


def test_entry_that_two_exports_hold_is_new_once(pgmem: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview, "LATEST", 2)
    days = [entry(f"I swim {day}.", day) for day in range(5)]
    paths = [str(diary(tmp_path / "short.jsonl", *days[:3])), str(diary(tmp_path / "long.jsonl", *days))]
    shown = pgmem.json("ingest", *paths, "--dry-run")
    read = pgmem.json("ingest", *paths, "--no-llm")
    assert (shown["entries"], shown["new"], shown["known"]) == (read["entries"], read["new"], read["known"]) == (8, 5, 3)


def test_what_is_left_out_of_a_folder_is_found_by_the_names_of_its_files(pgmem: Shell, tmp_path: Path) -> None:
    chats = tmp_path / "chats"
    chats.mkdir()
    for name in ("WhatsApp Chat with Ines.txt", "WhatsApp Chat with Tove.txt"):
        lines = ["31/12/25, 18:00 - Ines: <Media omitted>"] * (2 if "Tove" in name else 1) + ["31/12/25, 19:00 - Nora: I swim."]
        (chats / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    other = diary(tmp_path / "d.jsonl", entry("x", 0), {"text": "A tool ran.", "role": "tool"})
    shown = pgmem("ingest", str(chats), str(other), "--me", "Nora", "--dry-run").stdout
    assert f"{chats}:\n" in shown
    assert "(WhatsApp Chat with Ines.txt line 1; WhatsApp Chat with Tove.txt lines 1, 2)" in shown
    assert f"{other}:\n" in shown
    assert "(line 2)" in shown
