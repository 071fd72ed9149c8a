"""Text from outside: `clean` before it is stored, `printable` before it reaches a terminal. Neither changes what was said."""

from __future__ import annotations

import re

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_END = re.compile("\r\n?")
_TERMINAL_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # colours, cursor moves
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # titles, links, clipboard
    r"|\x1b[ -/]*[0-~]?"  # everything else that begins with escape
)
_INVISIBLE_COMMAND = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and line feed
    "\u202a-\u202e\u2066-\u2069]"  # bidirectional embeddings, overrides and isolates; the harmless marks stay
)


def clean(text: str) -> str:
    """Text that can be encoded and stored: no NUL, half an emoji becomes U+FFFD, all else as typed (no normalisation)."""
    return _LONE_SURROGATE.sub("\ufffd", text.replace("\x00", ""))


def printable(text: str) -> str:
    """The same words without anything that commands a terminal or reorders what is shown; for display only."""
    text = _LINE_END.sub("\n", clean(text))
    return _INVISIBLE_COMMAND.sub("", _TERMINAL_SEQUENCE.sub("", text))
