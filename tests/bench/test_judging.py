"""The local judge: off by default, told apart from what can be scored, and never without its agreement."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pgmem_local.bench.judging import IMPLEXCONV_CHECKS, PREFEVAL_CHECKS, judge, measure_judge, read_labelled, scores_of
from pgmem_local.bench.prompts import load
from pgmem_local.bench.scoring.agreement import Agreement
from pgmem_local.bench.table import write_table
from pgmem_local.bench.tasks import TASKS
from pgmem_local.bench.workbench import Options
from pgmem_local.cli.benchmarking import run_benchmark
from pgmem_local.errors import IngestError
from tests.bench.conftest import Copyist, workbench
from tests.bench.datasets.test_foreign import lines, prefeval
from tests.bench.test_runs import measured, ran
from tests.fakes import Answer, Asked, RuleChat


class Labeller(RuleChat):
    """Knows the labels of the shipped answers, and says the opposite where told to."""

    def __init__(self, wrong: frozenset[str] = frozenset()) -> None:
        super().__init__({"judge_answer": self._check})
        self.known = {(one.question, one.answer): one.labels for one in read_labelled()}
        self.by_words = {words: check for check, words in load("judge_answer").openings.items()}
        self.wrong = wrong

    def _check(self, asked: Asked) -> Answer:
        question, answer = (asked.prompt.text.splitlines()[line].partition(": ")[2] for line in (1, 2))
        check = self.by_words[asked.prompt.opening]
        return " Yes" if self.known[question, answer][check] != (check in self.wrong) else " No"


def test_shipped_answers_have_the_labels_their_readme_counts() -> None:
    labelled = read_labelled()
    counts = Counter(check for one in labelled for check, yes in one.labels.items() if yes)
    assert len(labelled) == 40
    assert all(set(one.labels) == {*PREFEVAL_CHECKS, *IMPLEXCONV_CHECKS} for one in labelled)
    assert counts == {
        "violates": 21, "acknowledges": 26, "hallucinates": 8, "helpful": 35, "addresses": 35, "recognises": 18, "distinct": 26,
        "integrates": 8,
    }  # fmt: skip


def test_no_labelled_answer_stands_in_the_judges_own_examples() -> None:
    head = load("judge_answer").head.instructions
    assert not any(text in head for one in read_labelled() for text in (one.preference, one.question, one.answer))


def test_agreement_is_measured_check_by_check_and_only_once(tmp_path: Path) -> None:
    found = measure_judge(workbench(Labeller(frozenset({"helpful"})), tmp_path), PREFEVAL_CHECKS)
    assert found["violates"] == found["acknowledges"] == found["hallucinates"] == Agreement(1.0, 1.0)
    assert found["helpful"].share == 0.0
    silent = Labeller()
    assert measure_judge(workbench(silent, tmp_path), PREFEVAL_CHECKS) == found
    assert silent.asked == []


def test_judge_reads_one_check_a_prompt_and_writes_nothing() -> None:
    model = Labeller()
    both = read_labelled()[:2]
    assert judge(model, both, IMPLEXCONV_CHECKS) == [{check: one.labels[check] for check in IMPLEXCONV_CHECKS} for one in both]
    assert [asked.method for asked in model.asked] == ["choose"] * 8


def test_score_counts_what_is_as_it_should_be() -> None:
    good = {"violates": False, "acknowledges": True, "hallucinates": False, "helpful": True}
    assert scores_of(good)["judged_score"] == 4.0
    assert scores_of({**good, "violates": True, "helpful": False})["judged_score"] == 2.0
    assert scores_of(dict.fromkeys(IMPLEXCONV_CHECKS, False))["judged_score"] == 0.0


def test_judge_is_off_unless_asked_for(tmp_path: Path) -> None:
    model = Copyist()
    report = ran("prefeval", tmp_path, model, data=prefeval(tmp_path), limit=1, systems=("oracle",))
    assert not {"advise", "judge_answer"} & {asked.prompt.head.task for asked in model.asked}
    assert report.whole["judge"] is None
    assert "judge" not in write_table(TASKS["prefeval"], report)


def test_judged_answers_are_labelled_weak_with_their_agreement(tmp_path: Path) -> None:
    model = Copyist()
    report = ran("prefeval", tmp_path, model, data=prefeval(tmp_path), limit=2, systems=("none", "oracle"), judge=True)
    assert measured(report, "oracle")["weak_judge.score"] == 2.0  # this model says yes to every check
    assert report.whole["judge"]["agreement"]["helpful"]["share"] == 35 / 40
    page = write_table(TASKS["prefeval"], report)
    assert "**Weak judge**" in page
    assert "helpful 0.88 (kappa 0.00)" in page
    assert [item["output"] for item in report.whole["items"]["none"]] == ["A quiet dinner."] * 3


def test_preference_is_for_the_judge_and_never_for_the_answer(tmp_path: Path) -> None:
    model = Copyist()
    ran("prefeval", tmp_path, model, data=prefeval(tmp_path), limit=1, systems=("oracle", "pgmem"), judge=True)
    told = {asked.prompt.head.task for asked in model.asked if "SECRET" in asked.prompt.text}
    assert told == {"judge_answer"}


def test_judging_is_no_cost_of_the_memory(tmp_path: Path) -> None:
    data = prefeval(tmp_path)
    plain = ran("prefeval", tmp_path, data=data, limit=1, systems=("oracle",)).whole["cost"]["oracle"]
    judged = ran("prefeval", tmp_path, data=data, limit=1, systems=("oracle",), judge=True).whole["cost"]["oracle"]
    assert judged["reads_per_question"] == plain["reads_per_question"]
    assert judged["calls_per_question"] == plain["calls_per_question"] + 1  # the free answer


def test_implexconv_is_answered_only_to_be_judged(tmp_path: Path) -> None:
    turns = [[{"role": "user", "content": "I run."}], [{"role": "user", "content": "My back hurts."}]]
    chat = {"id": 7, "trait": "t", "opposed_reason": "back", "question": "Which sport?", "evidence_session": 1, "sessions": turns}
    data = lines(tmp_path / "opposed_5session.jsonl", chat)
    plain = Copyist()
    assert "weak_judge.score" not in measured(ran("implexconv", tmp_path, plain, data=data, systems=("oracle",)), "oracle")
    assert "advise" not in {asked.prompt.head.task for asked in plain.asked}
    judged = measured(ran("implexconv", tmp_path, data=data, systems=("oracle",), judge=True), "oracle")
    assert (judged["evidence_recall"], judged["weak_judge.score"]) == (1.0, 4.0)


def test_task_without_free_answers_refuses_the_judge(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="has no free answers to judge"):
        run_benchmark("diary", Options(judge=True), None, tmp_path, as_json=False)
