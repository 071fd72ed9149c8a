"""Task `implexconv`: is the session that holds the opposed reason among what a memory shows? Nothing is answered, unless to be judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pgmem_local.bench.datasets.files import spread
from pgmem_local.bench.datasets.foreign import IMPLEXCONV, locate
from pgmem_local.bench.datasets.history import Case, Question
from pgmem_local.bench.datasets.implexconv import read_implexconv
from pgmem_local.bench.judging import IMPLEXCONV_CHECKS
from pgmem_local.bench.scoring.intervals import Metrics
from pgmem_local.bench.scoring.recall import evidence_recall
from pgmem_local.bench.systems import Recalled
from pgmem_local.bench.tasks.questions import Answered, RecallOnly, judged_metrics, mean_score
from pgmem_local.bench.workbench import Workbench


class ImplexconvTask(RecallOnly[Question]):
    name: ClassVar[str] = "implexconv"
    checks: ClassVar[tuple[str, ...]] = IMPLEXCONV_CHECKS
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

    def measure(self, results: Sequence[Answered]) -> Metrics:
        return {"evidence_recall": mean_score(results, "evidence_recall"), **judged_metrics(results)}
