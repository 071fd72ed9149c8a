"""Turns, lessons and vectors in a line or two."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path

import numpy as np

from pgmem_local.conversation import Exchange, Moment, Turn
from pgmem_local.erasure import Erasure
from pgmem_local.graph.edges import Judgement, Relation, SourceEdge
from pgmem_local.graph.nodes import Kind, NodeId, State
from pgmem_local.lesson import Lesson
from pgmem_local.ports import Spent, Vectors
from pgmem_local.store import Arrival, MemoryStore

IDENTITY, DIMENSION = "hash-8", 8
NOON = datetime(2024, 5, 1, 12, tzinfo=timezone.utc)


def open_store(home: Path, **options: object) -> MemoryStore:
    store = MemoryStore.open(home, **options)  # type: ignore[arg-type]
    store.expect_vectors(IDENTITY, DIMENSION)
    return store


def vector(text: str, dimension: int = DIMENSION) -> Vectors:
    """A unit vector that depends on the text alone."""
    seed = int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big")
    numbers = np.random.default_rng(seed).standard_normal(dimension)
    return (numbers / np.linalg.norm(numbers)).astype(np.float32)


def at(hours: float) -> Moment:
    return Moment(NOON + timedelta(hours=hours))


def arrival(text: str, moment: Moment | None = None, session: str | None = None, reply: str | None = None) -> Arrival:
    words = frozenset(text.lower().split())
    return Arrival(Exchange(Turn(text, moment, session=session), reply), words, frozenset({"daily"}), vector(text))


def state_lesson(store: MemoryStore, text: str, source: NodeId, closes: int | None = None, states: int = 1) -> Lesson:
    """What a turn taught: States made from it, each supporting the next."""
    ids = [store.next_id(Kind.STATE) for _ in range(states)]
    return Lesson(
        nodes=tuple(State(identifier, text, at(0), frozenset(text.split()), frozenset()) for identifier in ids),
        vectors={identifier: vector(text) for identifier in ids},
        sources=tuple(SourceEdge(source, identifier) for identifier in ids),
        judgements=tuple(Judgement(one, other, Relation.SUPPORT, 0.9, "test") for one, other in pairwise(ids)),
        learned=(source,),
        closes=closes,
        spent={"extract": Spent(1, 0, 100, 50, 7, 0.5)},
    )


def delete(store: MemoryStore, identifiers: Iterable[NodeId]) -> None:
    """Nodes go as a forgetting takes them, but without its plan: only they, and what hangs on them."""
    store.erase(Erasure(removed=tuple(identifiers)))
