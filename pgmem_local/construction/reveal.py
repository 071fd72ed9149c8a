"""Does an utterance reveal a State of its writer, with which polarity and recall priority? All read, nothing written.

The paper lets the model write these as JSON for every turn; a small model then finds a State in everything. Here one head of answered
examples is evaluated once, each utterance is asked four one-word questions that share it, and what the model thinks of the answers goes,
with the utterance's nearness to the domain labels, a few cues in its wording and whose its clauses are, through three small fitted heads.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pgmem_local.construction.annotate import Annotator
from pgmem_local.construction.logistic import shipped_head
from pgmem_local.graph.nodes import Polarity, RecallPriority
from pgmem_local.ports import ChatModel
from pgmem_local.prompts import load
from pgmem_local.subject import clauses

QUESTIONS = ("reveals", "about", "polarity", "priority")
OPTIONS = (" Yes", " No", " writer", " other", " nobody", " positive", " negative", " neutral", " high", " low")
REVEALS = 0.4
"""Probability from which an utterance is taken to reveal a State: on the benchmark's 120 messages F1 is 0.88
to 0.90 from 0.35 to 0.45 (five-fold on the 429 it is fitted on: 0.87), and what is missed here is missed for good."""

_CUES = (
    r"\b(i|i'm|i've|i'd|i'll|we|we're|we've|we'd|ich|wir|je|j'\w+|nous|yo|nosotr[oa]s|я|мы|أنا|نحن)\b|[我私]",
    r"\b(me|my|mine|myself|us|our|ours|mein\w*|mir|mich|uns\w*|mon|ma|mes|moi|mi|mis|мне|мой|моя)\b",
    r"\b(?:my|our|mein\w*|unser\w*|mon|ma|mes|mi|mis)\s+(?:\w+\s+)?(?:sister|brother|dad|father|mum|mom|mother|parents|uncle|aunt|friend|"
    r"neighbou?r|boss|colleague|flatmate|roommate|son|daughter|husband|wife|partner|cousin|niece|nephew|grand\w+|schwester|bruder|mutter|"
    r"vater|tante|onkel|freund\w*|nachbar\w*|hermana?o?|madre|padre|amig[oa]|vecin[oa]|sœur|frère|mère|père|ami|amie|voisine?)\b",
    r"\b(?:ignore (?:what|the|all|your|every)|save (?:this|that)|(?:remember|note|store) that (?:the )?user|"
    r"the user (?:is|loves|prefers))\b",
    r"\b(?:stay in character|in character as|act as|pretend|role-?play|you are an? |my character|in chapter)\b|\*\w+\*",
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
    """What the model and the fitted heads make of one utterance. scores: what was read of it, shape (questions, options)."""

    reveals: float
    polarity: Polarity
    priority: RecallPriority
    scores: NDArray[np.float64] | None = field(default=None, compare=False, repr=False)


def glance(model: ChatModel, annotator: Annotator, spoken: Sequence[Spoken]) -> list[Glance]:
    """One glance an utterance."""
    if not spoken:
        return []
    scores = probe(model, spoken)
    seen = features(spoken, scores, annotator)
    reveals = shipped_head("reveals", model.identity).probabilities(seen)[:, 0]
    labels = _labels(model.identity, seen)
    return [Glance(float(yes), *label, row) for yes, label, row in zip(reveals, labels, scores, strict=True)]


def label_notes(
    model: ChatModel, annotator: Annotator, notes: Sequence[str], seen: Sequence[Glance]
) -> list[tuple[Polarity, RecallPriority]]:
    """Polarity and priority of each note: what was read of its utterance, with the nearness and the cues of the note's own words, since
    one utterance may hold a loss and a joy."""
    if not notes or any(one.scores is None for one in seen):
        return [(one.polarity, one.priority) for one in seen]
    spoken = [Spoken("", re.sub(r"^User\b", "I", note)) for note in notes]
    return _labels(model.identity, features(spoken, np.stack([one.scores for one in seen if one.scores is not None]), annotator))


def _labels(model: str, seen: NDArray[np.float64]) -> list[tuple[Polarity, RecallPriority]]:
    polarity, priority = (shipped_head(part, model).probabilities(seen) for part in ("polarity", "priority"))
    return [
        (list(Polarity)[int(np.argmax(poles))], list(RecallPriority)[int(np.argmax(ranks))])
        for poles, ranks in zip(polarity, priority, strict=True)
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
    owned = [_owned(one.message) for one in spoken]
    nearness = annotator.nearness([one.message for one in spoken])
    return np.concatenate([np.stack(read, axis=1), nearness * 5, np.array(cues), np.array(owned)], axis=1)


def _owned(message: str) -> tuple[float, float]:
    """The share of clauses that may tell of the writer, and the length in utterances of an ordinary size."""
    own = [is_own for _, is_own in clauses(message)]
    return sum(own) / max(1, len(own)), min(3.0, len(message.split()) / 20)

