"""LoCoMo: two friends' long conversations, questions in five categories, and, where it lies beside, an audit of the gold answers.

Every turn is an entry under its dialogue id, with the speaker's name before it; `query`, an image search nobody said, is not taken in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from pgmem_local.bench.datasets.files import read_json
from pgmem_local.bench.datasets.foreign import beside
from pgmem_local.bench.datasets.history import Case, Entry, Question
from pgmem_local.bench.scoring.token_f1 import Category
from pgmem_local.conversation import Exchange, Moment, Turn

AUDIT = "locomo_audit_errors.json"
_DIALOGUE_ID = re.compile(r"D\d+:\d+")
_SESSION = re.compile(r"session_(\d+)")


@dataclass(frozen=True)
class LocomoQuestion(Question):
    """corrected: the audit's answer where it holds the gold one to be wrong. flagged: it does."""

    answer: str = ""
    category: Category = Category.SINGLE_HOP
    corrected: str = ""
    flagged: bool = False


def read_locomo(path: Path, conversations: int | None = None) -> list[Case[LocomoQuestion]]:
    audit_file = beside(path, AUDIT)
    audit = {(one["sample_id"], one["qa_index"]): one for one in (read_json(audit_file) if audit_file else ())}
    return [_conversation(sample, audit) for sample in read_json(path)[:conversations]]


def _conversation(sample: dict[str, Any], audit: dict[tuple[str, int], dict[str, Any]]) -> Case[LocomoQuestion]:
    name, talk = sample["sample_id"], sample["conversation"]
    numbers = sorted(int(found.group(1)) for key in talk if (found := _SESSION.fullmatch(key)))
    entries = [entry for number in numbers for entry in _session(talk, number)]
    known = {entry.id for entry in entries}
    questions = [_question(name, place, record, audit.get((name, place)), known) for place, record in enumerate(sample["qa"])]
    return Case(name, tuple(entries), questions)


def _session(talk: dict[str, Any], number: int) -> list[Entry]:
    began = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=timezone.utc)
    found = []
    for place, turn in enumerate(talk[f"session_{number}"]):
        photo = f" [shows a photo: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
        said = Turn(f"{turn['speaker']}: {turn['text']}{photo}", Moment.of(began + timedelta(minutes=place)), session=f"D{number}")
        found.append(Entry(turn["dia_id"], Exchange(said)))
    return found


def _question(name: str, place: int, record: dict[str, Any], flaw: dict[str, Any] | None, known: set[str]) -> LocomoQuestion:
    answer = str(record.get("answer", ""))
    corrupt = bool(flaw and flaw["score_corrupting"])
    evidence = flaw["correct_evidence"] if flaw and flaw.get("correct_evidence") else record["evidence"]
    return LocomoQuestion(
        id=f"{name}/{place}",
        text=record["question"],
        kind=Category(record["category"]).name.lower(),
        steps=tuple(frozenset({entry}) for entry in dialogue_ids(evidence) if entry in known),
        answer=answer,
        category=Category(record["category"]),
        corrected=str(flaw["correct_answer"]) if flaw and corrupt else answer,
        flagged=corrupt,
    )


def dialogue_ids(evidence: object) -> list[str]:
    """Every dialogue id in the evidence, each once: some items hold several in one string, or none that is whole."""
    return list(dict.fromkeys(_DIALOGUE_ID.findall(str(evidence))))
