"""Bootstrap intervals: seeded, paired, and honest about what was not measured."""

from __future__ import annotations

from collections.abc import Sequence

from pgmem_local.bench.scoring.intervals import Metrics, differences, flat, intervals, mean


def average(items: Sequence[float]) -> Metrics:
    return {"mean": mean(items), "parts": {"none": mean([])}}


def test_names_are_joined_and_nothing_is_nan() -> None:
    found = flat({"a": 1, "b": {"c": 0.5, "d": None}})
    assert (found["a"], found["b.c"]) == (1.0, 0.5)
    assert found["b.d"] != found["b.d"]


def test_interval_of_equal_items_has_no_width() -> None:
    found = intervals([0.7] * 20, average, seed=1)
    assert (round(found["mean"].low, 9), round(found["mean"].high, 9)) == (0.7, 0.7)


def test_what_was_not_measured_has_no_interval() -> None:
    assert list(intervals([1.0], average, seed=1)) == ["mean"]


def test_interval_of_a_coin_is_that_of_the_binomial() -> None:
    found = intervals([0.0, 1.0] * 50, average, seed=1)["mean"]
    assert abs(found.low - 0.40) < 0.02  # 0.5 ± 1.96 · 0.05
    assert abs(found.high - 0.60) < 0.02


def test_same_seed_gives_the_same_interval() -> None:
    items = [0.0, 1.0, 1.0, 0.2]
    assert intervals(items, average, seed=3) == intervals(items, average, seed=3)
    assert intervals(items, average, seed=3) != intervals(items, average, seed=4)


def test_constant_gain_is_certain_however_the_items_vary() -> None:
    theirs = [0.0, 0.9, 0.1, 0.5]
    gain = differences([value + 0.1 for value in theirs], theirs, average, seed=1)["mean"]
    assert round(gain.difference, 9) == 0.1
    assert (round(gain.interval.low, 9), round(gain.interval.high, 9)) == (0.1, 0.1)
    assert gain.certain


def test_gain_that_may_be_chance_is_not_certain() -> None:
    assert not differences([1.0, 0.0, 1.0], [0.0, 1.0, 0.0], average, seed=1)["mean"].certain


def test_nothing_has_no_intervals() -> None:
    assert intervals([], average, seed=1) == {}
