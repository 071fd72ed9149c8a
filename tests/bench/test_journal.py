"""Results survive a broken run, and results of another run are not taken for ours."""

from __future__ import annotations

from pathlib import Path

from pgmem_local.bench.journal import Build, Journal, Outcome
from pgmem_local.ports import Spent

ONE = Outcome("q1", {"said": "tea"}, Spent(calls=1, evaluated=7))
BUILT = Build("case", 3, Spent(calls=2), 100, 200)


def test_results_are_found_again(tmp_path: Path) -> None:
    path = tmp_path / "a" / "j.jsonl"
    journal = Journal(path, "x")
    journal.add("rag", ONE)
    journal.add("rag", BUILT)
    again = Journal(path, "x")
    assert again.outcomes("rag") == {"q1": ONE}
    assert again.builds("rag") == {"case": BUILT}
    assert again.outcomes("none") == {}


def test_line_cut_off_by_a_crash_is_dropped_and_the_file_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    journal = Journal(path, "x")
    journal.add("rag", ONE)
    path.write_text(path.read_text("utf-8") + '{"system": "rag", "id"', "utf-8")
    broken = Journal(path, "x")
    broken.add("rag", Outcome("q2", {}, Spent()))
    assert list(Journal(path, "x").outcomes("rag")) == ["q1", "q2"]


def test_results_of_another_run_are_not_used(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    Journal(path, "x").add("rag", ONE)
    assert Journal(path, "y").outcomes("rag") == {}
