"""Does an utterance reveal a State of its writer, with which polarity and recall priority? All read, nothing written.

The paper lets the model write these as JSON for every turn; a small model then finds a State in everything. Here one head of answered
examples is evaluated once, each utterance is asked four one-word questions that share it, and what the model thinks of the answers goes,
with the utterance's nearness to the domain labels and a few cues in its wording, through three small fitted heads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgmem_local.construction.annotate import Annotator
from pgmem_local.construction.logistic import shipped_head
from pgmem_local.graph.nodes import Polarity, RecallPriority
from pgmem_local.ports import ChatModel
from pgmem_local.prompts import load

QUESTIONS = ("reveals", "about", "polarity", "priority")
OPTIONS = (" Yes", " No", " writer", " other", " nobody", " positive", " negative", " neutral", " high", " low")
REVEALS = 0.4
"""Probability from which an utterance is taken to reveal a State: on the benchmark's 120 messages F1 is
level (0.82 to 0.83) from 0.35 to 0.7, and what is missed here is missed for good."""

_CUES = (
    r"\b(i|i'm|i've|i'd|i'll|me|my|mine|myself|we|we're|we've|us|our)\b",
    r"\?",
    r"[\"“”‘«»♪`]|(?<!\w)'",
    r"^(what|which|who|how|why|when|where|is|are|do|does|can|could|please|write|translate|list|give|summari[sz]e|proofread|fix)\b",
    r"\b(he|she|they|his|her|their|him)\b",
    r"\b(if i|suppose|imagine|let's say|would)\b",
    r"\b(not|no|never|don't|can't|cannot|won't|without|nothing|n't)\b",
    r"\b(since|now|these days|any ?more|no longer|used to|from now on|every|always|usually)\b",
    r"\b(allerg\w*|doctor|diagnos\w*|pregnan\w*|vegetarian|vegan|moved?|job|married|divorced|rent|church|mosque)\b",
)


@dataclass(frozen=True)
class Spoken:
    """An utterance as it is asked about: the assistant's words it may answer, and its own."""

    before: str
    message: str


@dataclass(frozen=True)
class Glance:
    """What the model and the fitted heads make of one utterance."""

    reveals: float
    polarity: Polarity
    priority: RecallPriority


def glance(model: ChatModel, annotator: Annotator, spoken: Sequence[Spoken]) -> list[Glance]:
    """One glance an utterance."""
    if not spoken:
        return []
    seen = features(spoken, probe(model, spoken), annotator)
    reveals, polarity, priority = (shipped_head(part, model.identity).probabilities(seen) for part in ("reveals", "polarity", "priority"))
    return [
        Glance(float(yes), list(Polarity)[int(np.argmax(poles))], list(RecallPriority)[int(np.argmax(ranks))])
        for (yes, _), poles, ranks in zip(reveals, polarity, priority, strict=True)
    ]


def probe(model: ChatModel, spoken: Sequence[Spoken]) -> NDArray[np.float64]:
    """Log-probabilities of every option after every question, shape (utterances, questions, options)."""
    task = load("state_probes")
    slots = [{"before": f"Assistant: {one.before}\n" if one.before else "", "message": one.message} for one in spoken]
    prompts = [task.ask(slot, question) for slot in slots for question in QUESTIONS]
    return model.choose(prompts, OPTIONS).reshape(len(spoken), len(QUESTIONS), len(OPTIONS))


def features(spoken: Sequence[Spoken], scores: NDArray[np.float64], annotator: Annotator) -> NDArray[np.float64]:
    """What the fitted heads see, shape (utterances, features): log-odds of the four questions, nearness to domains, cues."""
    read = [
        scores[:, 0, 0] - scores[:, 0, 1],
        scores[:, 1, 2] - np.logaddexp(scores[:, 1, 3], scores[:, 1, 4]),
        scores[:, 1, 3] - scores[:, 1, 4],
        scores[:, 2, 5] - scores[:, 2, 6],
        scores[:, 2, 7] - np.logaddexp(scores[:, 2, 5], scores[:, 2, 6]),
        scores[:, 3, 8] - scores[:, 3, 9],
    ]
    words = [one.message.casefold().replace("’", "'") for one in spoken]
    cues = [[float(bool(re.search(cue, text))) for cue in _CUES] for text in words]
    nearness = annotator.nearness([one.message for one in spoken])
    return np.concatenate([np.stack(read, axis=1), nearness * 5, np.array(cues)], axis=1)

