"""How sure a metric is: 95 % intervals by resampling the items it was computed from, seeded; paired where two systems are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Metrics = Mapping[str, "float | int | Metrics | None"]
"""Names -> numbers, or further names: recall -> support -> 0.71. None where there was nothing to measure."""
DRAWS = 1000

Item = TypeVar("Item")


@dataclass(frozen=True)
class Interval:
    """The middle 95 % of a metric over resampled items."""

    low: float
    high: float


@dataclass(frozen=True)
class Difference:
    """What one system gains over another on the same items."""

    difference: float
    interval: Interval

    @property
    def certain(self) -> bool:
        """Whether the interval leaves out zero."""
        return not self.interval.low <= 0 <= self.interval.high


def flat(metrics: Metrics, prefix: str = "") -> dict[str, float]:
    """recall -> support -> 0.71 as `recall.support`: 0.71; what was not measured is NaN."""
    found: dict[str, float] = {}
    for name, value in metrics.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = float("nan") if value is None else float(value)
    return found


def intervals(items: Sequence[Item], measure: Callable[[Sequence[Item]], Metrics], seed: int, draws: int = DRAWS) -> dict[str, Interval]:
    """The interval of every metric that `measure` computes from items."""
    names = list(flat(measure(items)))
    return _middle(names, [flat(measure(sample)) for (sample,) in _samples([items], seed, draws)])


def differences(
    ours: Sequence[Item], theirs: Sequence[Item], measure: Callable[[Sequence[Item]], Metrics], seed: int, draws: int = DRAWS
) -> dict[str, Difference]:
    """Ours minus theirs for every metric; both hold results on the same items in the same order, which are drawn together."""
    gains = [_minus(flat(measure(ours)), flat(measure(theirs)))]
    gains += [_minus(flat(measure(one)), flat(measure(other))) for one, other in _samples([ours, theirs], seed, draws)]
    spread = _middle(list(gains[0]), gains[1:])
    return {name: Difference(gains[0][name], spread[name]) for name in spread if not np.isnan(gains[0][name])}


def _samples(groups: Sequence[Sequence[Item]], seed: int, draws: int) -> list[list[list[Item]]]:
    """Draws with replacement, the same places of every group."""
    generator = np.random.default_rng(seed)
    places = generator.integers(0, len(groups[0]), (draws, len(groups[0]))) if groups[0] else np.empty((0, 0), dtype=np.int64)
    return [[[group[place] for place in row] for group in groups] for row in places]


def _middle(names: Sequence[str], drawn: Sequence[Mapping[str, float]]) -> dict[str, Interval]:
    found = {}
    for name in names:
        values = _measured([one.get(name, float("nan")) for one in drawn])
        if len(values):
            found[name] = Interval(*(float(edge) for edge in np.percentile(values, (2.5, 97.5))))
    return found


def _measured(values: Sequence[float]) -> NDArray[np.float64]:
    every = np.array(values, dtype=np.float64)
    return every[~np.isnan(every)]


def _minus(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    return {name: one[name] - other[name] for name in one if name in other}


def mean(values: Sequence[float | bool]) -> float | None:
    """The mean, or None of nothing."""
    return float(np.mean(values)) if values else None
