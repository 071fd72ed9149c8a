"""How long a text is and how it is cut, also where it has few spaces: a pasted link or a day in Chinese is not one word.

Not a step of the paper. What is measured here keeps every prompt of construction within the context window.
"""

from __future__ import annotations

BYTES_A_WORD = 12
"""More than a word takes in spaced scripts, so that for these the words decide."""


def length(text: str) -> int:
    """Words of a text, or what its bytes would make in words where that is more."""
    return max(len(text.split()), len(text.encode("utf-8", "replace")) // BYTES_A_WORD)


def cut(text: str, most: int) -> list[str]:
    """A text in pieces of at most this length, halved at a space where there is one."""
    if length(text) <= most or len(text) < 2:
        return [text]
    return [piece for half in halves(text) for piece in cut(half, most)]


def halves(text: str) -> tuple[str, str]:
    """A text of two characters or more in two, between words where it has several."""
    middle = len(text) // 2
    at = text.find(" ", middle)
    at = at if 0 < at < len(text) - 1 else middle
    return text[:at].strip(), text[at:].strip()
