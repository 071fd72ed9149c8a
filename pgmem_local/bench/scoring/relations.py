"""Accuracy, recall a label, macro-F1 and calibration of a judge of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgmem_local.bench.scoring.intervals import Metrics, mean
from pgmem_local.graph.edges import Relation

BINS = 10


@dataclass(frozen=True)
class Judged:
    """One labelled pair and what a judge said: its label, None where it gave none, with the probability it put on it.

    gated: the pair would have been stopped at the gate, before the judge.
    """

    id: str
    label: str
    said: str | None
    probability: float
    hard: bool = False
    gated: bool = False

    @property
    def right(self) -> bool:
        return self.said == self.label


def measure_relations(judged: Sequence[Judged]) -> Metrics:
    labels = [relation.value for relation in Relation]
    f1 = [score for label in labels if (score := label_f1(judged, label)) is not None]
    return {
        "accuracy": mean([one.right for one in judged]),
        "recall": {label: mean([one.right for one in judged if one.label == label]) for label in labels},
        "macro_f1": mean(f1),
        "calibration_error": calibration_error(judged),
        "accuracy_hard": mean([one.right for one in judged if one.hard]),
        "accuracy_easy": mean([one.right for one in judged if not one.hard]),
        "lost_at_gate": mean([one.gated for one in judged if one.label != Relation.IRRELEVANT.value]),
    }


def label_f1(judged: Sequence[Judged], label: str) -> float | None:
    """2PR / (P + R), 0 where both are 0; None for a label that neither gold nor judge uses."""
    gold = sum(one.label == label for one in judged)
    said = sum(one.said == label for one in judged)
    hits = sum(one.right and one.label == label for one in judged)
    return 2 * hits / (gold + said) if gold + said else None


def calibration_error(judged: Sequence[Judged], bins: int = BINS) -> float | None:
    """[ECE] Mean distance between stated probability and share of right answers, in bins of equal width, weighted by their size."""
    if not judged:
        return None
    binned: dict[int, list[Judged]] = {}
    for one in judged:
        binned.setdefault(min(int(one.probability * bins), bins - 1), []).append(one)
    gaps = [abs(sum(one.probability for one in group) - sum(one.right for one in group)) for group in binned.values()]
    return sum(gaps) / len(judged)
