"""The forms a memory is exported in, and which of them a file's ending asks for."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from pgmem_local.contents import Contents
from pgmem_local.errors import StoreError
from pgmem_local.portable import jsonl


class Format(str, Enum):
    """JSON Lines can be imported again; the others are for reading, by people and by other programs."""

    JSONL = "jsonl"


_ENDINGS = {
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
}


def format_of(path: Path) -> Format:
    """By the file's ending. Raises StoreError where that says nothing."""
    try:
        return _ENDINGS[path.suffix.lower()]
    except KeyError:
        raise StoreError(
            f"the ending of {path.name} names no format; use {', '.join(_ENDINGS)}, or --format {'|'.join(one.value for one in Format)}"
        ) from None


def write(contents: Contents, wanted: Format) -> Iterator[str]:
    """A memory in one of the forms, piece by piece."""
    return jsonl.lines(contents)
