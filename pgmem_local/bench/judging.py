"""A local judge for free answers: the model that answered also checks, by log-probabilities, what others pay a hosted judge for.

Off unless asked for, and weak: what it says is shown apart from what can be scored, beside its agreement with 40 labelled answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pgmem_local.bench.choice import NOTHING_KNOWN
from pgmem_local.bench.datasets.files import field, read_lines, shipped
from pgmem_local.bench.journal import Journal, Outcome
from pgmem_local.bench.prompts import load
from pgmem_local.bench.scoring.agreement import Agreement, agreement
from pgmem_local.bench.workbench import Step, Workbench, code_digest
from pgmem_local.construction.extract import YES_NO
from pgmem_local.ports import ChatModel, Spent
from pgmem_local.prompts import one_line

PREFEVAL_CHECKS = ("violates", "acknowledges", "hallucinates", "helpful")
IMPLEXCONV_CHECKS = ("addresses", "recognises", "distinct", "integrates")
UNDESIRED = frozenset({"violates", "hallucinates"})
ANSWER_TOKENS = 120
SCORE = "judged_score"
JUDGE = "judge"
TOGETHER = 8
"""Labelled answers asked about in one call."""


@dataclass(frozen=True)
class FreeAnswer:
    """An answer to a request of somebody with a preference."""

    preference: str
    question: str
    answer: str


@dataclass(frozen=True)
class LabelledAnswer(FreeAnswer):
    """An answer with what each check should say of it."""

    id: str
    labels: Mapping[str, bool]


def advise(model: ChatModel, notes: str, question: str) -> str:
    """A free answer to a request, from notes; the same way for every memory."""
    prompt = load("advise").ask({"notes": notes or NOTHING_KNOWN, "question": one_line(question)})
    return one_line(model.write([prompt], ANSWER_TOKENS, stop=("\nNotes:", "\nRequest:", "\n\n"))[0].text)


def judge(model: ChatModel, answers: Sequence[FreeAnswer], checks: Sequence[str]) -> list[dict[str, bool]]:
    """What each check says of each answer."""
    task = load("judge_answer")
    slots = [
        {"preference": one_line(one.preference), "question": one_line(one.question), "answer": one_line(one.answer)} for one in answers
    ]
    odds = model.choose([task.ask(values, check) for values in slots for check in checks], YES_NO)
    said = (odds[:, 0] > odds[:, 1]).reshape(len(answers), len(checks))
    return [{check: bool(yes) for check, yes in zip(checks, row, strict=True)} for row in said]


def scores_of(verdicts: Mapping[str, bool]) -> dict[str, float]:
    """Each verdict, and how many of them are as they should be, as the paper counts (0 to 4)."""
    good = sum(said != (check in UNDESIRED) for check, said in verdicts.items())
    return {SCORE: float(good), **{f"judged_{check}": float(said) for check, said in verdicts.items()}}


def read_labelled(path: Path | None = None) -> list[LabelledAnswer]:
    """The labelled answers that come with the package, or another file of their format."""
    file = path or shipped("judging", "answers.jsonl")
    names = ("preference", "question", "answer", "id", "labels")
    return [LabelledAnswer(*(field(record, name, file) for name in names)) for record in read_lines(file)]


def measure_judge(bench: Workbench, checks: Sequence[str]) -> dict[str, Agreement]:
    """How far the judge agrees with the labels, by check. Asked once for a model and its words, and kept."""
    labelled = read_labelled()
    words = code_digest("bench/prompts", "bench/judging.py")
    key = hashlib.sha256(repr((bench.model.identity, words, labelled, checks)).encode()).hexdigest()[:12]
    kept = Journal(bench.cache / f"judge-{key}.jsonl", key)
    missing = [one for one in labelled if one.id not in kept.outcomes(JUDGE)]
    for start in range(0, len(missing), TOGETHER):
        group = missing[start : start + TOGETHER]
        for one, verdicts in zip(group, judge(bench.model, group, checks), strict=True):
            kept.add(JUDGE, Outcome(one.id, dict(verdicts), Spent()))
        bench.report(Step("measuring the judge", start + len(group), len(missing)))
    bench.model.ledger.take()
    said = kept.outcomes(JUDGE)
    return {
        check: agreement([one.labels[check] for one in labelled], [said[one.id].result[check] for one in labelled]) for check in checks
    }
