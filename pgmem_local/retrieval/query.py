"""The query q as retrieval sees it: its words, its vector and its keyword set K(q) (PGMem, section 4.3.1)."""

from __future__ import annotations

from dataclasses import dataclass, field

from pgmem_local.ports import Embedder, Vectors
from pgmem_local.words import keywords


@dataclass(frozen=True)
class Query:
    """A question. `vector` has unit length and shape (dimension,)."""

    text: str
    vector: Vectors = field(compare=False, repr=False)
    keywords: frozenset[str]


def ask_query(text: str, embedder: Embedder) -> Query:
    """Embed a question and take its keywords; no model is asked."""
    return Query(text, embedder.embed([text])[0], keywords(text))
