"""The forms a memory is exported in, and which of them a file's ending asks for."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from pgmem_local.errors import StoreError
from pgmem_local.portable.view import View

if sys.version_info >= (3, 11):
    from typing import assert_never
else:
    from typing_extensions import assert_never


class Format(str, Enum):
    """JSON Lines can be imported again; the others are for reading, by people and by other programs."""

    JSONL = "jsonl"
    MARKDOWN = "markdown"
    GRAPHML = "graphml"
    HTML = "html"


_ENDINGS = {
    ".jsonl": Format.JSONL,
    ".ndjson": Format.JSONL,
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
    ".graphml": Format.GRAPHML,
    ".html": Format.HTML,
    ".htm": Format.HTML,
}


def format_of(path: Path) -> Format:
    """By the file's ending. Raises StoreError where that says nothing."""
    try:
        return _ENDINGS[path.suffix.lower()]
    except KeyError:
        raise StoreError(
            f"the ending of {path.name} names no format; use {', '.join(_ENDINGS)}, or --format {'|'.join(one.value for one in Format)}"
        ) from None


def write(view: View, wanted: Format) -> Iterator[str]:
    """A memory in one of the forms, piece by piece."""
    from pgmem_local.portable import dossier, graphml, jsonl, page  # which bring in much that nothing else needs

    if wanted is Format.JSONL:
        return jsonl.lines(view.contents)
    if wanted is Format.MARKDOWN:
        return dossier.lines(view)
    if wanted is Format.GRAPHML:
        return graphml.lines(view)
    if wanted is Format.HTML:
        return page.pieces(view)
    assert_never(wanted)
