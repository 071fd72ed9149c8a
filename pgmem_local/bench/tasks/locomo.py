"""Task `locomo`: token F1 by the authors' rule, evidence recall by dialogue id within the budget, refusals where nothing was said.

Scores stand beside those with the audit's corrected answers and those without the questions it flags. `--limit` counts conversations.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pgmem_local.bench.datasets.foreign import LOCOMO, beside, locate
from pgmem_local.bench.datasets.history import Case
from pgmem_local.bench.datasets.locomo import AUDIT, LocomoQuestion, read_locomo
from pgmem_local.bench.scoring.forms import refuses
from pgmem_local.bench.scoring.intervals import Metrics
from pgmem_local.bench.scoring.recall import evidence_recall
from pgmem_local.bench.scoring.token_f1 import Category, locomo_score
from pgmem_local.bench.systems import Recalled
from pgmem_local.bench.tasks.questions import Answered, QuestionTask, mean_score
from pgmem_local.bench.workbench import Workbench

ADVERSARIAL = Category.ADVERSARIAL.name.lower()


class LocomoTask(QuestionTask[LocomoQuestion]):
    name: ClassVar[str] = "locomo"
    headline: ClassVar[tuple[str, ...]] = (
        "f1", *(f"f1_by_category.{category.name.lower()}" for category in Category if category is not Category.ADVERSARIAL),
        "adversarial", "evidence_recall",
    )  # fmt: skip
    lower: ClassVar[frozenset[str]] = frozenset()

    def files(self, data: Path | None) -> list[Path]:
        (talks,) = locate(LOCOMO, data)
        audit = beside(talks, AUDIT)
        return [talks, audit] if audit else [talks]

    def cases(self, bench: Workbench) -> Sequence[Case[LocomoQuestion]]:
        return read_locomo(self.files(bench.options.data)[0], bench.options.limit)

    def gold(self, question: LocomoQuestion) -> str:
        return question.answer

    def score(self, question: LocomoQuestion, output: str, recalled: Recalled) -> dict[str, float | None]:
        recall = evidence_recall(question.steps, recalled.shown)
        if question.category is Category.ADVERSARIAL:
            strict = locomo_score(output, "", Category.ADVERSARIAL)
            return {"refused": float(refuses(output)), "refused_in_their_words": strict}
        f1 = locomo_score(output, question.answer, question.category)
        return {
            "f1": f1,
            "f1_corrected": locomo_score(output, question.corrected, question.category),
            "f1_not_flagged": None if question.flagged else f1,
            "false_refusal": float(refuses(output)),
            "evidence_recall": recall,
        }

    def measure(self, results: Sequence[Answered]) -> Metrics:
        kinds = sorted({one.kind for one in results} - {ADVERSARIAL})
        return {
            **{name: mean_score(results, name) for name in ("f1", "f1_corrected", "f1_not_flagged", "evidence_recall")},
            "adversarial": mean_score(results, "refused"),
            "adversarial_in_their_words": mean_score(results, "refused_in_their_words"),
            "false_refusals": mean_score(results, "false_refusal"),
            "f1_by_category": {kind: mean_score([one for one in results if one.kind == kind], "f1") for kind in kinds},
            "evidence_recall_by_category": {
                kind: mean_score([one for one in results if one.kind == kind], "evidence_recall") for kind in kinds
            },
        }
