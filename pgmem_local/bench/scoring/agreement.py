"""How far two raters say the same of the same items: the share, and Cohen's kappa, which takes off what chance would give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Agreement:
    """kappa: 1 for full agreement, 0 for that of chance; None where both always say the same one thing."""

    share: float
    kappa: float | None


def agreement(gold: Sequence[bool], said: Sequence[bool]) -> Agreement:
    count = len(gold)
    share = sum(one == other for one, other in zip(gold, said, strict=True)) / count
    yes, theirs = sum(gold) / count, sum(said) / count
    by_chance = yes * theirs + (1 - yes) * (1 - theirs)
    return Agreement(share, (share - by_chance) / (1 - by_chance) if by_chance < 1 else None)
