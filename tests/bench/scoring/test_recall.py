"""Gold evidence among what was shown."""

from __future__ import annotations

import pytest

from pgmem_local.bench.scoring.recall import broken_hop, evidence_recall

STEPS = [{"s1:0"}, {"s2:0", "s4:2"}, {"s5:4"}]


@pytest.mark.parametrize(
    ("shown", "recall", "broke"),
    [
        ({"s1:0", "s4:2", "s5:4"}, 1.0, 0),
        ({"s1:0", "s5:4"}, 2 / 3, 2),
        ({"s2:0"}, 1 / 3, 1),
        (set(), 0.0, 1),
    ],
)
def test_any_entry_of_a_step_will_do(shown: set[str], recall: float, broke: int) -> None:
    assert evidence_recall(STEPS, shown) == recall
    assert broken_hop(STEPS, shown) == broke


def test_question_without_evidence_is_not_measured() -> None:
    assert evidence_recall([], {"s1:0"}) is None
    assert broken_hop([], {"s1:0"}) is None
