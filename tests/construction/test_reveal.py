"""What is read from an utterance before anything is written about it."""

from __future__ import annotations

import numpy as np
import pytest

from pgmem_local.construction import reveal
from pgmem_local.construction.annotate import Annotator
from pgmem_local.construction.logistic import LogisticHead, shipped_head
from pgmem_local.construction.reveal import OPTIONS, QUESTIONS, Spoken, features, glance, probe
from pgmem_local.graph.nodes import Polarity, RecallPriority
from tests.fakes import Asked, HashEmbedder, RuleChat

SPOKEN = (Spoken("", "I drink tea."), Spoken("How about Ghent?", "Ghent it is."), Spoken("", "What time is it?"))
LABELS = {"reveals": 2, "polarity": len(Polarity), "priority": len(RecallPriority)}


def undecided(asked: Asked) -> list[float]:
    return [-1.0 - place for place in range(len(asked.options))]


def seen(spoken: tuple[Spoken, ...] = SPOKEN) -> np.ndarray:  # type: ignore[type-arg]
    return features(spoken, probe(RuleChat({"state_probes": undecided}), spoken), Annotator(HashEmbedder()))


@pytest.fixture
def heads(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Heads that are sure of one label each, which the test may choose."""
    sure = {"reveals": 0, "polarity": 0, "priority": 0}

    def stub(part: str, model: str) -> LogisticHead:
        width = seen().shape[1]
        weights = np.zeros((width + 1, LABELS[part]))
        weights[-1, sure[part]] = 9.0
        return LogisticHead(part, np.zeros(width), np.ones(width), weights)

    monkeypatch.setattr(reveal, "shipped_head", stub)
    return sure


def test_every_utterance_is_asked_every_question_and_every_answer_is_read() -> None:
    model = RuleChat({"state_probes": undecided})
    assert probe(model, SPOKEN).shape == (len(SPOKEN), len(QUESTIONS), len(OPTIONS))
    assert len({asked.prompt.opening for asked in model.asked}) == len(QUESTIONS)
    assert {asked.prompt.text.splitlines()[-1] for asked in model.asked} == {f"Message: {one.message}" for one in SPOKEN}


def test_assistants_words_stand_before_the_message() -> None:
    model = RuleChat({"state_probes": undecided})
    probe(model, SPOKEN[1:2])
    assert {asked.prompt.text for asked in model.asked} == {"Assistant: How about Ghent?\nMessage: Ghent it is."}


def test_without_utterances_no_model_is_asked() -> None:
    assert glance(RuleChat({}), Annotator(HashEmbedder()), []) == []


def test_each_utterance_gets_a_glance_of_what_the_heads_say(heads: dict[str, int]) -> None:
    for polarity in range(len(Polarity)):
        for priority in range(len(RecallPriority)):
            heads.update(reveals=0, polarity=polarity, priority=priority)
            found = glance(RuleChat({"state_probes": undecided}), Annotator(HashEmbedder()), SPOKEN)
            assert [(one.polarity, one.priority) for one in found] == [
                (list(Polarity)[polarity], list(RecallPriority)[priority]),
            ] * len(SPOKEN)
            assert all(one.reveals > 0.99 for one in found)


def test_probability_is_that_of_revealing(heads: dict[str, int]) -> None:
    heads.update(reveals=1)
    assert all(one.reveals < 0.01 for one in glance(RuleChat({"state_probes": undecided}), Annotator(HashEmbedder()), SPOKEN))


def test_cues_do_not_hang_on_case_or_on_the_shape_of_an_apostrophe() -> None:
    one, other = (seen((Spoken("", text),)) for text in ("I can't stand rain, don't you?", "i can’t stand RAIN, don’t you?"))
    assert np.array_equal(one, other)


@pytest.mark.parametrize("part", LABELS)
def test_shipped_head_weighs_each_feature(part: str) -> None:
    head = shipped_head(part, "unheard-of")
    assert head.weights.shape == (seen().shape[1] + 1, LABELS[part])
    assert np.all(head.scale > 0)
