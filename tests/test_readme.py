"""What the README says exists, exists."""

from __future__ import annotations

import re
from pathlib import Path

import typer
from typer.main import get_command

from pgmem_local.cli.app import app

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_file_named_is_there() -> None:
    named = set(re.findall(r"`((?:pgmem_local|scripts|tests|models)/[\w./]+)`", README))
    assert len(named) > 15
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_every_command_named_is_there() -> None:
    command = get_command(app)
    context = typer.Context(command)
    known = set(command.list_commands(context))  # type: ignore[attr-defined]
    named = set(re.findall(r"^pgmem (\w+)", README, re.MULTILINE))
    assert named <= known
    assert known <= set(re.findall(r"pgmem (\w+)", README)), "a command is missing from the README"


def test_no_mark_was_left_to_be_filled_in() -> None:
    assert "@@" not in README
