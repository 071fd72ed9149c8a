"""Nearest nodes by meaning (the cosine of equation 5), one index a node kind. Derived: any doubt about a file means a rebuild
from SQLite, never a wrong hit.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from pgmem_local.graph.nodes import Kind, NodeId, kind_of, node_id, number_of
from pgmem_local.ports import Vectors
from pgmem_local.store import index_files
from pgmem_local.store.copies import GENERATION
from pgmem_local.store.embeddings import VectorRows, VectorSpace
from pgmem_local.store.searchers import ExactSearcher, HnswSearcher, Searcher, TooFewFound
from pgmem_local.store.sqlite import MemoryStore

EXACT_BELOW = 1000
"""Up to here a matrix product answers faster than an hnswlib graph, and needs no file."""


class VectorIndexes:
    """`VectorSearch` over one store. Safe to share between threads."""

    def __init__(self, store: MemoryStore, exact_below: int = EXACT_BELOW) -> None:
        self._store = store
        self._folder = store.place.index_folder
        self._exact_below = exact_below
        self._lock = threading.RLock()
        self._changed = False
        self._revision = -1
        self._space: VectorSpace | None = None
        self._generation: str | None = None
        self._searchers: dict[Kind, Searcher] = {}
        self.refresh()

    def nearest(self, kind: Kind, query: Vectors, limit: int) -> list[tuple[NodeId, float]]:
        """At most `limit` nodes of a kind with their cosine, best first; fewer where fewer exist."""
        with self._lock:
            searcher = self._searchers.get(kind)
            if searcher is None:
                return []
            try:
                hits = searcher.nearest(query, limit)
            except TooFewFound:
                hits = _exact(self._store.vector_rows(kind)).nearest(query, limit)
        return [(node_id(kind, number), cosine) for number, cosine in hits]

    def vectors(self, identifiers: Sequence[NodeId]) -> Vectors:
        """The stored unit vectors, one row an id; raises UnknownNode for an id without one."""
        return self._store.vectors_of(identifiers)

    def add(self, identifiers: Sequence[NodeId], vectors: Vectors) -> None:
        """Take in vectors that the store has just committed."""
        with self._lock:
            self._space = self._space or self._store.vector_space()
            for kind in {kind_of(identifier) for identifier in identifiers}:
                chosen = [row for row, identifier in enumerate(identifiers) if kind_of(identifier) is kind]
                self._add(kind, [number_of(identifiers[row]) for row in chosen], vectors[chosen])

    def rebuild(self) -> None:
        """Build every index anew from the store: files and memory may still hold vectors of what was forgotten."""
        with self._lock:
            index_files.discard(self._folder)
            self._searchers, self._revision, self._changed = {}, -1, True
            self.refresh()
            self.save()

    def refresh(self) -> None:
        """Follow what this or another process wrote since; cheap where nothing was."""
        with self._lock:
            revision = self._store.revision
            if revision == self._revision:
                return
            source = (self._store.vector_space(), self._store.meta(GENERATION))
            if source != (self._space, self._generation):
                (self._space, self._generation), self._searchers = source, {}
            for kind in Kind:
                self._follow(kind)
            self._revision = revision

    def save(self) -> None:
        """Write the large indexes to disk, so that the next process need not build them; of an encrypted memory nothing."""
        with self._lock:
            if not self._changed or self._space is None or self._store.encrypted:
                return
            self.refresh()  # else what another process has forgotten would be written down again
            large: dict[Kind, tuple[HnswSearcher, VectorRows]] = {}
            for kind, searcher in self._searchers.items():
                if isinstance(searcher, HnswSearcher):
                    rows = self._store.vector_rows(kind)
                    if searcher.holds_deleted:  # its file would still hold what the user deleted
                        searcher = self._searchers[kind] = _build_hnsw(rows)
                    large[kind] = (searcher, rows)
            index_files.save(self._folder, self._space, self._revision, large)
            self._changed = False

    def _follow(self, kind: Kind) -> None:
        """Bring one kind's index to what the store holds."""
        if kind not in self._searchers:
            self._searchers[kind] = self._load(kind)
        searcher = self._searchers[kind]
        stored = {number_of(identifier) for identifier in self._store.vector_ids(kind)}
        if gone := searcher.numbers - stored:
            searcher.remove(gone)
            self._changed = True
        if missing := sorted(stored - searcher.numbers):
            self._add(kind, missing, self._store.vectors_of([node_id(kind, number) for number in missing]))

    def _load(self, kind: Kind) -> Searcher:
        """The saved index where it can be trusted, else one built from the store."""
        rows = self._store.vector_rows(kind)
        if len(rows.ids) < self._exact_below or self._space is None:
            return _exact(rows)
        saved = None if self._store.encrypted else index_files.load(self._folder, kind, self._space, rows)
        if saved is not None:
            return saved
        self._changed = True
        return _build_hnsw(rows)

    def _add(self, kind: Kind, numbers: list[int], vectors: Vectors) -> None:
        searcher = self._searchers[kind]
        searcher.add(numbers, vectors)
        self._changed = True
        if isinstance(searcher, ExactSearcher) and len(searcher.numbers) >= self._exact_below:
            self._searchers[kind] = _build_hnsw(self._store.vector_rows(kind))


def _exact(rows: VectorRows) -> ExactSearcher:
    return ExactSearcher([number_of(identifier) for identifier in rows.ids], rows.matrix)


def _build_hnsw(rows: VectorRows) -> HnswSearcher:
    return HnswSearcher.build([number_of(identifier) for identifier in rows.ids], rows.matrix)
