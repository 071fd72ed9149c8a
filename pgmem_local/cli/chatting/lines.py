"""Where messages come from, line by line; a message may be made of several."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

BEGIN_BLOCK, END_BLOCK = "!multi", "!end"

Read = Callable[[bool], "str | None"]
"""The next line, which may go on one begun before; None at the end."""


def messages(read: Read) -> Iterator[str]:
    """Each line is a message; those between !multi and !end are one."""
    while (line := read(False)) is not None:
        yield "\n".join(_block(read)) if line.strip() == BEGIN_BLOCK else line


def _block(read: Read) -> Iterator[str]:
    while (line := read(True)) is not None and line.strip() != END_BLOCK:
        yield line


def read_pipe(goes_on: bool) -> str | None:
    line = sys.stdin.readline()
    return line.rstrip("\r\n") if line else None
