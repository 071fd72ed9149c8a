"""MemDaily: a few days of messages in Chinese, one memory and one multiple-choice question each.

Read from one line a memory, from the published `memdaily.json`, or from the folder of MemSim's files that it was put together from, of
which the generations that failed are dropped as its authors drop them.
"""

from __future__ import annotations

import re
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from pgmem_local.bench.datasets.files import chosen, read_json, read_lines, spread
from pgmem_local.bench.datasets.history import Case, ChoiceQuestion, Entry
from pgmem_local.conversation import Exchange, Moment, Turn

_NUMBERS = re.compile(r"\d+")


def read_memdaily(path: Path, limit: int | None) -> list[Case[ChoiceQuestion]]:
    records = _of_folder(path) if path.is_dir() else _merged(path) if ".json" in path.suffixes else read_lines(path)
    return [_trajectory(record) for record in spread(records, limit)]


def _of_folder(folder: Path) -> list[dict[str, Any]]:
    """`01_simple_events.json` and its like: a list of memories each, without those whose question or answer could not be made."""
    found = (_record(path.stem, raw, raw["question_list"][0], place) for path in chosen(folder, "*.json") for place, raw in _counted(path))
    return [record for record in found if not any(_failed(asked) for asked in record["questions"])]


def _counted(path: Path) -> list[tuple[int, dict[str, Any]]]:
    return list(enumerate(read_json(path)))


def _failed(asked: dict[str, Any]) -> bool:
    return bool(asked["question"] == "[ERRORQ]" or asked["answer"] == "[ERRORA]")


def _merged(path: Path) -> list[dict[str, Any]]:
    """`{kind: {scenario: [memory]}}`; a scenario may be null."""
    return [
        _record(f"{kind}_{scenario}", raw, raw["QA"], raw["tid"])
        for kind, scenarios in read_json(path).items()
        for scenario, memories in scenarios.items()
        for raw in memories or ()
    ]


def _record(name: str, raw: dict[str, Any], asked: dict[str, Any], number: int) -> dict[str, Any]:
    return {"set": name, "tid": raw.get("tid", number), "messages": raw["message_list"], "questions": [asked]}


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
