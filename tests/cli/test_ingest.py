"""`pgmem ingest`: every record is accounted for, nothing is learned twice, and scripts can read what came of it."""

from __future__ import annotations

import gzip
import json
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from secrets import token_hex

import pytest

from pgmem_local.cli.ingest import BATCH, FIRST_BATCH, _batches
from pgmem_local.cli.progress import BarProgress, LineProgress, Reading, duration, pace
from pgmem_local.errors import IngestError
from pgmem_local.graph.nodes import Kind
from pgmem_local.memory import PersonaMemory, Progress
from pgmem_local.ports import Spent
from tests.cli.conftest import Models, Shell, diary, entry


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return diary(tmp_path / "diary.jsonl", entry("I drink tea.", 0), entry("My knee hurts.", 1), entry("I swim now.", 2))


def dump(pgmem: Shell) -> list[str]:
    with sqlite3.connect(pgmem.home / "profiles" / "default" / "memory.db") as connection:
        return list(connection.iterdump())


def test_all_entries_are_stored_and_learned(pgmem: Shell, file: Path) -> None:
    done = pgmem.json("ingest", str(file))
    assert (done["entries"], done["new"], done["known"], done["rejected"]) == (3, 3, 0, 0)
    assert done["turns_learned"] == 3
    assert (done["learned"]["context"], done["learned"]["state"], done["learned"]["episode"]) == (3, 3, 3)
    assert done["model_calls"] > 0
    with pgmem.store() as store:
        assert store.pending() == []


def test_the_same_file_again_opens_no_model_and_changes_nothing(pgmem: Shell, models: Models, file: Path) -> None:
    pgmem("ingest", str(file))
    before = dump(pgmem)
    models.opened.clear()
    done = pgmem.json("ingest", str(file))
    assert (done["new"], done["known"], done["model_calls"]) == (0, 3, 0)
    assert models.opened == []
    assert dump(pgmem) == before


def test_bad_line_is_said_with_its_number_kept_and_ends_in_exit_code_3(pgmem: Shell, tmp_path: Path) -> None:
    file = diary(tmp_path / "d.jsonl", entry("I drink tea."), '{"text": "cut', entry("I swim."))
    result = pgmem("ingest", str(file))
    assert result.exit_code == 3
    assert "d.jsonl line 2: not valid JSON" in result.stderr
    assert "2 entries read: 2 new" in result.stdout
    kept = pgmem.home / "profiles" / "default" / "rejects.jsonl"
    assert json.loads(kept.read_text("utf-8"))["raw"] == '{"text": "cut'
    assert str(kept) in result.stdout


def test_only_the_first_rejects_are_said_but_all_are_kept(pgmem: Shell, tmp_path: Path) -> None:
    file = diary(tmp_path / "d.jsonl", entry("I drink tea."), *(f"[{number}]" for number in range(50)))
    result = pgmem("ingest", str(file))
    assert result.stderr.count("rejected: ") == 21
    assert len((pgmem.home / "profiles" / "default" / "rejects.jsonl").read_text("utf-8").splitlines()) == 50


def test_file_of_bad_lines_only_is_an_error(pgmem: Shell, tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"d\.jsonl: nothing could be read: first problem: line 1: .*; what was rejected is in"):
        pgmem("ingest", str(diary(tmp_path / "d.jsonl", "{", "[1]")))


def test_missing_file_does_not_stop_the_others_but_is_an_error(pgmem: Shell, file: Path, tmp_path: Path) -> None:
    result = pgmem("ingest", str(tmp_path / "absent.jsonl"), str(file), "--json")
    assert result.exit_code == 1
    assert "absent.jsonl does not exist" in result.stderr
    done = json.loads(result.stdout)
    assert done["turns_learned"] == 3
    assert list(done["failed_files"]) == [str(tmp_path / "absent.jsonl")]


def test_turns_left_pending_by_an_interrupted_run_are_learned_by_the_same_command(
    pgmem: Shell, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as interrupted:
        interrupted.setattr(PersonaMemory, "learn", lambda self, report, enough: Spent())
        pgmem("ingest", str(file))
    done = pgmem.json("ingest", str(file))
    assert (done["new"], done["turns_learned"]) == (0, 3)


def test_secret_is_masked_and_said_with_its_line(pgmem: Shell, tmp_path: Path) -> None:
    file = diary(tmp_path / "d.jsonl", entry("I drink tea."), entry("My password is hunter2secret!"))
    assert "1 secret taken out before anything was stored (line 2)" in pgmem("ingest", str(file)).stdout
    assert not any("hunter2" in row for row in dump(pgmem))


def test_time_without_zone_is_read_in_the_zone_given(pgmem: Shell, tmp_path: Path) -> None:
    file = diary(tmp_path / "d.jsonl", {"timestamp": "2026-07-01 08:00", "text": "I drink tea."})
    assert "read as Asia/Tokyo (line 1)" in pgmem("ingest", str(file), "--tz", "Asia/Tokyo").stdout
    assert any("2026-06-30T23:00" in row for row in dump(pgmem))


def test_unknown_zone_is_an_error_before_anything_is_read(pgmem: Shell, file: Path) -> None:
    with pytest.raises(IngestError, match="no time zone is named"):
        pgmem("ingest", str(file), "--tz", "Mars/Olympus")
    assert not pgmem.home.exists()


def test_profiles_are_separate_memories(pgmem: Shell, file: Path) -> None:
    pgmem("ingest", str(file), "-p", "other")
    assert pgmem.json("stats")["counts"]["context"] == 0
    assert pgmem.json("stats", "-p", "other")["counts"]["context"] == 3


def test_model_name_reaches_whoever_opens_it_and_the_person_waiting(pgmem: Shell, models: Models, file: Path) -> None:
    result = pgmem("ingest", str(file), "--model", "tiny")
    assert "chat tiny" in models.opened
    assert "loading tiny …" in result.stderr
    assert result.stderr.startswith("reading ")


SLOW_INGEST = """
import sys, time
from pgmem_local.memory import PersonaMemory
from pgmem_local.runtime import opening
from pgmem_local.cli.app import main
from tests.fakes import HashEmbedder

def learn(self, report, enough):
    print("learning", file=sys.stderr, flush=True)
    time.sleep(60)

PersonaMemory.learn, opening.open_embedder = learn, HashEmbedder
main(["ingest", *sys.argv[1:]])
"""


def test_ctrl_c_ends_learning_at_once_and_says_how_to_go_on(pgmem: Shell, file: Path) -> None:
    command = [sys.executable, "-c", SLOW_INGEST, str(file), "--home", str(pgmem.home)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    while process.stderr.readline() != "learning\n":
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Run the same command again to continue" in said
    with pgmem.store() as store:
        assert len(store.pending()) == 3


def test_learning_runs_beside_the_main_thread_so_that_it_can_be_stopped(
    pgmem: Shell, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []

    def learn(self: PersonaMemory, report: object, enough: object) -> Spent:
        threads.append(threading.current_thread())
        return Spent()

    monkeypatch.setattr(PersonaMemory, "learn", learn)
    pgmem("ingest", str(file))
    assert threads != [threading.main_thread()]


def test_pace_counts_tokens_evaluated_and_written_and_foresees_the_end() -> None:
    assert pace(Progress(2, 10, Spent(evaluated=900, written=100)), 10.0) == "100 tokens/s, 40 s left"
    assert pace(Progress(0, 10, Spent()), 3.0) == ""


def test_durations_read_as_people_say_them() -> None:
    assert [duration(seconds) for seconds in (3.2, 75, 3720)] == ["3 s", "1 min 15 s", "1 h 02 min"]


def test_without_a_terminal_a_line_comes_every_few_seconds() -> None:
    lines: list[str] = []
    clock = [0.0]
    progress = LineProgress(lines.append, lambda: clock[0])
    progress.learned(Progress(0, 4, Spent()))
    for second in (1.0, 2.0, 6.0, 7.0, 12.0):
        clock[0] = second
        progress.tick()
    clock[0] = 20.0
    progress.learned(Progress(4, 4, Spent(evaluated=200)), notes=3)
    learned = "learned 4/4, 3 notes, 10 tokens/s, 0 s left (20 s)"
    assert lines == ["learned 0/4 (0 s)", "learned 0/4 (6 s)", "learned 0/4 (12 s)", learned]


def test_learning_says_how_many_notes_it_has_made(pgmem: Shell, file: Path) -> None:
    said = pgmem("ingest", str(file)).stderr
    assert "learned 0/3 (" in said
    assert "learned 3/3, 6 notes, " in said, "three States and the Episodes of three days"


def test_time_left_goes_by_the_speed_of_late_and_begins_anew_with_the_next_path() -> None:
    clock = [0.0]
    reading = Reading(lambda: clock[0])
    told = []
    reports = ((1.0, 4, None), (1.0, 5_000, 0.5), (31.0, 5_064, 0.6), (61.0, 5_128, 0.7), (62.0, 5_132, 0.1), (64.0, 5_140, 1.0))
    for second, entries, share in reports:
        clock[0] = second
        told.append(reading.told(entries, share))
    assert told == [
        "4 entries read",
        "5,000 entries read (50%), 1 s left",
        "5,064 entries read (60%), 2 min 00 s left",
        "5,128 entries read (70%), 1 min 30 s left",
        "5,132 entries read (10%), 9 s left",
        "5,140 entries read",
    ]


def test_bar_goes_on_turning_while_the_last_entries_are_stored() -> None:
    with closing(BarProgress()) as progress:
        progress.stored(4, 1.0)
        assert not progress._bars.finished


def test_it_shows_after_a_few_entries_how_fast_it_goes(pgmem: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, float]] = []
    monkeypatch.setattr(LineProgress, "stored", lambda self, entries, share: told.append((entries, share)))
    pgmem("ingest", str(diary(tmp_path / "d.jsonl", *(entry(f"I swim {day}.", day) for day in range(200)))), "--no-llm")
    stored = [entries for entries, _ in told]
    assert stored[:5] == [4, 12, 28, 60, 124]
    assert all(share < 0.9 for entries, share in told if entries < 124), "a small file is not read ahead to its end"
    assert max(after - before for before, after in pairwise(stored)) <= BATCH


def test_only_entries_of_the_days_asked_for_are_stored_and_the_others_are_counted(pgmem: Shell, file: Path) -> None:
    done = pgmem.json("ingest", str(file), "--since", "2026-03-02", "--until", "2026-03-02", "--no-llm")
    assert (done["new"], done["skipped"]) == (1, 2)


def test_own_names_of_fields_are_mapped(pgmem: Shell, tmp_path: Path) -> None:
    file = diary(tmp_path / "d.jsonl", {"note": "I swim.", "when": "2026-03-01T12:00:00Z"})
    done = pgmem.json("ingest", str(file), "--map", "text=note,timestamp=when", "--dry-run")
    assert done["first"][0]["time"] == "2026-03-01T12:00:00+00:00"
    assert pgmem("ingest", str(file), "--map", "note").exit_code == 2


def test_format_can_be_named_and_a_wrong_name_lists_those_there_are(pgmem: Shell, tmp_path: Path) -> None:
    file = diary(tmp_path / "d.json", {"note": "I swim."})
    assert pgmem.json("ingest", str(file), "--format", "jsonl", "--map", "text=note", "--dry-run")["entries"] == 1
    with pytest.raises(IngestError):
        pgmem("ingest", str(file), "--format", "json", "--dry-run")


def test_reject_of_another_format_says_how_to_repair_it_and_is_read_after_that(pgmem: Shell, tmp_path: Path) -> None:
    said = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["I swim."]}}
    good = {"id": "a", "current_node": "n", "mapping": {"n": {"message": said}}}
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([good, {"mapping": 7, "text": "I fly."}]), encoding="utf-8")
    assert "in place of each `raw`" in pgmem("ingest", str(file), "--no-llm").stdout
    rejects = pgmem.home / "profiles" / "default" / "rejects.jsonl"
    copy = tmp_path / "repaired.jsonl"
    copy.write_text(rejects.read_text("utf-8"), encoding="utf-8")
    with pytest.raises(IngestError):
        pgmem("ingest", str(copy), "--no-llm")
    record = json.loads(copy.read_text("utf-8"))
    copy.write_text(json.dumps(record | {"raw": json.dumps({"text": "I fly."})}), encoding="utf-8")
    assert pgmem.json("ingest", str(copy), "--no-llm")["new"] == 1


VERSION_1 = (
    {"ts": "2026-06-10T08:00:00+02:00", "role": "user", "text": "I planted tomatoes."},
    {"ts": "2026-06-11T08:00:00+02:00", "role": "user", "text": "I planted tomatoes."},
    {"ts": "2026-06-12T08:00:00+02:00", "role": "user", "text": "My aunt Silja visits."},
)
VERSION_2 = (
    *VERSION_1[:2],
    {"ts": "2026-06-12T08:00:00+02:00", "role": "user", "text": "My aunt Silja visits with her dog."},
    {"ts": "2026-06-13T08:00:00+02:00", "role": "user", "text": "I bought a rake."},
)


def test_edited_entry_takes_the_place_of_the_old_one(pgmem: Shell, tmp_path: Path) -> None:
    first, second = diary(tmp_path / "v1.jsonl", *VERSION_1), diary(tmp_path / "v2.jsonl", *VERSION_2)
    assert "3 entries read: 3 new, 0 known" in pgmem("ingest", str(first)).stdout
    again = pgmem("ingest", str(first)).stdout
    assert "3 entries read: 0 new, 3 known" in again
    assert "\nnothing learned, no model call, " in again
    assert "4 entries: 1 new, 1 changed, 2 known" in pgmem("ingest", str(second), "--dry-run").stdout
    assert "4 entries read: 1 new, 1 changed, 2 known" in pgmem("ingest", str(second)).stdout
    with pgmem.store() as store:
        contexts = [node.text for node in store.load_graph().of_kind(Kind.CONTEXT)]
        assert store.pending() == []
    assert sorted(contexts) == sorted(one["text"] for one in VERSION_2)


def test_edited_entry_is_counted_for_scripts(pgmem: Shell, tmp_path: Path) -> None:
    pgmem("ingest", str(diary(tmp_path / "v1.jsonl", *VERSION_1)))
    second = str(diary(tmp_path / "v2.jsonl", *VERSION_2))
    seen = pgmem.json("ingest", second, "--dry-run")
    done = pgmem.json("ingest", second)
    assert (seen["new"], seen["changed"], seen["known"]) == (done["new"], done["changed"], done["known"]) == (1, 1, 2)
    assert (done["entries"], done["turns_learned"]) == (4, 2)


@pytest.mark.parametrize("form", ["name", "line ends", "order of keys"])
def test_same_entries_in_another_form_are_known(form: str, pgmem: Shell, tmp_path: Path) -> None:
    first = diary(tmp_path / "v1.jsonl", *VERSION_1)
    pgmem("ingest", str(first))
    other = tmp_path / "other.jsonl"
    if form == "order of keys":
        diary(other, *(dict(reversed(one.items())) for one in VERSION_1))
    else:
        other.write_bytes(first.read_bytes().replace(b"\n", b"\r\n" if form == "line ends" else b"\n"))
    done = pgmem.json("ingest", str(other))
    assert (done["new"], done["changed"], done["known"], done["model_calls"]) == (0, 0, 3, 0)


def test_both_versions_in_one_run_are_two_entries(pgmem: Shell, tmp_path: Path) -> None:
    first, second = diary(tmp_path / "v1.jsonl", *VERSION_1), diary(tmp_path / "v2.jsonl", *VERSION_2)
    pgmem("ingest", str(first))
    done = pgmem.json("ingest", str(second), str(first))
    assert (done["new"], done["changed"], done["known"]) == (2, 0, 5)


def test_old_version_far_behind_the_edited_one_is_seen(pgmem: Shell, tmp_path: Path) -> None:
    pgmem("ingest", str(diary(tmp_path / "v1.jsonl", *VERSION_1)), "--no-llm")
    between = [entry(f"Day number {number}.", number) for number in range(BATCH + 5)]
    long = diary(tmp_path / "v2.jsonl", VERSION_2[2], *between, *VERSION_1)
    done = pgmem.json("ingest", str(long), "--no-llm")
    assert (done["new"], done["changed"], done["known"]) == (len(between) + 1, 0, 3)


def test_while_another_process_learns_both_versions_are_kept_and_said(
    pgmem: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgmem_local.store.learning.PATIENCE_SECONDS", 0.0)
    pgmem("ingest", str(diary(tmp_path / "v1.jsonl", *VERSION_1)), "--no-llm")
    with pgmem.store() as store, store.learning():
        result = pgmem("ingest", str(diary(tmp_path / "v2.jsonl", *VERSION_2)), "--no-llm")
    assert "4 entries read: 2 new, 2 known" in result.stdout
    assert "`pgmem forget c3` removes" in result.stderr
    with pgmem.store() as store:
        texts = [node.text for node in store.load_graph().of_kind(Kind.CONTEXT)]
    assert {"My aunt Silja visits.", "My aunt Silja visits with her dog."} < set(texts)


def test_file_cut_short_changes_nothing_that_was_stored(pgmem: Shell, tmp_path: Path) -> None:
    pgmem("ingest", str(diary(tmp_path / "v1.jsonl", *VERSION_1)), "--no-llm")
    whole = diary(tmp_path / "v2.jsonl", *VERSION_2[2:], *(entry(token_hex(32), number) for number in range(2000)), *VERSION_2[:2])
    cut = tmp_path / "v2.jsonl.gz"
    cut.write_bytes(gzip.compress(whole.read_bytes())[:-40_000])
    with pytest.raises(IngestError):
        pgmem("ingest", str(cut), "--no-llm")
    with pgmem.store() as store:
        texts = [node.text for node in store.load_graph().of_kind(Kind.CONTEXT)]
    assert {"My aunt Silja visits.", "My aunt Silja visits with her dog."} < set(texts)


def test_what_was_read_before_a_file_broke_off_is_stored_all_the_same() -> None:
    def broken() -> Iterator[int]:
        yield from range(FIRST_BATCH + 3)
        raise IngestError("the archive ends early")

    batches = _batches(broken())
    assert [*next(batches), *next(batches)] == list(range(FIRST_BATCH + 3))
    with pytest.raises(IngestError, match="ends early"):
        next(batches)
