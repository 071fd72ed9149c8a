"""Agreement of two raters, by hand-worked examples."""

from __future__ import annotations

from math import isclose

from pgmem_local.bench.scoring.agreement import Agreement, agreement


def test_kappa_takes_off_what_chance_would_give() -> None:
    found = agreement([True, True, True, False], [True, True, False, False])
    assert found.share == 0.75
    # chance: 3/4 * 1/2 + 1/4 * 1/2 = 1/2, so (3/4 - 1/2) / (1 - 1/2)
    assert found.kappa is not None
    assert isclose(found.kappa, 0.5)


def test_always_the_commoner_label_agrees_often_and_knows_nothing() -> None:
    assert agreement([True, True, True, False], [True] * 4) == Agreement(0.75, 0.0)


def test_full_and_no_agreement() -> None:
    assert agreement([True, False], [True, False]) == Agreement(1.0, 1.0)
    assert agreement([True, False], [False, True]) == Agreement(0.0, -1.0)


def test_kappa_says_nothing_where_both_always_say_the_same() -> None:
    assert agreement([True, True], [True, True]) == Agreement(1.0, None)
