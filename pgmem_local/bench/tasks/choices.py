"""Tasks `prefeval`, `personamem` and `memdaily`: multiple choice over a memory, both ways, with the evidence recall where gold is known."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pgmem_local.bench.choice import longest_option
from pgmem_local.bench.datasets.foreign import MEMDAILY, PERSONAMEM, PREFEVAL, ForeignData, files_of, locate
from pgmem_local.bench.datasets.history import Case, ChoiceQuestion
from pgmem_local.bench.datasets.memdaily import read_memdaily
from pgmem_local.bench.datasets.personamem import read_personamem
from pgmem_local.bench.datasets.prefeval import chained, read_prefeval
from pgmem_local.bench.judging import PREFEVAL_CHECKS
from pgmem_local.bench.scoring.intervals import Metrics, mean
from pgmem_local.bench.scoring.recall import evidence_recall
from pgmem_local.bench.systems import Recalled
from pgmem_local.bench.tasks.questions import Answered, QuestionTask, judged_metrics, limited, mean_score
from pgmem_local.bench.workbench import Workbench

PREFEVAL_ITEMS = 100
"""Sessions the paper chains."""


class ChoiceTask(QuestionTask[ChoiceQuestion]):
    """Accuracy by the check and by the letter, in all and by kind of question."""

    source: ClassVar[ForeignData]
    headline: ClassVar[tuple[str, ...]] = ("accuracy", "accuracy_by_letter", "evidence_recall")
    lower: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def cases(self, bench: Workbench) -> Sequence[Case[ChoiceQuestion]]: ...

    def files(self, data: Path | None) -> list[Path]:
        return [file for path in locate(self.source, data) for file in files_of(path)]

    def options(self, question: ChoiceQuestion) -> tuple[Sequence[str], int] | None:
        return question.options, question.correct

    def gold(self, question: ChoiceQuestion) -> str:
        return question.options[question.correct]

    def score(self, question: ChoiceQuestion, output: str, recalled: Recalled) -> dict[str, float | None]:
        return {"evidence_recall": evidence_recall(question.steps, recalled.shown)}

    def measure(self, results: Sequence[Answered]) -> Metrics:
        kinds = sorted({one.kind for one in results})
        return {
            "accuracy": mean_score(results, "right"),
            "accuracy_by_letter": mean_score(results, "right_by_letter"),
            "evidence_recall": mean_score(results, "evidence_recall"),
            "accuracy_by_kind": {kind: mean_score([one for one in results if one.kind == kind], "right") for kind in kinds},
            "evidence_recall_by_kind": {
                kind: mean_score([one for one in results if one.kind == kind], "evidence_recall") for kind in kinds
            },
            **judged_metrics(results),
        }

    def controls(self, bench: Workbench) -> Metrics:
        asked = [question for case in self.cases(bench) for question in case.questions]
        offered = [(question.options, question.correct) for question in asked]
        return {"longest_option": longest_option(offered), "chance": mean([1 / len(question.options) for question in asked])}


class PrefevalTask(ChoiceTask):
    """The paper's chain: after each session all questions so far. A kind is the number of sessions before the question."""

    name: ClassVar[str] = "prefeval"
    source: ClassVar[ForeignData] = PREFEVAL
    checks: ClassVar[tuple[str, ...]] = PREFEVAL_CHECKS

    def cases(self, bench: Workbench) -> Sequence[Case[ChoiceQuestion]]:
        options = bench.options
        preferences = read_prefeval(locate(PREFEVAL, options.data)[0], options.limit or PREFEVAL_ITEMS, options.seed)
        return chained(preferences, options.every)


class PersonamemTask(ChoiceTask):
    name: ClassVar[str] = "personamem"
    leaking: ClassVar[bool] = False
    source: ClassVar[ForeignData] = PERSONAMEM
    systems: ClassVar[tuple[str, ...]] = ("none", "recent", "full", "rag", "pgmem")  # no gold evidence, so no oracle
    headline: ClassVar[tuple[str, ...]] = ("accuracy", "accuracy_by_letter")

    def cases(self, bench: Workbench) -> Sequence[Case[ChoiceQuestion]]:
        questions, contexts = locate(PERSONAMEM, bench.options.data)
        return limited(read_personamem(questions, contexts, self.leaking), bench.options.limit)


class PersonamemLeakingTask(PersonamemTask):
    """The paper's variant: the whole chat is taken in, also what comes after the question."""

    name: ClassVar[str] = "personamem-leaking"
    leaking: ClassVar[bool] = True


class MemdailyTask(ChoiceTask):
    name: ClassVar[str] = "memdaily"
    source: ClassVar[ForeignData] = MEMDAILY

    def cases(self, bench: Workbench) -> Sequence[Case[ChoiceQuestion]]:
        return read_memdaily(locate(MEMDAILY, bench.options.data)[0], bench.options.limit)
