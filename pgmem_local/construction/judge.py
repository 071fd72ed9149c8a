"""JUDGE (PGMem, Algorithm 1, lines 10, 16, 23 and 28): what the later of two notes does to the earlier one, with a probability.

Departure: the paper lets the model write a label as JSON and is right on 36 % of contradictions and 52 % of shifts. Here the model only
reads: the log-odds of a few short yes/no questions about a pair, under one head of answered examples, go with the cosine, the node
kinds and a few cue words through a small fitted logistic head. Pairs that share neither meaning nor words never reach the model. A
shift is only possible within one kind and from an older to a newer event time. Doubt is irrelevant: it must never create evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgmem_local.construction.extract import YES_NO
from pgmem_local.construction.logistic import LogisticHead, shipped_head
from pgmem_local.construction.pair import Pair
from pgmem_local.construction.pieces import cut, length
from pgmem_local.graph.edges import Judgement, Relation
from pgmem_local.graph.nodes import Kind, Node
from pgmem_local.ports import ChatModel
from pgmem_local.prompts import load, one_line
from pgmem_local.words import keywords

RELATIONS = tuple(Relation)
QUESTIONS = ("confirms", "replaced")
"""Read as log-odds of Yes; one more prompt a pair asks for the relation itself, in the words below. The head's examples also answer
whether two notes are related, in tension and true together: asking that of each pair as well gained nothing on the benchmark (0.765
with and without) and 0.013 in cross-validation on our own pairs, for twice the reads."""
RELATION_WORDS = (" support", " tension", " replaced", " unrelated")
GATE_COSINE = 0.10
"""Below this cosine a pair without a word in common is irrelevant without a call. On 530 labelled pairs that loses 0.8 % of the
shifts, 5 % of the supports and 10 % of the contradictions, and spares a third of the irrelevant ones, hard as those are."""
EVIDENCE_PROBABILITY = 0.5
"""A relation less likely than this is doubt."""
PRIORS = np.array([0.25, 0.12, 0.15, 0.48])
PRIORS_APART = np.array([0.12, 0.08, 0.02, 0.78])
"""How common the relations are taken to be among pairs that pass the gate, for such as share a word or a domain and for such as share
neither: estimates, for the head was fitted on about equal parts of each. Of the 21 pairs apart that it first called shifts in the
shipped diary, we found two to be any."""
EXCERPT_WORDS = 40

_CUES = {
    "ended": r"\b(no longer|not any ?more|stopped|quit|gave up|given up|ended|cancelled|left|sold|broke up|retired|finished)\b",
    "begun": r"\b(now|has (?:become|moved|switched|started|taken up|begun|grown)|these days|from now on|instead|again|anymore|since)\b",
    "wavers": r"\b(but|although|still|thinking of|considering|tempted|wants? to|would like|might|once|misses|despite|even though)\b",
    "denies": r"\b(not|no|never|cannot|can't|n't|hates?|dislikes?|refuses?|without)\b",
    "happened": r"\b(talked about|spent|described|went|bought|visited)\b",
}


@dataclass(frozen=True)
class Verdict:
    """Probabilities of the four relations for one pair, in the order of `Relation`, and who gave them."""

    probabilities: NDArray[np.float64]
    judge: str


def judge_pairs(model: ChatModel, pairs: Sequence[Pair], decide: Callable[[ChatModel, Sequence[Pair]], list[Verdict]]) -> list[Judgement]:
    """One judgement a pair, in order. Pairs stopped at the gate are recorded as irrelevant by the judge `gate`."""
    open_places = [place for place, pair in enumerate(pairs) if not is_hopeless(pair)]
    verdicts = dict(zip(open_places, decide(model, [pairs[place] for place in open_places]), strict=True))
    return [_judgement(pair, verdicts.get(place)) for place, pair in enumerate(pairs)]


def is_hopeless(pair: Pair) -> bool:
    """The gate: neither meaning nor words give the pair a chance."""
    return pair.cosine < GATE_COSINE and not pair.earlier.keywords & pair.later.keywords


def _judgement(pair: Pair, verdict: Verdict | None) -> Judgement:
    if verdict is None:
        return Judgement(pair.earlier.id, pair.later.id, Relation.IRRELEVANT, 1.0, "gate")
    priors = PRIORS if _have_in_common(pair) else PRIORS_APART
    chances = allowed(pair, verdict.probabilities * priors / float(verdict.probabilities @ priors))
    best = int(np.argmax(chances))
    relation = RELATIONS[best] if chances[best] >= EVIDENCE_PROBABILITY else Relation.IRRELEVANT
    return Judgement(pair.earlier.id, pair.later.id, relation, float(chances[RELATIONS.index(relation)]), verdict.judge)


def _have_in_common(pair: Pair) -> bool:
    return bool((pair.earlier.keywords | pair.earlier.domains) & (pair.later.keywords | pair.later.domains))


def allowed(pair: Pair, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probabilities with shift_to taken out where it is impossible: between kinds, between events, or without an order in time."""
    possible = pair.earlier.kind is pair.later.kind and pair.earlier.kind in (Kind.STATE, Kind.TRAIT) and pair.dated
    if possible:
        return probabilities
    without = probabilities.copy()
    without[RELATIONS.index(Relation.SHIFT_TO)] = 0.0
    result: NDArray[np.float64] = without / max(float(without.sum()), 1e-9)
    return result


# ------------------------------------------------------------------ judges


def by_letters(model: ChatModel, pairs: Sequence[Pair]) -> list[Verdict]:
    """The simple judge: log-probabilities over four described choices."""
    task = load("judge_letters")
    scores = model.choose([task.ask(_slots(pair)) for pair in pairs], (" A", " B", " C", " D"))
    return [Verdict(np.exp(row - np.logaddexp.reduce(row)), "letters") for row in scores]


def by_probes(head: LogisticHead) -> Callable[[ChatModel, Sequence[Pair]], list[Verdict]]:
    """The judge that reads: probes of a pair through a fitted head."""

    def decide(model: ChatModel, pairs: Sequence[Pair]) -> list[Verdict]:
        if not pairs:
            return []
        chances = head.probabilities(features(pairs, probe(model, pairs)))
        return [Verdict(row, f"probes/{head.name}") for row in chances]

    return decide


def judge_for(model_name: str) -> Callable[[ChatModel, Sequence[Pair]], list[Verdict]]:
    """The judge fitted for a model, or, for one without, that of the model our heads were first fitted on."""
    return by_probes(shipped_head("judge", model_name))


def probe(model: ChatModel, pairs: Sequence[Pair]) -> NDArray[np.float64]:
    """What the model thinks of each pair, shape (pairs, 6): log-odds of Yes for two questions, then the four relation words,
    each against their mean."""
    task = load("judge_probes")
    prompts = [task.ask(_slots(pair), question) for pair in pairs for question in (*QUESTIONS, "relation")]
    scores = model.choose(prompts, (*YES_NO, *RELATION_WORDS)).reshape(len(pairs), len(QUESTIONS) + 1, -1)
    words = scores[:, -1, len(YES_NO) :]
    return np.concatenate([scores[:, :-1, 0] - scores[:, :-1, 1], words - words.mean(axis=1, keepdims=True)], axis=1)


def features(pairs: Sequence[Pair], odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the fitted head sees, shape (pairs, features): log-odds, cosine, kinds, polarity and cue words."""
    plain = np.array([_surface(pair) for pair in pairs], dtype=np.float64).reshape(len(pairs), -1)
    return np.concatenate([odds, plain], axis=1)


def _surface(pair: Pair) -> list[float]:
    one, other = pair.earlier, pair.later
    kinds = (one.kind, other.kind)
    shared = len(one.keywords & other.keywords) / max(1, min(len(one.keywords), len(other.keywords)))
    cues = [float(bool(re.search(cue, other.text, re.IGNORECASE))) for cue in _CUES.values()]
    denied = [float(bool(re.search(_CUES["denies"], node.text, re.IGNORECASE))) for node in (one, other)]
    return [
        pair.cosine,
        shared,
        float(kinds == (Kind.STATE, Kind.STATE)),
        float(kinds == (Kind.TRAIT, Kind.TRAIT)),
        float(Kind.EPISODE in kinds),
        abs(denied[0] - denied[1]),
        *cues,
    ]


def _slots(pair: Pair) -> dict[str, str]:
    return {"earlier": excerpt(pair.earlier, pair.later), "later": excerpt(pair.later, pair.earlier)}


def excerpt(node: Node, other: Node) -> str:
    """A note as the judge reads it; of a long Episode the stretch that shares most words with the other note."""
    text = one_line(node.text)
    if length(text) <= EXCERPT_WORDS:
        return text
    words = [part for word in text.split() for part in cut(word, 2)]
    step = EXCERPT_WORDS // 2
    windows = [" ".join(words[start : start + EXCERPT_WORDS]) for start in range(0, len(words) - step, step)]
    return max(windows, key=lambda window: len(keywords(window) & other.keywords))
