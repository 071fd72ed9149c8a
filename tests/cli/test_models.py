"""`pgmem models`: what scripts read, what people see, and which failures end with an error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pgmem_local.cli import models as models_cli
from pgmem_local.cli.models import models_app
from pgmem_local.errors import ModelFileError
from pgmem_local.runtime import model_files
from pgmem_local.runtime.weights import registry
from tests.runtime.weight_files import gguf, model


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder searched, with one registered model in it."""
    specs = (model("m.gguf", gguf()), model("absent.gguf", gguf()))
    monkeypatch.setattr(registry, "MODELS", specs)
    monkeypatch.setattr(models_cli, "MODELS", specs)
    monkeypatch.setattr(model_files, "_folders", lambda: iter([tmp_path]))
    (tmp_path / "m.gguf").write_bytes(gguf())
    return tmp_path


def run(*arguments: str) -> str:
    result = CliRunner().invoke(models_app, list(arguments))
    if result.exception:
        raise result.exception
    return result.stdout


def test_list_tells_installed_from_absent(folder: Path) -> None:
    assert {row["name"]: row["folder"] for row in json.loads(run("list", "--json"))} == {"m": str(folder), "absent": None}
    assert "CC0-1.0" in run("list")


def test_path_prints_the_path_and_nothing_else(folder: Path) -> None:
    assert run("path", "m") == f"{folder / 'm.gguf'}\n"
    assert json.loads(run("path", "auto", "--json")) == {"name": "auto", "paths": [str(folder / "m.gguf")]}


def test_pull_of_what_is_there_says_so(folder: Path) -> None:
    assert json.loads(run("pull", "m", "--json")) == [{"name": "m", "paths": [str(folder / "m.gguf")], "fetched": False}]
    assert "m: already in" in run("pull", "m")


def test_verify_ends_with_an_error_where_a_byte_differs(folder: Path) -> None:
    assert run("verify").startswith("good: ")
    (folder / "m.gguf").write_bytes(gguf()[:-1] + b"\2")
    with pytest.raises(ModelFileError, match="pgmem models pull m"):
        run("verify")


def test_verify_of_an_absent_model_is_an_error(folder: Path) -> None:
    with pytest.raises(ModelFileError, match="pgmem models pull absent"):
        run("verify", "absent")


def test_every_command_shows_an_example() -> None:
    for command in ("list", "pull", "verify", "path"):
        assert f"Example: pgmem models {command}" in run(command, "--help")
