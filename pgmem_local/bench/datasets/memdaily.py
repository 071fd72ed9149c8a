"""MemDaily: a few days of messages in Chinese, one memory and one multiple-choice question each."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from pgmem_local.bench.datasets.files import read_lines, spread
from pgmem_local.bench.datasets.history import Case, ChoiceQuestion, Entry
from pgmem_local.conversation import Exchange, Moment, Turn

_NUMBERS = re.compile(r"\d+")


def read_memdaily(path: Path, limit: int | None) -> list[Case[ChoiceQuestion]]:
    return [_trajectory(record) for record in spread(read_lines(path), limit)]


def _trajectory(record: dict[str, Any]) -> Case[ChoiceQuestion]:
    name = f"{record['set']}/{record['tid']}"
    entries = tuple(Entry(str(one["mid"]), Exchange(Turn(one["message"], _moment(one["time"])))) for one in record["messages"])
    questions = [_question(name, record["set"], asked) for asked in record["questions"]]
    return Case(name, entries, questions)


def _question(name: str, kind: str, asked: dict[str, Any]) -> ChoiceQuestion:
    return ChoiceQuestion(
        id=f"{name}/{asked.get('qid', 0)}",
        text=asked["question"],
        kind=kind,
        steps=tuple(frozenset({str(step)}) for step in asked["target_step_id"]),
        options=tuple(asked["choices"].values()),
        correct=list(asked["choices"]).index(asked["ground_truth"]),
    )


def _moment(written: str) -> Moment:
    year, month, day, hour, minute = map(int, _NUMBERS.findall(written)[:5])
    return Moment.of(datetime(year, month, day, hour, minute, tzinfo=timezone.utc))
