"""New MemHop scenarios: the paper's shape, exact evidence, the same from the same seed, and readable like the shipped ones."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pgmem_local.bench.datasets.memhop import read_memhop
from pgmem_local.bench.generation.scenario import draw_scenario, generate, profile
from pgmem_local.bench.scoring.forms import holds
from pgmem_local.cli.app import app
from pgmem_local.errors import IngestError

SEEDS = range(6)


@pytest.fixture(scope="module", params=SEEDS)
def scenario(request: pytest.FixtureRequest) -> dict[str, Any]:
    return draw_scenario("scenario_1", 100, request.param)


def test_shape_is_that_of_the_paper(scenario: dict[str, Any]) -> None:
    assert len(scenario["characters"]) in (4, 5)
    assert 6 <= len(scenario["relationships"]) <= 10
    assert 88 <= len(scenario["observations"]) <= 112
    assert 18 <= len(scenario["sessions"]) <= 22
    assert all(len(session["turns"]) == 12 for session in scenario["sessions"])
    assert Counter(question["k"] for question in scenario["questions"]) == {1: 25, 2: 25, 3: 20, 4: 18, 5: 12, 0: 6}


def test_every_cited_turn_is_the_narrators_and_says_its_step(scenario: dict[str, Any]) -> None:
    turns = {session["id"]: session["turns"] for session in scenario["sessions"]}
    for question in scenario["questions"]:
        for step, places in zip(question["decomposition"], question.get("evidence_by_step", ()), strict=False):
            for session, turn in places:
                assert turns[session][turn]["role"] == "user"
                assert holds(turns[session][turn]["content"], [step["a"]])


def test_chain_walked_over_the_relationships_has_one_target_at_each_step(scenario: dict[str, Any]) -> None:
    steps: dict[tuple[str, str], set[str]] = {}
    for one in scenario["relationships"]:
        steps.setdefault((one["from"], one["type"]), set()).add(one["to"])
        steps.setdefault((one["to"], one["inverse"]), set()).add(one["from"])
    for question in scenario["questions"]:
        at, *middle, _ = question["chain"]
        for link in middle:
            kind, _, target = link.partition("->")
            assert steps[at, kind] == {target}
            at = target


def test_answer_is_what_holds_now(scenario: dict[str, Any]) -> None:
    ended = {(seen["subject"], seen["value"]) for seen in scenario["observations"] if seen["family"].startswith("old ")}
    asked = [question for question in scenario["questions"] if question["answerable"]]
    assert ended
    assert not any((question["chain"][-2].rpartition("->")[2], question["answer"]) in ended for question in asked)


def test_what_changed_is_told_before_what_it_changed_to(scenario: dict[str, Any]) -> None:
    seen = scenario["observations"]
    for old, new in pairwise(seen):
        if new.get("was"):
            assert old["value"] == new["was"]
            assert tuple(old["evidence"][0]) < tuple(new["evidence"][0])


def test_nobody_is_told_what_cannot_be_answered(scenario: dict[str, Any]) -> None:
    told = {(seen["subject"], seen["predicate"]) for seen in scenario["observations"]}
    for question in scenario["questions"]:
        if not question["answerable"]:
            person = question["chain"][-2].rpartition("->")[2]
            assert (person, question["chain"][-1].partition("->")[0]) not in told


def test_no_question_is_asked_twice(scenario: dict[str, Any]) -> None:
    texts = [question["question"] for question in scenario["questions"]]
    assert len(set(texts)) == len(texts)


def test_no_chat_says_the_same_frame_twice_in_a_session(scenario: dict[str, Any]) -> None:
    for session in scenario["sessions"]:
        said = [turn["content"] for turn in session["turns"]]
        assert len(set(said)) == len(said)


def test_seed_repeats_a_scenario_and_another_seed_does_not() -> None:
    assert draw_scenario("scenario_1", 20, 3) == draw_scenario("scenario_1", 20, 3)
    assert draw_scenario("scenario_1", 20, 3) != draw_scenario("scenario_1", 20, 4)
    assert draw_scenario("scenario_1", 20, 3)["sessions"] != draw_scenario("scenario_2", 20, 3)["sessions"]


def test_written_scenarios_are_read_like_the_shipped_ones(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    assert len(generate(folder, 2, 20, seed=0)) == 2
    cases = read_memhop(folder)
    assert [case.name for case in cases] == ["scenario_1", "scenario_2"]
    for case in cases:
        known = {entry.id for entry in case.entries}
        assert all(len(question.steps) == question.hops for question in case.questions if question.hops)
        assert all(step <= known for question in case.questions for step in question.steps)
    again = tmp_path / "again"
    generate(again, 2, 20, seed=0)
    assert [path.read_bytes() for path in sorted(folder.iterdir())] == [path.read_bytes() for path in sorted(again.iterdir())]


def test_folder_with_other_data_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("{}", "utf-8")
    with pytest.raises(IngestError, match="name a new folder"):
        generate(tmp_path, 1, 20, seed=0)
    assert json.loads((tmp_path / "mine.json").read_text("utf-8")) == {}


def test_profile_keeps_the_papers_proportions() -> None:
    assert profile(100) == [25, 25, 20, 18, 12]
    assert profile(20) == [5, 5, 4, 4, 2]
    assert sum(profile(37)) == 37


def test_more_questions_than_a_network_has_are_refused() -> None:
    with pytest.raises(IngestError, match="ask for fewer with --questions"):
        draw_scenario("scenario_1", 2000, 0)


def test_command_writes_a_folder_and_says_how_to_run_it(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    arguments = ["bench", "memhop", "--generate", str(folder), "--scenarios", "1", "--questions", "20", "--seed", "3"]
    ended = CliRunner().invoke(app, arguments)
    assert ended.exit_code == 0, ended.output
    assert f"pgmem bench memhop --data {folder}" in ended.output.replace("\n", " ")
    assert json.loads((folder / "scenario_1.json").read_text("utf-8")) == draw_scenario("scenario_1", 20, 3)
