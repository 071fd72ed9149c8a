"""Task `implexconv`: is the session that holds the opposed reason among what a memory shows? Recall only; nothing is answered or judged."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import ClassVar

from pgmem_local.bench.datasets.files import spread
from pgmem_local.bench.datasets.foreign import IMPLEXCONV, locate
from pgmem_local.bench.datasets.history import Case, Question
from pgmem_local.bench.datasets.implexconv import read_implexconv
from pgmem_local.bench.journal import Outcome
from pgmem_local.bench.scoring.intervals import Metrics
from pgmem_local.bench.scoring.recall import evidence_recall
from pgmem_local.bench.systems import Recalled, System
from pgmem_local.bench.tasks.questions import Answered, QuestionTask, mean_score
from pgmem_local.bench.workbench import Workbench


class ImplexconvTask(QuestionTask[Question]):
    name: ClassVar[str] = "implexconv"
    headline: ClassVar[tuple[str, ...]] = ("evidence_recall",)
    lower: ClassVar[frozenset[str]] = frozenset()

    def files(self, data: Path | None) -> list[Path]:
        return locate(IMPLEXCONV, data)

    def cases(self, bench: Workbench) -> Sequence[Case[Question]]:
        return spread(read_implexconv(self.files(bench.options.data)[0]), bench.options.limit)

    def gold(self, question: Question) -> str:
        return ""

    def score(self, question: Question, output: str, recalled: Recalled) -> dict[str, float | None]:
        return {"evidence_recall": evidence_recall(question.steps, recalled.shown)}

    def ask(self, bench: Workbench, memory: System, question: Question, budget: int) -> Outcome:
        bench.model.ledger.take()
        began = time.perf_counter()
        recalled = memory.context(question, budget)
        seconds = round(time.perf_counter() - began, 3)
        tokens, scores = bench.model.count(recalled.notes.text), self.score(question, "", recalled)
        answered = Answered(question.id, question.kind, question.text, "", "", recalled.shown, (), tokens, seconds, scores)
        return Outcome(question.id, asdict(answered), bench.model.ledger.total())

    def measure(self, results: Sequence[Answered]) -> Metrics:
        return {"evidence_recall": mean_score(results, "evidence_recall")}
