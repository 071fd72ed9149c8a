"""Facts about a small social network, scattered over many chats; a question asks for what lies at the end of K hops."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgmem_local.bench.datasets.files import chosen, field, read_json, shipped
from pgmem_local.bench.datasets.history import Case, Question, dialogue
from pgmem_local.conversation import Speaker


@dataclass(frozen=True)
class HopQuestion(Question):
    """hops: K, 0 where nobody can answer. forms: spellings of the answer. stale: what held before a transition that it asks about."""

    hops: int = 0
    forms: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()


def memhop_files(data: Path | None) -> list[Path]:
    return chosen(data or shipped("memhop_mini"), "*.json")


def read_memhop(data: Path | None) -> list[Case[HopQuestion]]:
    """The scenarios that come with the package, or those of a file or folder of the same format."""
    return [_scenario(read_json(path), path) for path in memhop_files(data)]


def _scenario(raw: dict[str, Any], path: Path) -> Case[HopQuestion]:
    entries = [
        entry
        for session in field(raw, "sessions", path)
        for entry in dialogue(session["id"], session["date"], [(Speaker(turn["role"]), turn["content"]) for turn in session["turns"]])
    ]
    before = {seen["value"]: seen["was"] for seen in raw.get("observations", ()) if seen.get("was")}
    questions = [_question(record, before) for record in field(raw, "questions", path)]
    return Case(str(raw.get("scenario", path.stem)), tuple(entries), questions)


def _question(record: dict[str, Any], before: dict[str, str]) -> HopQuestion:
    answer = record.get("answer")
    return HopQuestion(
        id=record["id"],
        text=record["question"],
        kind=f"K={record['k']}" if record["answerable"] else "abstain",
        steps=tuple(frozenset(f"{session}:{turn}" for session, turn in step) for step in record.get("evidence_by_step", ())),
        hops=record["k"],
        forms=tuple(form for form in (answer, *record.get("aliases", ())) if form),
        stale=(before[answer],) if answer in before else (),
    )
