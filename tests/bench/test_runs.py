"""Whole runs with stand-ins for the models: scores, costs, files, resuming, comparing."""

from __future__ import annotations

import json
from math import isclose
from pathlib import Path
from typing import Any

import pytest

from pgmem_local.bench.catalogue import TASK_SUMMARIES
from pgmem_local.bench.compare import compare
from pgmem_local.bench.machine import Weights
from pgmem_local.bench.runner import Report, run_task
from pgmem_local.bench.scoring.intervals import flat
from pgmem_local.bench.systems import Oracle, RawTurns
from pgmem_local.bench.table import verdict, write_table
from pgmem_local.bench.tasks import TASKS
from pgmem_local.bench.workbench import BASELINES
from pgmem_local.construction.logistic import heads_folder
from pgmem_local.errors import IngestError
from tests.bench.conftest import Copyist, workbench
from tests.bench.datasets.test_foreign import locomo, prefeval
from tests.fakes import ScriptedChat

WEIGHTS = Weights("scripted")


def ran(task: str, tmp_path: Path, model: ScriptedChat | None = None, out: str = "out", **options: Any) -> Report:
    return run_task(TASKS[task], workbench(model or Copyist(), tmp_path, **options), tmp_path / out, WEIGHTS)


def measured(report: Report, system: str) -> dict[str, float]:
    return {name: value for name, value in flat(report.metrics[system]).items() if value == value}


def test_every_task_is_in_the_help() -> None:
    assert TASKS.keys() == TASK_SUMMARIES.keys()


def test_diary_scores_of_a_model_that_copies_its_notes(diary: Path, tmp_path: Path) -> None:
    report = ran("diary", tmp_path, data=diary, systems=("none", "oracle", "full", "pgmem"))
    oracle = measured(report, "oracle")
    kinds = ("current_state", "past_state", "advice", "why", "who")
    assert {kind: oracle[kind] for kind in kinds} == dict.fromkeys(kinds, 1.0)
    assert (oracle["evidence_recall"], oracle["stale_answers"], oracle["false_refusals"]) == (1.0, 0.0, 0.0)
    assert oracle["abstain"] == 1.0  # no gold evidence: no notes, so the question is declined
    full = measured(report, "full")
    assert (full["stale_and_current"], full["evidence_recall"], full["abstain"]) == (1.0, 1.0, 0.0)


def test_none_knows_nothing_and_says_so(diary: Path, tmp_path: Path) -> None:
    none = measured(ran("diary", tmp_path, data=diary, systems=("none",)), "none")
    assert (none["current_state"], none["who"], none["why"], none["evidence_recall"]) == (0.0, 0.0, 0.0, 0.0)
    assert (none["abstain"], none["false_refusals"]) == (1.0, 1.0)


class Gold(Oracle):
    name = "gold"


class Silent(RawTurns):
    name = "silent"

    def ranked(self, question: object) -> list[int]:
        return []


@pytest.mark.parametrize("task", ["diary", "memhop", "memhop-retrieval", "prefeval", "locomo"])
def test_gold_evidence_scores_what_oracle_scores_and_nothing_what_none_scores(
    task: str, diary: Path, memhop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(BASELINES, "gold", Gold)
    monkeypatch.setitem(BASELINES, "silent", Silent)
    own = {"diary": diary, "memhop": memhop, "memhop-retrieval": memhop}
    data = own.get(task) or {"prefeval": prefeval, "locomo": locomo}[task](tmp_path)
    report = ran(task, tmp_path, data=data, systems=("oracle", "gold", "none", "silent"))
    assert measured(report, "gold") == measured(report, "oracle")
    assert measured(report, "silent") == measured(report, "none")
    assert measured(report, "none") != measured(report, "oracle")
    assert all(share == 1.0 for share in report.whole["share_of_oracle"]["gold"].values())


def test_memhop_says_which_hop_broke(memhop: Path, tmp_path: Path) -> None:
    report = ran("memhop", tmp_path, data=memhop, systems=("oracle", "oracle-without-end", "none"))
    assert measured(report, "oracle")["accuracy_by_k.3"] == 1.0
    without = measured(report, "oracle-without-end")
    assert (without["accuracy_by_k.3"], without["broke_at.3"], without["evidence_recall_by_k.3"]) == (0.0, 0.5, 2 / 3)
    assert (without["broke_at.1"], without["full_chain"]) == (0.5, 0.0)  # the one-hop question has lost its only step
    assert measured(report, "none")["abstain"] == 1.0


def test_relations_are_judged_by_every_judge(tmp_path: Path) -> None:
    report = ran("relations", tmp_path, limit=40)
    assert report.systems == ("constant", "surface", "letters", "json", "cross-validated", "pgmem")
    assert measured(report, "constant")["recall.support"] == 1.0
    assert measured(report, "letters")["recall.support"] == 1.0  # this model always takes the first option
    assert measured(report, "json")["recall.support"] == 1.0
    assert report.whole["cost"]["json"]["written_per_question"] > 0
    assert {name for name in measured(report, "pgmem") if name.startswith("recall.")} == {
        "recall.support", "recall.contradict", "recall.shift_to", "recall.irrelevant",
    }  # fmt: skip
    assert report.whole["cost"]["pgmem"]["reads_per_question"] > 0


def test_head_is_not_scored_on_the_pairs_it_was_fitted_on(tmp_path: Path) -> None:
    report = ran("relations", tmp_path, data=heads_folder() / "pairs.jsonl", limit=20, systems=("cross-validated", "pgmem"))
    assert report.metrics["pgmem"] == report.metrics["cross-validated"]


def test_probes_are_read_once(tmp_path: Path) -> None:
    ran("relations", tmp_path, limit=12, systems=("pgmem",))
    later = Copyist()
    ran("relations", tmp_path, later, limit=12, seed=7, systems=("cross-validated", "pgmem"))
    assert {asked.prompt.head.task for asked in later.asked} == {"speed"}


def test_extraction_floors_are_those_of_the_readme(tmp_path: Path) -> None:
    report = ran("extraction", tmp_path)
    copy, first_person, ours = (measured(report, system) for system in ("copy", "first-person", "pgmem"))
    assert round(copy["has_state_f1"], 2) == 0.62
    assert isclose(first_person["has_state_f1"], 0.68, abs_tol=0.01)
    assert copy["copies"] == 1.0
    assert (ours["has_state_recall"], ours["secrets_leaked"]) == (0.0, 0.0)  # this model finds nothing


def test_finished_run_is_not_run_again(diary: Path, tmp_path: Path) -> None:
    first = ran("diary", tmp_path, data=diary, systems=("rag", "pgmem"))
    later = Copyist()
    again = ran("diary", tmp_path, later, data=diary, systems=("rag", "pgmem"))
    assert {asked.prompt.head.task for asked in later.asked} == {"speed"}
    assert again.metrics == first.metrics
    assert again.whole["cost"]["pgmem"]["evaluated_per_turn"] == first.whole["cost"]["pgmem"]["evaluated_per_turn"]


def test_broken_run_goes_on_where_it_stopped(diary: Path, tmp_path: Path) -> None:
    class Failing(Copyist):
        def _next(self, asked: Any) -> Any:
            if "Who is scared" in asked.prompt.text:
                raise KeyboardInterrupt
            return super()._next(asked)

    with pytest.raises(KeyboardInterrupt):
        ran("diary", tmp_path, Failing(), data=diary, systems=("rag",))
    later = Copyist()
    ran("diary", tmp_path, later, data=diary, systems=("rag",))
    asked = {one.prompt.text.rpartition("Question: ")[2] for one in later.asked if one.prompt.head.task == "answer"}
    assert asked == {"Who is scared of dogs?", "What is my shoe size?"}


def test_json_holds_what_it_takes_to_repeat_the_run(diary: Path, tmp_path: Path) -> None:
    ran("diary", tmp_path, data=diary, systems=("none", "rag"))
    whole = json.loads((tmp_path / "out" / "diary.json").read_text("utf-8"))
    facts = {"task", "version", "commit", "model", "embedder", "machine", "settings", "raw_speed", "metrics", "cost", "items"}
    assert facts <= whole.keys()
    assert {
        "current_state", "stale_answers", "past_state", "advice", "why", "who", "abstain", "evidence_recall",
    } <= whole["metrics"]["rag"].keys()  # fmt: skip
    costs = {f"{part}_per_{unit}" for part in ("evaluated", "reused", "written", "calls") for unit in ("turn", "question")}
    assert costs <= whole["cost"]["rag"].keys()
    assert whole["cost"]["rag"]["peak_memory_bytes"] > 0
    assert {"seconds_times_raw_per_question", "disk_bytes"} <= whole["cost"]["rag"].keys()
    assert [item["id"] for item in whole["items"]["rag"]] == ["q1", "q2", "q3", "q4", "q5", "q6"]
    assert str(tmp_path) not in json.dumps(whole)


def test_table_says_first_where_a_plain_baseline_wins(diary: Path, tmp_path: Path) -> None:
    report = ran("diary", tmp_path, data=diary, systems=("rag", "full", "pgmem"))
    altered = {**report.whole, "metrics": {**report.metrics, "pgmem": {**report.metrics["pgmem"], "who": 0.0}}}
    page = write_table(TASKS["diary"], Report("diary", report.systems, altered))
    assert "**rag beats pgmem** in" in page.splitlines()[2]
    assert "who" in page.splitlines()[2]


def test_lower_is_better_where_the_task_says_so(diary: Path, tmp_path: Path) -> None:
    report = ran("diary", tmp_path, data=diary, systems=("rag", "pgmem"))
    same = dict.fromkeys(TASKS["diary"].headline, 0.5)
    whole = {**report.whole, "metrics": {"rag": {**same, "stale_answers": 0.1}, "pgmem": same}}
    assert verdict(TASKS["diary"], Report("diary", report.systems, whole)) == "**rag beats pgmem** in stale answers."
    whole["metrics"] = {"rag": {**same, "stale_answers": 0.9}, "pgmem": same}
    assert verdict(TASKS["diary"], Report("diary", report.systems, whole)) == "None of rag beats pgmem in any column."
    whole["metrics"]["joined@400"] = {**whole["metrics"]["pgmem"], "stale_answers": 0.95}
    systems = (*report.systems, "joined@400")
    assert verdict(TASKS["diary"], Report("diary", systems, whole)) == "**rag beats joined@400** in stale answers."


def test_comparison_is_paired_by_item(diary: Path, tmp_path: Path) -> None:
    ran("diary", tmp_path, data=diary, systems=("none", "oracle"))
    path = tmp_path / "out" / "diary.json"
    (found,) = compare(path, path, system="oracle", against="none")
    assert found.items == 6
    gain = found.gains["evidence_recall"]
    assert (gain.difference, gain.interval.low, gain.interval.high) == (1.0, 1.0, 1.0)
    assert all(one.gains["accuracy"].difference == 0.0 for one in compare(path, path))


def test_runs_of_two_tasks_are_not_compared(diary: Path, memhop: Path, tmp_path: Path) -> None:
    ran("diary", tmp_path, data=diary, systems=("none",))
    ran("memhop", tmp_path, data=memhop, systems=("none",))
    with pytest.raises(IngestError, match="compare two runs of one task"):
        compare(tmp_path / "out" / "diary.json", tmp_path / "out" / "memhop.json")
    (tmp_path / "x.json").write_text("{}", "utf-8")
    with pytest.raises(IngestError, match="is no result of `pgmem bench`"):
        compare(tmp_path / "x.json", tmp_path / "x.json")


def test_chain_grows_one_memory_and_learns_each_session_once(tmp_path: Path) -> None:
    model = Copyist()
    report = ran("prefeval", tmp_path, model, data=prefeval(tmp_path), limit=3, systems=("oracle", "pgmem"))
    assert measured(report, "oracle")["evidence_recall"] == 1.0
    assert {"accuracy_by_kind.1", "accuracy_by_kind.2", "accuracy_by_kind.3"} <= measured(report, "oracle").keys()
    learned = [asked.prompt for asked in model.asked if asked.prompt.head.task == "state_probes"]
    assert len(learned) == len(set(learned)) > 0


def test_locomo_scores_stand_beside_those_of_the_audit(tmp_path: Path) -> None:
    oracle = measured(ran("locomo", tmp_path, data=locomo(tmp_path), systems=("oracle",)), "oracle")
    assert oracle["f1"] < oracle["f1_corrected"]  # the notes say Monday, which only the audit wants
    assert oracle["adversarial"] == 1.0  # no evidence, no notes: declined
    assert oracle["evidence_recall"] == 1.0


def test_planted_secret_is_kept_out_by_ours_and_shown_by_raw_turns(diary: Path, tmp_path: Path) -> None:
    secret = "My password is Tinsel!Badger42, for the tea shop."
    with (diary / "tiny.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps({"id": "e4", "timestamp": "2025-04-06T20:00:00+00:00", "text": secret}))
    (diary / "tiny_annotations.json").write_text(json.dumps({"secrets": [{"kind": "password", "string": "Tinsel!Badger42"}]}), "utf-8")
    report = ran("diary", tmp_path, data=diary, systems=("none", "full", "pgmem"))
    none, full, ours = (measured(report, system) for system in report.systems)
    assert (none["secrets_shown"], full["secrets_shown"], ours["secrets_shown"]) == (0.0, 1.0, 0.0)
    assert (full["hygiene.secrets_stored"], ours["hygiene.secrets_stored"]) == (1.0, 0.0)
    assert "secrets stored" in write_table(TASKS["diary"], report)


def test_retrieval_alone_asks_no_model_for_an_answer(memhop: Path, tmp_path: Path) -> None:
    model = Copyist()
    report = ran("memhop-retrieval", tmp_path, model, data=memhop, systems=("rag", "oracle-without-end"))
    assert not any(asked.prompt.head.task == "answer" for asked in model.asked)
    without = measured(report, "oracle-without-end")
    assert (without["evidence_recall_by_k.3"], without["full_chain"], without["broke_at.3"]) == (2 / 3, 0.0, 0.5)
    assert "accuracy" not in without
    assert "K=3" in write_table(TASKS["memhop-retrieval"], report)
