"""Each round of validation finds what it is for: a good question, broken in one way at a time."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from pgmem_local.bench.generation.chains import Chain, chains, question_of
from pgmem_local.bench.generation.checks import problem
from pgmem_local.bench.generation.network import Network, draw_network
from pgmem_local.bench.generation.sessions import Chats, write_chats

Made = tuple[dict[str, Any], Chain, Network, Chats]


@pytest.fixture
def made() -> Made:
    dice = random.Random(5)
    network = draw_network(dice)
    chats = write_chats(network, dice)
    chain = next(chains(network, 3, dice))
    return question_of(chain, chats, dice), chain, network, chats


def test_good_question_passes(made: Made) -> None:
    assert problem(*made, others=[]) is None


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"question": None}, "no valid question"),
        ({"decomposition": []}, "differ in number"),
        ({"evidence_by_step": [[["s01", 1]], [["s01", 1]], [["s01", 1]]]}, "does not say"),
        ({"answer": "something else"}, "the last sub-answer is not the answer"),
        ({"question": "Why?"}, "too short or too long"),
        ({"question": "What does {who} drink in the morning?"}, "a placeholder or a doubled word"),
        ({"question": "What does the the boss drink?"}, "a placeholder or a doubled word"),
        ({"question": "what does my boss drink?"}, "no question"),
    ],
)
def test_broken_question_is_found(made: Made, change: dict[str, Any], found: str) -> None:
    record, *rest = made
    assert found in str(problem({**record, **change}, *rest, others=[]))


def test_question_that_holds_its_answer_is_found(made: Made) -> None:
    record, *rest = made
    text = f"Is it {record['answer']} that we speak of?"
    assert problem({**record, "question": text}, *rest, others=[]) == "the question holds its answer"


def test_step_with_two_targets_is_found(made: Made) -> None:
    record, chain, network, chats = made
    step = chain.steps[0]
    stranger = next(person.short for person in network.people if person.short not in (step.start, step.end))
    ends = {"one": stranger} if step.relationship.one == step.end else {"other": stranger}
    twin = replace(step.relationship, id="r99", **ends)
    double = replace(network, relationships=(*network.relationships, twin))
    assert "could be any of" in str(problem(record, chain, double, chats, others=[]))


def test_question_asked_before_is_found(made: Made) -> None:
    record, *rest = made
    assert "asked already" in str(problem(record, *rest, others=[{**record, "id": "x"}]))
    words = record["question"].removesuffix("?").split()
    near = {**record, "chain": [*record["chain"][:-2], "other->path", record["chain"][-1]], "question": " ".join([*words[::-1]])}
    assert "nearly the same" in str(problem(record, *rest, others=[near]))
