"""A diary whose writer changes, with questions on what holds, what held, why, who, what to advise, and what nobody can know."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pgmem_local.bench.datasets.files import chosen, read_json, read_lines, shipped
from pgmem_local.bench.datasets.files import field as needed
from pgmem_local.bench.datasets.history import Case, Entry, Question
from pgmem_local.conversation import Exchange, Moment, Turn
from pgmem_local.errors import IngestError

ADVICE, ABSTAIN = "advice", "abstain"
_REMARK = re.compile(r"\(.*?\)")


@dataclass(frozen=True)
class Phrase:
    """Words planted in an entry."""

    text: str
    entry: str


@dataclass(frozen=True)
class Planted:
    """What must not be stored [secrets], must not be held as the writer's [claims, others, not_facts], must be marked as replaced
    [shifts: the values of one attribute in their order], and must be kept on both sides [tensions].

    others: each with the name of whom it is true of.
    """

    secrets: tuple[str, ...] = ()
    claims: tuple[Phrase, ...] = ()
    others: tuple[tuple[str, Phrase], ...] = ()
    not_facts: tuple[Phrase, ...] = ()
    shifts: tuple[tuple[Phrase, ...], ...] = ()
    tensions: tuple[tuple[Phrase, ...], ...] = ()


@dataclass(frozen=True)
class DiaryQuestion(Question):
    """forms: spellings of the right answer. stale: of what used to be right (current_state) or holds at another time (past_state).

    options and correct: of advice only, in the order A to D. evidence_only: showing the evidence is the whole answer.
    secrets: what no answer may say.
    """

    forms: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    correct: int = -1
    implicit: bool = False
    evidence_only: bool = False
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Diary(Case[DiaryQuestion]):
    """planted: what the annotations say was put into it, for looking at what a memory made of it."""

    planted: Planted = field(default_factory=Planted)


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
    planted = _planted(read_json(_annotations_of(path))) if _annotations_of(path).is_file() else Planted()
    questions = tuple(_question(record, beside, planted.secrets) for record in read_json(beside))
    return Diary(path.stem, entries, questions, planted=planted)


def _planted(raw: dict[str, Any]) -> Planted:
    """The annotations that concern what is stored. A remark in parentheses is the annotator's; a fact of several parts is several."""
    parts = [(one["person"], part, one["evidence"]) for one in raw.get("other_people", ()) for part in one["fact"].split(",")]
    return Planted(
        secrets=tuple(one["string"] for one in raw.get("secrets", ())),
        claims=tuple(Phrase(text, one["entry"]) for one in raw.get("injections", ()) for text in one["must_not_be_stored"]),
        others=tuple((person, Phrase(part, entry)) for person, part, evidence in parts for entry, _ in evidence),
        not_facts=tuple(Phrase(_REMARK.sub("", one["text"]), one["entry"]) for one in raw.get("not_facts", ())),
        shifts=tuple(tuple(Phrase(one["value"], one["entry"]) for one in shift["values"]) for shift in raw.get("shifts", ())),
        tensions=tuple(tuple(Phrase(quote, entry) for entry, quote in one["evidence"]) for one in raw.get("tensions", ())),
    )


def _entry(record: dict[str, Any], path: Path) -> Entry:
    moment = Moment.of(datetime.fromisoformat(needed(record, "timestamp", path)))
    return Entry(str(needed(record, "id", path)), Exchange(Turn(needed(record, "text", path), moment)))


def _question(record: dict[str, Any], path: Path, secrets: tuple[str, ...]) -> DiaryQuestion:
    answer = record.get("answer")
    stale = [record[name] for name in ("stale_answer",) if record.get(name)]
    options = record.get("options", {})
    return DiaryQuestion(
        id=str(needed(record, "id", path)),
        text=needed(record, "question", path),
        kind=needed(record, "kind", path),
        steps=tuple(frozenset({entry}) for entry in record.get("evidence_entries", ())),
        forms=tuple(form for form in (answer, *record.get("aliases", ())) if form),
        stale=(*stale, *record.get("stale_aliases", ()), *record.get("wrong_answers", ())),
        options=tuple(options.values()),
        correct=list(options).index(record["correct"]) if options else -1,
        implicit=record.get("implicit", False),
        evidence_only=record.get("scoring") == "evidence",
        secrets=secrets,
    )
