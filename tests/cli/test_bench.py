"""`pgmem bench`: from options to files and a table, with stand-ins for the models."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pgmem_local.bench.catalogue import TASK_SUMMARIES
from pgmem_local.bench.workbench import Step
from pgmem_local.cli import benchmarking
from pgmem_local.cli.app import app
from pgmem_local.cli.benchmarking import ProgressLines
from pgmem_local.runtime import opening
from pgmem_local.runtime.model_files import ModelFile
from tests.cli.conftest import RuleChat
from tests.fakes import HashEmbedder

Bench = Callable[..., Result]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Bench:
    weights = tmp_path / "weights.gguf"
    weights.write_bytes(b"GGUF")
    monkeypatch.setattr(opening, "open_chat_model", lambda name, loading=None: RuleChat())
    monkeypatch.setattr(opening, "open_embedder", HashEmbedder)
    monkeypatch.setattr(benchmarking, "find_model", lambda name: ModelFile(weights, None))
    return lambda *arguments: CliRunner().invoke(app, ["bench", *arguments, "--out", str(tmp_path / "out")])


@pytest.mark.parametrize("task", TASK_SUMMARIES)
def test_every_task_shows_an_example(task: str) -> None:
    shown = CliRunner().invoke(app, ["bench", task, "--help"]).stdout
    assert f"Example: pgmem bench {task}" in shown


def test_run_writes_json_and_table_and_prints_it(bench: Bench, tmp_path: Path) -> None:
    ended = bench("diary", "--systems", "none,rag", "--limit", "4")
    assert ended.exit_code == 0, ended.output
    assert (tmp_path / "out" / "diary.md").read_text("utf-8") in ended.stdout
    whole = json.loads((tmp_path / "out" / "diary.json").read_text("utf-8"))
    assert whole["model"]["sha256"].startswith("b83633aa")  # of the four bytes
    assert list(whole["metrics"]) == ["none", "rag"]


def test_json_is_one_object_without_single_items(bench: Bench) -> None:
    value = json.loads(bench("extraction", "--systems", "copy", "--json").stdout)
    assert "has_state_f1" in value["metrics"]["copy"]
    assert "items" not in value


def test_missing_data_is_said_before_a_model_is_loaded(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmarking, "find_model", lambda name: pytest.fail("looked for a model"))
    ended = bench("relations", "--data", str(tmp_path / "nowhere"))
    assert "holds no *.jsonl" in str(ended.exception)


def test_two_runs_are_compared(bench: Bench, tmp_path: Path) -> None:
    bench("extraction", "--systems", "copy,first-person")
    path = str(tmp_path / "out" / "extraction.json")
    ended = CliRunner().invoke(app, ["bench", "compare", path, path, "--system", "first-person", "--against", "copy"])
    assert "first-person (B) minus copy (A), 120 items" in ended.stdout
    assert "| has state f1 | +0.0" in ended.stdout


def test_progress_tells_the_time_left_and_keeps_quiet_in_between() -> None:
    lines: list[str] = []
    clock = iter([0.0, 0.0, 1.0, 10.0, 11.0, 20.0])
    progress = ProgressLines(lines.append, lambda: next(clock))
    for done in (0, 1, 2, 3, 4):
        progress.hear(Step("learning", done, 4))
    assert lines == ["learning: 0/4", "learning: 2/4, 10 s left", "learning: 4/4"]
