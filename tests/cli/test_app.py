"""What every command has in common: help, exit codes, errors in one line, output that never fails to encode."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pgmem_local.cli.app import EXIT_CODES, app, main
from tests.cli.conftest import Shell

COMMANDS = ("ingest", "ask", "recall", "me", "why", "stats", "timeline", "chat")


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "pgmem_local", *arguments], capture_output=True, env={**os.environ, **environment}, check=False
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_shows_an_example_and_takes_a_home(command: str) -> None:
    shown = CliRunner().invoke(app, [command, "--help"]).stdout
    assert f"Example: pgmem {command}" in shown
    assert "--home" in shown


def test_exit_codes_are_documented() -> None:
    words = " ".join(CliRunner().invoke(app, ["--help"]).stdout.split())
    assert EXIT_CODES in words


def test_error_is_one_line_and_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["why", "s99", "--home", str(tmp_path)])
    assert ended.value.code == 1
    assert capsys.readouterr().err.splitlines()[-1].startswith("pgmem: the memory holds no node 's99'")


def test_wrong_usage_is_exit_code_2() -> None:
    assert CliRunner().invoke(app, ["ask"]).exit_code == 2
    assert CliRunner().invoke(app, ["nonsense"]).exit_code == 2


def test_home_that_is_a_file_is_said_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ended = run("me", "--home", str(tmp_path / "file"))
    assert (ended.returncode, ended.stdout) == (1, b"")
    assert ended.stderr.startswith(b"pgmem: ")
    assert ended.stderr.count(b"\n") == 1


def test_home_comes_from_the_environment(tmp_path: Path) -> None:
    assert str(tmp_path / "elsewhere").encode() in run("stats", "--json", PGMEM_HOME=str(tmp_path / "elsewhere")).stdout


def test_ascii_terminal_gets_question_marks_instead_of_an_error(remembered: Shell) -> None:
    ended = run("why", "s2", "--home", str(remembered.home), PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert ended.returncode == 0
    assert b"?A week without espresso" in ended.stdout


@pytest.mark.parametrize("arguments", [["stats"], ["stats", "--json"], ["--help"], ["--version"]])
def test_reader_that_has_gone_ends_the_command_quietly(remembered: Shell, arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    home = {"PGMEM_HOME": str(remembered.home)}
    command = [sys.executable, "-m", "pgmem_local", *arguments]
    ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env={**os.environ, **home}, check=False)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (1, b"")
