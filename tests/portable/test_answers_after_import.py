"""Exported, wiped and imported, a memory tells and answers as before: the sample diary and its suggested questions."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import pytest

from pgmem_local.control.forgetting import Selection
from pgmem_local.conversation import Exchange
from pgmem_local.graph.edges import Relation
from pgmem_local.ingest.registry import read_exchanges
from pgmem_local.memory import PersonaMemory
from tests.control.conftest import opened
from tests.fakes import Answer, Asked
from tests.portable.conftest import told
from tests.profiles.builders import PeopleReader
from tests.reader import Reader, line

SAMPLES = resources.files("pgmem_local") / "samples"
QUESTIONS = [one["question"] for one in json.loads((SAMPLES / "quickstart_questions.json").read_text("utf-8"))]
RELATIONS = {
    ("espresso", "jasmine"): Relation.SHIFT_TO,
    ("bus", "bicycle"): Relation.SHIFT_TO,
    ("Knee", "Knee"): Relation.SUPPORT,
    ("jasmine", "tea"): Relation.SUPPORT,
}


class Literal(Reader):
    """Takes every message of the user for a note in its own words, and answers with the first of the notes."""

    def __init__(self) -> None:
        super().__init__({}, RELATIONS, trait="is fond of warm beverages", shown_by=("tea", "espresso"))
        self.rules |= PeopleReader().rules

    def note(self, asked: Asked) -> Answer:
        return line(asked, "Message: ")


def answers(home: Path) -> list[object]:
    """What is seen of a memory: itself, and for each question what the model is asked and what is answered."""
    seen: list[object] = []
    with opened(home, model := Literal()) as memory:
        seen.append(told(memory))
        for question in QUESTIONS:
            answer, _ = memory.ask(question)
            cited = [(one.node.text, [(quote.moment, quote.text) for quote in one.quotes]) for one in answer.citations]
            grounds = memory.consider(question)
            seen.append((question, answer.text, answer.known, cited, grounds.notes.text, grounds.core.text))
        seen += [(one.method, one.prompt, one.options) for one in model.asked]
    return seen


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with opened(tmp_path / "home", Literal()) as memory:
        memory.observe([one for one in read_exchanges(Path(str(SAMPLES / "quickstart_diary.jsonl"))) if isinstance(one, Exchange)])
        memory.learn()
        memory.remember("I am allergic to walnuts.")
    return tmp_path / "home"


def wipe(memory: PersonaMemory) -> None:
    memory.forget(memory.plan_forgetting(Selection(everything=True)))
    assert len(memory.graph) == len(memory.people) == 0


def test_after_export_wipe_and_import_all_is_told_and_answered_as_before(home: Path, tmp_path: Path) -> None:
    before = answers(home)
    with opened(home) as memory:
        memory.export(tmp_path / "memory.jsonl")
        wipe(memory)
        memory.import_(tmp_path / "memory.jsonl")
    assert any(part for part in before[0].values()), "nothing is told"  # type: ignore[attr-defined]
    assert answers(home) == before
