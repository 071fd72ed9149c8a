"""The benchmark on real weights, small ones: that it runs, not that it scores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pgmem_local.cli.app import app

SYSTEMS = {
    "relations": "letters,json,pgmem",
    "extraction": "pgmem",
    "diary": "none,rag@200,oracle",
    "memhop": "rag@200",
    "memhop-retrieval": "rag@200",
}


@pytest.mark.models
@pytest.mark.parametrize("task", SYSTEMS)
def test_task_runs_on_a_tiny_model(task: str, tmp_path: Path) -> None:
    limit = "2" if task.startswith("memhop") else "5"
    arguments = ["bench", task, "--model", "smollm2-135m", "--limit", limit, "--systems", SYSTEMS[task], "--out", str(tmp_path)]
    ended = CliRunner().invoke(app, arguments)
    assert ended.exit_code == 0, ended.output
    whole = json.loads((tmp_path / f"{task}.json").read_text("utf-8"))
    assert list(whole["metrics"]) == SYSTEMS[task].split(",")
    assert whole["raw_speed"]["prompt"] > 0
    assert len(whole["model"]["sha256"]) == 64
