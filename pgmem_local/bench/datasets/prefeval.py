"""PrefEval's persona form as one user's chain of sessions, each of which reveals a preference; its multiple-choice questions.

Read from one line an item, or from the published `benchmark_dataset` folder: a file a topic for the conversations and one for the
options, matched by topic and place; of each list of options the first is right.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from pgmem_local.bench.datasets.files import chosen, read_json, read_lines
from pgmem_local.bench.datasets.history import Case, ChoiceQuestion, Entry, dialogue
from pgmem_local.conversation import Speaker
from pgmem_local.errors import IngestError

FIRST_DAY = date(2025, 1, 1)
"""The data has no dates; sessions follow one another by a day so that their order is certain."""


@dataclass(frozen=True)
class Preference:
    """One session and the question that tempts to forget it. The stated preference itself is never shown to a memory."""

    entries: tuple[Entry, ...]
    question: ChoiceQuestion


def read_prefeval(path: Path, count: int, seed: int) -> list[Preference]:
    """The first items, topics in alphabetical order and items in file order, as the chain of the paper takes them."""
    records = _published(path) if path.is_dir() else read_lines(path)
    return [_preference(record, place, seed) for place, record in enumerate(records[:count])]


def _published(folder: Path) -> list[dict[str, Any]]:
    """The items of `benchmark_dataset` in the form of the one file."""
    topics = chosen(folder / "implicit_preference" / "persona-driven", "*.json")
    return [record for path in topics for record in _of_topic(path, folder / "mcq_options" / path.name)]


def _of_topic(said: Path, offered: Path) -> list[dict[str, Any]]:
    items, options = read_json(said), read_json(offered)
    if len(items) != len(options):
        raise IngestError(f"{said} has {len(items)} items, {offered} has {len(options)}: they must match; get the folder again")
    return [
        {
            **item,
            "topic": said.stem,
            "index": place,
            "mcq_options": offer["classification_task_options"],
            "mcq_correct": 0,
            "persona": {"turns": _in_order(item["conversation"])},
        }
        for place, (item, offer) in enumerate(zip(items, options, strict=True))
    ]


def _in_order(turns: dict[str, dict[str, str] | None]) -> list[dict[str, str]]:
    """The turns of `{"0": {"user", "assistant"}, "1": ...}`; some are null."""
    return [turn for _, turn in sorted(turns.items(), key=lambda entry: int(entry[0])) if turn]


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
    return replace(question, id=f"{stop}/{question.id}", kind=str(stop))


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
        wanted=record["preference"],
        options=tuple(record["mcq_options"]),
        correct=record["mcq_correct"],
    )
    return Preference(entries, question.shuffled(seed))
