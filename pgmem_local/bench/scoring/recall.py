"""Was the gold evidence among what a memory showed, and where did the chain break?"""

from __future__ import annotations

from collections.abc import Collection, Sequence


def evidence_recall(steps: Sequence[Collection[str]], shown: Collection[str]) -> float | None:
    """The share of steps of which any entry was shown; None for a question without evidence."""
    found = [any(entry in shown for entry in step) for step in steps]
    return sum(found) / len(found) if found else None


def broken_hop(steps: Sequence[Collection[str]], shown: Collection[str]) -> int | None:
    """The first step, from 1, of which nothing was shown; 0 for a whole chain, None without evidence."""
    if not steps:
        return None
    return next((place for place, step in enumerate(steps, 1) if not any(entry in shown for entry in step)), 0)
