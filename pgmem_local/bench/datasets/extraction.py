"""Labelled messages: does a message reveal a State of its writer, and which?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgmem_local.bench.datasets.files import chosen, field, read_lines, shipped
from pgmem_local.conversation import Speaker, Turn
from pgmem_local.graph.nodes import Polarity, RecallPriority


@dataclass(frozen=True)
class Expected:
    """must_mention and must_not_mention: entries whose alternatives are parted by `|`. Polarity and priority count only with a State."""

    has_state: bool
    about: str
    must_mention: tuple[str, ...]
    must_not_mention: tuple[str, ...]
    polarity: Polarity
    priority: RecallPriority


@dataclass(frozen=True)
class LabelledMessage:
    """trap: what makes the message hard, or `none`."""

    id: str
    context: tuple[Turn, ...]
    message: str
    trap: str
    expect: Expected

    @property
    def before(self) -> str | None:
        """The assistant's words that the message may answer."""
        return next((turn.text for turn in reversed(self.context) if turn.speaker is Speaker.ASSISTANT), None)


def extraction_files(data: Path | None) -> list[Path]:
    return chosen(data or shipped("extraction"), "*.jsonl")


def read_extraction(data: Path | None) -> list[LabelledMessage]:
    """The messages that come with the package, or those of a file or folder of the same format."""
    return [_message(record, path) for path in extraction_files(data) for record in read_lines(path)]


def _message(record: dict[str, Any], path: Path) -> LabelledMessage:
    context = tuple(Turn(turn["content"], None, Speaker(turn["role"])) for turn in record.get("context", ()))
    expect = _expected(field(record, "expect", path))
    return LabelledMessage(str(field(record, "id", path)), context, field(record, "message", path), record.get("trap", "none"), expect)


def _expected(raw: dict[str, Any]) -> Expected:
    return Expected(
        has_state=raw["has_state"],
        about=raw["about"],
        must_mention=tuple(raw["must_mention"]),
        must_not_mention=tuple(raw["must_not_mention"]),
        polarity=Polarity(raw["polarity"]),
        priority=RecallPriority(raw["priority"]),
    )
