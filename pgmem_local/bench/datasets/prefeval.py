"""PrefEval's persona form as one user's chain of sessions, each of which reveals a preference; its multiple-choice questions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from pgmem_local.bench.datasets.files import read_lines
from pgmem_local.bench.datasets.history import Case, ChoiceQuestion, Entry, dialogue
from pgmem_local.conversation import Speaker

FIRST_DAY = date(2025, 1, 1)
"""The data has no dates; sessions follow one another by a day so that their order is certain."""


@dataclass(frozen=True)
class Preference:
    """One session and the question that tempts to forget it. The stated preference itself is never shown to a memory."""

    entries: tuple[Entry, ...]
    question: ChoiceQuestion


def read_prefeval(path: Path, count: int, seed: int) -> list[Preference]:
    """The first items in file order, as the chain of the paper takes them."""
    return [_preference(record, place, seed) for place, record in enumerate(read_lines(path)[:count])]


def chained(preferences: list[Preference], every: int) -> list[Case[ChoiceQuestion]]:
    """After every so many sessions, and after the last, all questions so far are asked."""
    stops = sorted({*range(every, len(preferences) + 1, every), len(preferences)}) if preferences else []
    cases: list[Case[ChoiceQuestion]] = []
    for stop in stops:
        entries = tuple(entry for one in preferences[:stop] for entry in one.entries)
        questions = [_after(one.question, stop) for one in preferences[:stop]]
        cases.append(Case(f"prefeval after {stop}", entries, questions, cases[-1].entries if cases else ()))
    return cases


def _after(question: ChoiceQuestion, stop: int) -> ChoiceQuestion:
    return ChoiceQuestion(
        f"{stop}/{question.id}", question.text, str(stop), question.steps, options=question.options, correct=question.correct
    )


def _preference(record: dict[str, Any], place: int, seed: int) -> Preference:
    session = f"s{place:03}"
    both = (Speaker.USER, Speaker.ASSISTANT)
    turns = [(speaker, turn[speaker.value]) for turn in record["persona"]["turns"] for speaker in both if turn.get(speaker.value)]
    entries = tuple(dialogue(session, (FIRST_DAY + timedelta(days=place)).isoformat(), turns))
    question = ChoiceQuestion(
        id=f"{record['topic']}-{record['index']}",
        text=record["question"],
        kind=record["topic"],
        steps=(frozenset(entry.id for entry in entries),),
        options=tuple(record["mcq_options"]),
        correct=record["mcq_correct"],
    )
    return Preference(entries, question.shuffled(seed))
