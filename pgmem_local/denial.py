"""Does a note deny what its other words affirm? Told from its words, in English (not in the paper)."""

from __future__ import annotations

import re

DENIAL = re.compile(
    r"\b(?:not|never|nothing|nobody|cannot|without|stopped|quit|no longer|gave up|given up|hates?|dislikes?)\b|n['’]t\b", re.IGNORECASE
)


def denies(text: str) -> bool:
    """Whether a text holds a word of denial."""
    return DENIAL.search(text) is not None
