"""Where one sentence ends and the next begins, in whatever is read, quoted, noted or forgotten."""

from __future__ import annotations

import re

SENTENCE_END = re.compile(
    r"(?<=[.!?…])(?<!\bMr\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bSt\.)(?<!\bMrs\.)\s+"
    r"|(?<=[.!?…][\"'”’)\]])\s+|(?<=[.!?…][\"'”’)\]]{2})\s+|(?<=[。！？])|\n+"
)
"""Closing quotes and brackets stay with their sentence. Scripts without spaces end theirs without one."""


def sentences(text: str) -> list[str]:
    """The sentences of a text, each on one line; what holds no letter and no digit is none."""
    parts = (" ".join(part.split()) for part in SENTENCE_END.split(text))
    return [part for part in parts if any(map(str.isalnum, part))]
