"""The query q as retrieval sees it: its words, its vector and its keyword set K(q) (PGMem, section 4.3.1).

Ours: whether it asks about the past, and about which time, told from its words.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pgmem_local.conversation import Moment
from pgmem_local.ports import Embedder, Vectors
from pgmem_local.retrieval.past import Period, asks_about_now, asks_about_past, period_asked_about
from pgmem_local.words import keywords


@dataclass(frozen=True)
class Query:
    """A question. `vector` has unit length and shape (dimension,). past, now: whether it asks for what was, or for what is; many a
    question, such as why, asks for neither alone."""

    text: str
    vector: Vectors = field(compare=False, repr=False)
    keywords: frozenset[str]
    past: bool = False
    period: Period | None = None
    now: bool = False


def ask_query(text: str, embedder: Embedder, newest: Moment | None = None) -> Query:
    """Embed a question and take its keywords; no model is asked. newest: the memory's newest moment, as far as the past reaches."""
    period = period_asked_about(text, newest)
    past = asks_about_past(text, newest)
    return Query(text, embedder.embed([text])[0], keywords(text), past, period, asks_about_now(text, past))
