"""The judge's figures, worked by hand."""

from __future__ import annotations

from math import isclose

from pgmem_local.bench.scoring.relations import Judged, calibration_error, label_f1, measure_relations


def judged(label: str, said: str | None, probability: float = 1.0, hard: bool = False, gated: bool = False) -> Judged:
    return Judged("x", label, said, probability, hard, gated)


FIVE = [
    judged("support", "support"),
    judged("support", "irrelevant", hard=True),
    judged("contradict", "support", hard=True),
    judged("irrelevant", "irrelevant"),
    judged("irrelevant", None),
]


def test_figures_of_five_pairs() -> None:
    found = measure_relations(FIVE)
    assert found["accuracy"] == 2 / 5
    assert found["recall"] == {"support": 0.5, "contradict": 0.0, "shift_to": None, "irrelevant": 0.5}
    assert found["accuracy_hard"] == 0.0
    assert found["accuracy_easy"] == 2 / 3


def test_f1_of_a_label() -> None:
    assert label_f1(FIVE, "support") == 0.5  # precision 1/2, recall 1/2
    assert label_f1(FIVE, "contradict") == 0.0
    assert label_f1(FIVE, "shift_to") is None


def test_macro_f1_is_the_mean_over_labels_in_use() -> None:
    macro = measure_relations(FIVE)["macro_f1"]
    assert isinstance(macro, float)
    assert isclose(macro, (0.5 + 0.0 + 0.5) / 3)


def test_calibration_error_of_two_bins() -> None:
    # bin 0.9: stated 0.9 and 0.9, half right: gap 0.4; bin 0.5: stated 0.5, right: gap 0.5
    pairs = [judged("support", "support", 0.9), judged("support", "irrelevant", 0.9), judged("support", "support", 0.5)]
    error = calibration_error(pairs)
    assert error is not None
    assert isclose(error, (2 * 0.4 + 1 * 0.5) / 3)


def test_sure_and_right_is_perfectly_calibrated() -> None:
    assert calibration_error([judged("support", "support", 1.0)]) == 0.0


def test_evidence_lost_at_the_gate_is_counted() -> None:
    pairs = [judged("support", "support", gated=True), judged("shift_to", "shift_to"), judged("irrelevant", "irrelevant", gated=True)]
    assert measure_relations(pairs)["lost_at_gate"] == 0.5
