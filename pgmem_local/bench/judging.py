"""A local judge for free answers: the model that answered also checks, by log-probabilities, what others pay a hosted judge for.

Off unless asked for, and weak: what it says is shown apart from what can be scored, beside its agreement with 40 labelled answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pgmem_local.bench.choice import NOTHING_KNOWN
from pgmem_local.bench.datasets.files import field, read_lines, shipped
from pgmem_local.bench.prompts import load
from pgmem_local.bench.scoring.agreement import Agreement, agreement
from pgmem_local.ports import ChatModel
from pgmem_local.prompts import one_line

PREFEVAL_CHECKS = ("violates", "acknowledges", "hallucinates", "helpful")
IMPLEXCONV_CHECKS = ("addresses", "recognises", "distinct", "integrates")
UNDESIRED = frozenset({"violates", "hallucinates"})
ANSWER_TOKENS = 120
SCORE = "judged_score"


@dataclass(frozen=True)
class LabelledAnswer:
    """An answer with what each check should say of it."""

    preference: str
    question: str
    answer: str
    labels: Mapping[str, bool]


def advise(model: ChatModel, notes: str, question: str) -> str:
    """A free answer to a request, from notes; the same way for every memory."""
    prompt = load("advise").ask({"notes": notes or NOTHING_KNOWN, "question": one_line(question)})
    return one_line(model.write([prompt], ANSWER_TOKENS, stop=("\nNotes:", "\nRequest:", "\n\n"))[0].text)


def judge(model: ChatModel, preference: str, question: str, answer: str, checks: Sequence[str]) -> dict[str, bool]:
    """What each check says of an answer."""
    task = load("judge_answer")
    values = {"preference": one_line(preference), "question": one_line(question), "answer": one_line(answer)}
    odds = model.choose([task.ask(values, check) for check in checks], (" Yes", " No"))
    return {check: bool(yes > no) for check, (yes, no) in zip(checks, odds, strict=True)}


def scores_of(verdicts: Mapping[str, bool]) -> dict[str, float]:
    """Each verdict, and how many of them are as they should be, as the paper counts (0 to 4)."""
    good = sum(said != (check in UNDESIRED) for check, said in verdicts.items())
    return {SCORE: float(good), **{f"judged_{check}": float(said) for check, said in verdicts.items()}}


def read_labelled(path: Path | None = None) -> list[LabelledAnswer]:
    """The labelled answers that come with the package, or another file of their format."""
    file = path or shipped("judging", "answers.jsonl")
    names = ("preference", "question", "answer", "labels")
    return [LabelledAnswer(*(field(record, name, file) for name in names)) for record in read_lines(file)]


def measure_judge(
    model: ChatModel, checks: Sequence[str], report: Callable[[int, int], None] = lambda done, total: None
) -> dict[str, Agreement]:
    """How far the judge agrees with the labels, by check."""
    labelled = read_labelled()
    said: dict[str, list[bool]] = {check: [] for check in checks}
    for done, one in enumerate(labelled, 1):
        for check, verdict in judge(model, one.preference, one.question, one.answer, checks).items():
            said[check].append(verdict)
        report(done, len(labelled))
    return {check: agreement([one.labels[check] for one in labelled], said[check]) for check in checks}
