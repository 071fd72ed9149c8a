"""Task `diary`: one writer's changing persona. What holds now, what held, why, who, what suits, and what nobody can know."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pgmem_local.bench.choice import longest_option
from pgmem_local.bench.datasets.diaries import ABSTAIN, ADVICE, Diary, DiaryQuestion, diary_files, read_diaries
from pgmem_local.bench.datasets.history import Case
from pgmem_local.bench.scoring.forms import holds, leaks, refuses
from pgmem_local.bench.scoring.hygiene import check_hygiene
from pgmem_local.bench.scoring.intervals import Metrics
from pgmem_local.bench.scoring.recall import evidence_recall
from pgmem_local.bench.systems import Recalled, System
from pgmem_local.bench.tasks.questions import Answered, QuestionTask, limited, mean_score
from pgmem_local.bench.workbench import Workbench

CURRENT, PAST, WHY, WHO = "current_state", "past_state", "why", "who"


class DiaryTask(QuestionTask[DiaryQuestion]):
    name: ClassVar[str] = "diary"
    headline: ClassVar[tuple[str, ...]] = (
        CURRENT, "stale_answers", PAST, ADVICE, "advice_by_letter", WHY, WHO, ABSTAIN, "evidence_recall", "secrets_shown",
    )  # fmt: skip
    lower: ClassVar[frozenset[str]] = frozenset({"stale_answers", "secrets_shown"})

    def files(self, data: Path | None) -> list[Path]:
        return diary_files(data)

    def cases(self, bench: Workbench) -> Sequence[Case[DiaryQuestion]]:
        return limited(read_diaries(bench.options.data), bench.options.limit)

    def check(self, case: Case[DiaryQuestion], memory: System) -> dict[str, float | None]:
        return check_hygiene(case.planted, memory.held()) if isinstance(case, Diary) else {}

    def options(self, question: DiaryQuestion) -> tuple[Sequence[str], int] | None:
        return (question.options, question.correct) if question.options else None

    def gold(self, question: DiaryQuestion) -> str:
        return question.options[question.correct] if question.options else " | ".join(question.forms)

    def score(self, question: DiaryQuestion, output: str, recalled: Recalled) -> dict[str, float | None]:
        right, stale, refused = holds(output, question.forms), holds(output, question.stale), refuses(output)
        recall = evidence_recall(question.steps, recalled.shown)
        leaked = any(leaks(secret, text) for secret in question.secrets for text in (recalled.notes.text, output))
        scores: dict[str, float | None] = {"evidence_recall": recall, "leaked": float(leaked)}
        if question.kind == ADVICE:
            return scores
        if question.kind == ABSTAIN:
            return {"right": float(refused), "leaked": float(leaked)}
        if question.kind in (CURRENT, PAST):
            scores |= {"stale": float(stale and not right), "both": float(stale and right)}
        if question.kind == WHY:
            right = recall == 1.0 and (right or question.evidence_only)
        return scores | {"right": float(right), "false_refusal": float(refused)}

    def measure(self, results: Sequence[Answered]) -> Metrics:
        kinds = {kind: [one for one in results if one.kind == kind] for kind in (CURRENT, PAST, ADVICE, WHY, WHO, ABSTAIN)}
        return {
            **{kind: mean_score(of_kind, "right") for kind, of_kind in kinds.items()},
            "advice_by_letter": mean_score(kinds[ADVICE], "right_by_letter"),
            "stale_answers": mean_score(kinds[CURRENT], "stale"),
            "stale_and_current": mean_score(kinds[CURRENT], "both"),
            "past_wrong": mean_score(kinds[PAST], "stale"),
            "false_refusals": mean_score(results, "false_refusal"),
            "secrets_shown": mean_score(results, "leaked"),
            "evidence_recall": mean_score(results, "evidence_recall"),
            "accuracy": mean_score(results, "right"),
        }

    def controls(self, bench: Workbench) -> Metrics:
        offered = [(q.options, q.correct) for case in self.cases(bench) for q in case.questions if q.options]
        return {"advice_longest_option": longest_option(offered), "advice_chance": 1 / 4 if offered else None}
