"""A diary whose writer changes, with questions on what holds, what held, why, who, what to advise, and what nobody can know."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pgmem_local.bench.datasets.files import chosen, field, read_json, read_lines, shipped
from pgmem_local.bench.datasets.history import Case, Entry, Question
from pgmem_local.conversation import Exchange, Moment, Turn
from pgmem_local.errors import IngestError

ADVICE, ABSTAIN = "advice", "abstain"


@dataclass(frozen=True)
class DiaryQuestion(Question):
    """forms: spellings of the right answer. stale: of what used to be right (current_state) or holds at another time (past_state).

    options and correct: of advice only, in the order A to D. evidence_only: showing the evidence is the whole answer.
    """

    forms: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    correct: int = -1
    implicit: bool = False
    evidence_only: bool = False


@dataclass(frozen=True)
class Diary(Case[DiaryQuestion]):
    """planted: strings that must never be shown or stored, where the annotations name them."""

    planted: tuple[str, ...] = ()


def diary_files(data: Path | None) -> list[Path]:
    """The entry files; questions and annotations lie beside each under its name."""
    found = chosen(data or shipped("diaries"), "*.jsonl")
    return [path for entry in found for path in (entry, questions_of(entry), _annotations_of(entry)) if path.is_file()]


def read_diaries(data: Path | None) -> list[Diary]:
    """The diary that comes with the package, or those of a file or folder of the same format."""
    return [_diary(path) for path in chosen(data or shipped("diaries"), "*.jsonl")]


def questions_of(entries: Path) -> Path:
    return entries.with_name(f"{entries.stem}_questions.json")


def _annotations_of(entries: Path) -> Path:
    return entries.with_name(f"{entries.stem}_annotations.json")


def _diary(path: Path) -> Diary:
    entries = tuple(_entry(record, path) for record in read_lines(path))
    beside = questions_of(path)
    if not beside.is_file():
        raise IngestError(f"{path} has no questions: {beside.name} must lie beside it")
    questions = tuple(_question(record, beside) for record in read_json(beside))
    annotations = read_json(_annotations_of(path)) if _annotations_of(path).is_file() else {}
    planted = [secret["string"] for secret in annotations.get("secrets", ())]
    return Diary(path.stem, entries, questions, planted=tuple(planted))


def _entry(record: dict[str, Any], path: Path) -> Entry:
    moment = Moment.of(datetime.fromisoformat(field(record, "timestamp", path)))
    return Entry(str(field(record, "id", path)), Exchange(Turn(field(record, "text", path), moment)))


def _question(record: dict[str, Any], path: Path) -> DiaryQuestion:
    answer = record.get("answer")
    stale = [record[name] for name in ("stale_answer",) if record.get(name)]
    options = record.get("options", {})
    return DiaryQuestion(
        id=str(field(record, "id", path)),
        text=field(record, "question", path),
        kind=field(record, "kind", path),
        steps=tuple(frozenset({entry}) for entry in record.get("evidence_entries", ())),
        forms=tuple(form for form in (answer, *record.get("aliases", ())) if form),
        stale=(*stale, *record.get("stale_aliases", ()), *record.get("wrong_answers", ())),
        options=tuple(options.values()),
        correct=list(options).index(record["correct"]) if options else -1,
        implicit=record.get("implicit", False),
        evidence_only=record.get("scoring") == "evidence",
    )
