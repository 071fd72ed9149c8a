"""PersonaMem: one long chat a persona, and questions each of which may know it only up to its own place.

The paper's code takes in the whole chat, so that later turns can leak; that variant is the option `leaking`. System messages carry the
persona's description and are never taken in; they mark where sessions begin.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from ast import literal_eval
from collections import defaultdict
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from pgmem_local.bench.datasets.files import read_lines
from pgmem_local.bench.datasets.history import Case, ChoiceQuestion, Entry, dialogue
from pgmem_local.conversation import Speaker

FIRST_DAY = date(2025, 1, 1)


def read_personamem(questions: Path, contexts: Path, leaking: bool = False) -> list[Case[ChoiceQuestion]]:
    """For each chat at hand one case a place at which questions are asked, the later going on from the earlier."""
    chats = {name: messages for record in read_lines(contexts) for name, messages in record.items()}
    asked: dict[str, dict[int, list[ChoiceQuestion]]] = defaultdict(lambda: defaultdict(list))
    for record in _records(questions):
        chat = record["shared_context_id"]
        if chat in chats:
            end = len(chats[chat]) if leaking else int(record["end_index_in_shared_context"])
            asked[chat][end].append(_question(record))
    return [case for chat, by_end in asked.items() for case in _growing(chat, chats[chat], by_end)]


def _growing(chat: str, messages: Sequence[dict[str, Any]], by_end: dict[int, list[ChoiceQuestion]]) -> list[Case[ChoiceQuestion]]:
    cases: list[Case[ChoiceQuestion]] = []
    for end in sorted(by_end):
        entries = tuple(_entries(messages[:end]))
        cases.append(Case(f"{chat[:8]} up to {end}", entries, by_end[end], cases[-1].entries if cases else ()))
    return cases


def _entries(messages: Sequence[dict[str, Any]]) -> list[Entry]:
    sessions: list[list[tuple[Speaker, str]]] = [[]]
    for message in messages:
        if message["role"] == "system":
            sessions.append([])
        else:
            speaker = Speaker(message["role"])
            sessions[-1].append((speaker, message["content"].removeprefix(f"{speaker.value.title()}: ")))
    days = ((FIRST_DAY + timedelta(days=place)).isoformat() for place in range(len(sessions)))
    return [entry for place, (day, turns) in enumerate(zip(days, sessions, strict=True)) for entry in dialogue(f"s{place}", day, turns)]


def _records(path: Path) -> list[dict[str, Any]]:
    if ".csv" not in path.suffixes:
        return read_lines(path)
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8-sig")
    return [{**row, "options": _options(row["all_options"])} for row in csv.DictReader(io.StringIO(text, newline=""))]


def _options(text: str) -> list[str]:
    """The list of options as the original table spells it."""
    try:
        found = json.loads(text)
    except ValueError:
        found = literal_eval(text)
    return [str(option) for option in found]


def _question(record: dict[str, Any]) -> ChoiceQuestion:
    return ChoiceQuestion(
        id=record["question_id"],
        text=record["user_question_or_message"],
        kind=record["question_type"],
        steps=(),
        options=tuple(option.partition(") ")[2] or option for option in record["options"]),
        correct="abcdefgh".index(record["correct_answer"].strip("() ")[0]),
    )
