"""A model that understands one small diary: which words reveal what, which notes bear on each other, which trait they show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from pgmem_local.construction.annotate import Annotator
from pgmem_local.construction.judge import by_letters
from pgmem_local.construction.reveal import OPTIONS, Glance, Spoken, probe
from pgmem_local.graph.edges import Relation
from pgmem_local.graph.nodes import Polarity, RecallPriority
from pgmem_local.ports import ChatModel
from tests.fakes import Answer, Asked, RuleChat

_LETTERS = {Relation.SUPPORT: " A", Relation.CONTRADICT: " B", Relation.SHIFT_TO: " C", Relation.IRRELEVANT: " D"}
_DENIALS = ("not ", "no longer", "never", "stopped", "cannot")


class Reader(RuleChat):
    """Messages that hold the words on the left of `notes` reveal the note on their right, all others reveal nothing.

    relations: words of the earlier and of the later note -> what the later does to the earlier, read as the four letters.
    trait: what is written when a Trait is asked for, borne out by notes that hold one of the words in `shown_by`.
    """

    def __init__(
        self,
        notes: Mapping[str, str],
        relations: Mapping[tuple[str, str], Relation] | None = None,
        trait: str = "none",
        shown_by: Sequence[str] = (),
        context_tokens: int = 4096,
    ) -> None:
        rules = {
            "state_probes": self._probe,
            "state_note": self.note,
            "judge_letters": self._letter,
            "episode": lambda asked: "wrote about the day.",
            "trait": lambda asked: self.trait,
            "trait_check": lambda asked: " Yes" if any(word in line(asked, "Note: ") for word in self.shown_by) else " No",
            "answer": self._answer_question,
            "people_names": lambda asked: "",
            "people_same": lambda asked: " No",
            "people_profile": lambda asked: "",
        }
        super().__init__(rules, context_tokens)
        self.notes, self.relations = dict(notes), dict(relations or {})
        self.trait, self.shown_by = trait, shown_by

    def note(self, asked: Asked) -> Answer:
        said = line(asked, "Message: ")
        return next((note for words, note in self.notes.items() if words in said), "")

    def _probe(self, asked: Asked) -> Answer:
        note = str(self.note(asked))
        denied = any(word in note for word in _DENIALS)
        true = {" Yes", " writer"} if note else {" No", " nobody"}
        true |= {" negative" if denied else " neutral", " high"}
        return [0.0 if option in true else -10.0 for option in asked.options]

    def _letter(self, asked: Asked) -> Answer:
        first, second = line(asked, "First: "), line(asked, "Second: ")
        found = (relation for (one, other), relation in self.relations.items() if one in first and other in second)
        return _LETTERS[next(found, Relation.IRRELEVANT)]

    def _answer_question(self, asked: Asked) -> Answer:
        return " Yes" if asked.options else "That is what the notes say [1]."


def line(asked: Asked, label: str) -> str:
    """What stands behind a label at the beginning of a line of the prompt."""
    return next(part.removeprefix(label) for part in asked.prompt.text.splitlines() if part.startswith(label))


def believe_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take what a model says for true: the heads fitted on real models would make something else of it."""
    monkeypatch.setattr("pgmem_local.construction.extract.glance", plain_glance)
    monkeypatch.setattr("pgmem_local.memory.judge_for", lambda name: by_letters)


def plain_glance(model: ChatModel, annotator: Annotator, spoken: Sequence[Spoken]) -> list[Glance]:
    """The probes without the fitted heads: the likeliest word after each question."""
    if not spoken:
        return []
    return [_plainly(one) for one in probe(model, spoken)]


def _plainly(scores: NDArray[np.float64]) -> Glance:
    def likeliest(question: int, words: Sequence[str]) -> int:
        return int(np.argmax([scores[question, OPTIONS.index(word)] for word in words]))

    polarity = list(Polarity)[likeliest(2, [f" {one.value}" for one in Polarity])]
    priority = list(RecallPriority)[likeliest(3, [f" {one.value}" for one in RecallPriority])]
    return Glance(float(likeliest(0, (" No", " Yes"))), polarity, priority)
