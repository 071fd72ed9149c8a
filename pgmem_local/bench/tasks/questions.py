"""What all question-answering tasks share: a memory observes a case, settles, and answers through `answering` like every other."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

from pgmem_local.answering import Answer, answer
from pgmem_local.bench.choice import Choice, choose_option
from pgmem_local.bench.datasets.files import spread
from pgmem_local.bench.datasets.history import Case, Question
from pgmem_local.bench.journal import Build, Journal, Outcome
from pgmem_local.bench.judging import FreeAnswer, advise, judge, scores_of
from pgmem_local.bench.scoring.intervals import Metrics, mean
from pgmem_local.bench.scoring.recall import broken_hop, evidence_recall
from pgmem_local.bench.systems import Recalled, System
from pgmem_local.bench.workbench import Step, Workbench, split_budget

JUDGED = "weak_judge"

Asked = TypeVar("Asked", bound=Question)


@dataclass(frozen=True)
class Answered:
    """One question and how it was answered. scores: by the task's rules; None where a score does not apply.

    shown, cited: ids of the entries behind the notes and behind the answer's citations. seconds: of recall and answer together.
    """

    id: str
    kind: str
    question: str
    gold: str
    output: str
    shown: tuple[str, ...]
    cited: tuple[str, ...]
    notes_tokens: int
    seconds: float
    scores: Mapping[str, float | None]

    @property
    def whole_chain(self) -> bool:
        return self.scores.get("broken_hop") == 0


class QuestionTask(ABC, Generic[Asked]):
    """A data set of cases with questions. Subclasses read it, score one answer, and sum scores up."""

    name: ClassVar[str]
    systems: ClassVar[tuple[str, ...]] = ("none", "recent", "full", "rag", "pgmem", "joined", "oracle")
    plain: ClassVar[tuple[str, ...]] = ("recent", "full", "rag", "pgmem-paper")
    headline: ClassVar[tuple[str, ...]]
    lower: ClassVar[frozenset[str]]
    per: ClassVar[Literal["turn", "question"]] = "question"
    item: ClassVar[str] = "question"
    checks: ClassVar[tuple[str, ...]] = ()

    @property
    def decisive(self) -> tuple[str, ...]:
        """Every column counts."""
        return self.headline

    @abstractmethod
    def cases(self, bench: Workbench) -> Sequence[Case[Asked]]:
        """What is asked, within the limit."""

    @abstractmethod
    def files(self, data: Path | None) -> list[Path]: ...

    @abstractmethod
    def score(self, question: Asked, output: str, recalled: Recalled) -> dict[str, float | None]:
        """The scores of a free answer."""

    @abstractmethod
    def gold(self, question: Asked) -> str:
        """The right answer, for people who read the results."""

    def options(self, question: Asked) -> tuple[Sequence[str], int] | None:
        """The options of a multiple-choice question and the right one's place; None for a free one."""
        return None

    def check(self, case: Case[Asked], memory: System) -> dict[str, float | None]:
        """What can be said of a built memory before anything is asked."""
        return {}

    def judged(
        self, bench: Workbench, question: Asked, recalled: Recalled, output: str, scores: dict[str, float | None]
    ) -> tuple[str, dict[str, float | None]]:
        """The output and the scores, or, where answers are to be judged, a free answer with what the judge says of it as well."""
        if not (bench.options.judge and self.checks and question.wanted):
            return output, scores
        text = advise(bench.model, recalled.notes.text, question.text)
        booked = bench.model.ledger.take()
        (verdicts,) = judge(bench.model, [FreeAnswer(question.wanted, question.text, text)], self.checks)
        bench.model.ledger.tasks = booked  # what judging costs is no cost of the memory's
        return text, scores | scores_of(verdicts)

    def read(self, raw: dict[str, Any]) -> Answered:
        return Answered(**{**raw, "shown": tuple(raw["shown"]), "cited": tuple(raw["cited"])})

    def controls(self, bench: Workbench) -> Metrics:
        return {}

    def run(self, bench: Workbench, system: str, journal: Journal) -> Iterator[Build | Outcome]:
        name, budget = split_budget(system, bench.options.budget)
        for case in self.cases(bench):
            missing = [question for question in case.questions if question.id not in journal.outcomes(system)]
            if missing:
                yield from self._run_case(bench, name, budget, case, missing)

    def _run_case(
        self, bench: Workbench, name: str, budget: int, case: Case[Asked], questions: Sequence[Asked]
    ) -> Iterator[Build | Outcome]:
        memory = bench.open_system(name, case)
        try:
            for entry in case.entries:
                memory.observe(entry)
            memory.settle()
            yield Build(case.name, len(case.entries), memory.spent, memory.disk_bytes, checks=self.check(case, memory))
            for done, question in enumerate(questions, 1):
                yield self.ask(bench, memory, question, budget)
                bench.report(Step(f"{name} answers {case.name}", done, len(questions)))
        finally:
            memory.close()

    def ask(self, bench: Workbench, memory: System, question: Asked, budget: int) -> Outcome:
        """One question asked and scored."""
        bench.model.ledger.take()
        began = time.perf_counter()
        recalled = memory.context(question, budget)
        offered = self.options(question)
        if offered is None:
            reply = answer(bench.model, recalled.graph, question.text, recalled.notes, bench.answering)
            output, cited, scores = reply.text, cited_entries(reply, recalled), self.score(question, reply.text, recalled)
        else:
            choice = choose_option(bench.model, recalled.notes.text, question.text, offered[0])
            output, cited, scores = offered[0][choice.by_check], (), self.score(question, "", recalled) | choice_scores(choice, offered[1])
        output, scores = self.judged(bench, question, recalled, output, scores)
        answered = Answered(
            question.id,
            question.kind,
            question.text,
            self.gold(question),
            output,
            recalled.shown,
            cited,
            bench.model.count(recalled.notes.text),
            round(time.perf_counter() - began, 3),
            scores,
        )
        return Outcome(question.id, asdict(answered), bench.model.ledger.total())


class RecallOnly(QuestionTask[Asked]):
    """A task that looks at what a memory shows and asks no model for an answer, but for one to judge. Comes before the task it narrows."""

    def ask(self, bench: Workbench, memory: System, question: Asked, budget: int) -> Outcome:
        bench.model.ledger.take()
        began = time.perf_counter()
        recalled = memory.context(question, budget)
        seconds, tokens = round(time.perf_counter() - began, 3), bench.model.count(recalled.notes.text)
        output, scores = self.judged(bench, question, recalled, "", self.recall(question, recalled))
        answered = Answered(question.id, question.kind, question.text, "", output, recalled.shown, (), tokens, seconds, scores)
        return Outcome(question.id, asdict(answered), bench.model.ledger.total())

    def recall(self, question: Asked, recalled: Recalled) -> dict[str, float | None]:
        """Was the gold evidence shown, and where did the chain break?"""
        steps, shown = question.steps, recalled.shown
        return {"evidence_recall": evidence_recall(steps, shown), "broken_hop": broken_hop(steps, shown)}


def judged_metrics(results: Sequence[Answered]) -> Metrics:
    """Means of what the judge said, where it was asked."""
    names = sorted({name for one in results for name in one.scores if name.startswith("judged_")})
    return {JUDGED: {name.removeprefix("judged_"): mean_score(results, name) for name in names}} if names else {}


def choice_scores(choice: Choice, right: int) -> dict[str, float | None]:
    return {"right": float(choice.by_check == right), "right_by_letter": float(choice.by_letter == right)}


def cited_entries(reply: Answer, recalled: Recalled) -> tuple[str, ...]:
    """The entries behind an answer's citations, each once."""
    nodes = [citation.node.id for citation in reply.citations]
    return tuple(dict.fromkeys(entry for node in nodes for entry in recalled.origins.get(node, ())))


def mean_score(answered: Sequence[Answered], name: str) -> float | None:
    """The mean of a score over the answers it applies to."""
    return mean([score for one in answered if (score := one.scores.get(name)) is not None])


def limited(cases: Sequence[Case[Asked]], limit: int | None) -> list[Case[Asked]]:
    """Cases with at most `limit` questions each, evenly chosen."""
    return [replace(case, questions=spread(case.questions, limit)) for case in cases]
