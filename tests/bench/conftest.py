"""A model that answers by rules, and a small diary and a small chain to ask about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pgmem_local.bench.datasets.history import Entry
from pgmem_local.bench.workbench import Options, Workbench
from pgmem_local.construction import reveal
from pgmem_local.conversation import Exchange, Moment, Turn
from pgmem_local.ports import Spent
from tests.builders import on_day
from tests.fakes import Answer, Asked, HashEmbedder, ScriptedChat

DIARY = [
    {"id": "e1", "timestamp": "2025-01-06T20:00:00+00:00", "text": "Green tea before work, as always."},
    {"id": "e2", "timestamp": "2025-02-06T20:00:00+00:00", "text": "Barley tea now, the green kept me awake."},
    {"id": "e3", "timestamp": "2025-03-06T20:00:00+00:00", "text": "Dogs scare Mum. Strobe lights give me migraine."},
]
QUESTIONS: list[dict[str, Any]] = [
    {"id": "q1", "kind": "current_state", "question": "What do I drink now?", "answer": "barley tea", "aliases": [],
     "stale_answer": "green tea", "stale_aliases": [], "evidence_entries": ["e2"]},
    {"id": "q2", "kind": "past_state", "question": "What did I drink in January?", "answer": "green tea", "aliases": [],
     "wrong_answers": ["barley tea"], "evidence_entries": ["e1"]},
    {"id": "q3", "kind": "advice", "question": "Which party suits me?",
     "options": {"A": "A disco with strobe lights", "B": "A quiet dinner", "C": "Any", "D": "Fireworks"},
     "correct": "B", "generic": "C", "evidence_entries": ["e3"]},
    {"id": "q4", "kind": "why", "question": "Why did I change my tea?", "answer": "kept me awake", "aliases": [],
     "scoring": "answer+evidence", "evidence_entries": ["e2"]},
    {"id": "q5", "kind": "who", "question": "Who is scared of dogs?", "answer": "Mum", "aliases": [], "evidence_entries": ["e3"]},
    {"id": "q6", "kind": "abstain", "question": "What is my shoe size?", "answer": None, "aliases": [], "evidence_entries": []},
]  # fmt: skip


class Copyist(ScriptedChat):
    """Answers every question with its notes, holds that they hold it, finds a State in nothing, and checks options by shared words."""

    def _next(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        task, text = asked.prompt.head.task, asked.prompt.text
        wrote = asked.method != "choose"
        self.ledger.book(task, Spent(int(wrote), int(not wrote), len(text.split()), 0, 3 * wrote, 0.01))
        if task == "paper_judge":
            return {"judgements": [{"reason": "same", "relation": "SUPPORT"} for _ in range(text.count("older "))]}
        if task == "option_check":
            return " Yes" if "quiet" in text.rpartition("Suggestion: ")[2] else " No"
        if not wrote:
            return asked.options[1] if task == "state_probes" else asked.options[0]
        if task == "advise":
            return "A quiet dinner."
        return text.rpartition("Question:")[0].removeprefix("Notes:").strip() if task == "answer" else "none"


class OwnWord:
    """A fitted head that takes the model's first log-odds for what it is."""

    def probabilities(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        yes = 1 / (1 + np.exp(-features[:, 0]))
        return np.stack([yes, 1 - yes], axis=1)


@pytest.fixture(autouse=True)
def heads_that_take_the_models_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reveal, "shipped_head", lambda part, model: OwnWord())


@pytest.fixture
def copyist() -> Copyist:
    return Copyist()


@pytest.fixture
def diary(tmp_path: Path) -> Path:
    """A folder in the format of the shipped diaries."""
    folder = tmp_path / "diaries"
    folder.mkdir()
    (folder / "tiny.jsonl").write_text("\n".join(map(json.dumps, DIARY)), "utf-8")
    (folder / "tiny_questions.json").write_text(json.dumps(QUESTIONS), "utf-8")
    return folder


@pytest.fixture
def memhop(tmp_path: Path) -> Path:
    """A folder in the format of memhop_mini: my flatmate's teacher keeps bees."""
    said = ["My flatmate is Toby.", "Toby's teacher is Gwil.", "Gwil keeps bees.", "It rains."]
    turns = [turn for text in said for turn in ({"role": "user", "content": text}, {"role": "assistant", "content": "I see."})]
    steps = [[["s1", 0]], [["s1", 2]], [["s1", 4]]]
    common = {"aliases": [], "chain": [], "decomposition": [], "answerable": True}
    scenario = {
        "scenario": "tiny",
        "sessions": [{"id": "s1", "date": "2025-01-11", "turns": turns}],
        "questions": [
            {**common, "id": "k3", "k": 3, "question": "What does Toby's teacher keep?", "answer": "bees", "evidence_by_step": steps},
            {**common, "id": "k1", "k": 1, "question": "Who is my flatmate?", "answer": "Toby", "evidence_by_step": steps[:1]},
            {**common, "id": "u", "k": 0, "answerable": False, "question": "What is Gwil's middle name?", "answer": None},
        ],
    }
    folder = tmp_path / "memhop"
    folder.mkdir()
    (folder / "tiny.json").write_text(json.dumps(scenario), "utf-8")
    return folder


def workbench(model: ScriptedChat, tmp_path: Path, **options: Any) -> Workbench:
    return Workbench(model, HashEmbedder(), tmp_path / "cache", Options(**options))


def entry(identifier: str, text: str, day: int = 0, reply: str | None = None) -> Entry:
    moment: Moment | None = on_day(day)
    return Entry(identifier, Exchange(Turn(text, moment), reply))
