"""Two ways to the nearest vectors of one kind: exact, which is faster while there are few, and hnswlib, once there are many.

Both know nodes by the number in their ids and answer with cosines of unit vectors, best first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

import hnswlib
import numpy as np

from pgmem_local.ports import Vectors

_NEIGHBOURS = 16
_BREADTH = 200
"""hnswlib's M and ef: candidates it keeps in view while building; searching keeps three times as many."""


class TooFewFound(Exception):
    """The approximate graph did not reach as many items as exist; an exact search will."""


class Searcher(Protocol):
    """Vectors of one kind by number."""

    @property
    def numbers(self) -> set[int]: ...

    def add(self, numbers: Sequence[int], vectors: Vectors) -> None:
        """Take in vectors; a number that is held already gets its new vector."""
        ...

    def remove(self, numbers: Iterable[int]) -> None:
        """Forget vectors; a number that is not held is no error."""
        ...

    def nearest(self, query: Vectors, limit: int) -> list[tuple[int, float]]: ...


class ExactSearcher:
    """A matrix, multiplied with the query."""

    def __init__(self, numbers: Sequence[int], vectors: Vectors) -> None:
        self._rows = dict(zip(numbers, vectors, strict=True))
        self._matrix: Vectors | None = None

    @property
    def numbers(self) -> set[int]:
        return set(self._rows)

    def add(self, numbers: Sequence[int], vectors: Vectors) -> None:
        self._rows.update(zip(numbers, vectors, strict=True))
        self._matrix = None

    def remove(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self._rows.pop(number, None)
        self._matrix = None

    def nearest(self, query: Vectors, limit: int) -> list[tuple[int, float]]:
        if not self._rows:
            return []
        if self._matrix is None:
            self._matrix = np.stack(list(self._rows.values()))
        numbers, cosines = list(self._rows), self._matrix @ query
        best = np.argsort(-cosines, kind="stable")[: max(limit, 0)]
        return [(numbers[row], float(cosines[row])) for row in best]


class HnswSearcher:
    """An hnswlib graph. What is live is kept here: hnswlib's own lists and counts include what was deleted."""

    def __init__(self, dimension: int) -> None:
        self._index = hnswlib.Index(space="ip", dim=dimension)
        self._live: set[int] = set()
        self.holds_deleted = False

    @classmethod
    def build(cls, numbers: Sequence[int], vectors: Vectors) -> HnswSearcher:
        searcher = cls(vectors.shape[1])
        searcher._index.init_index(max_elements=max(len(numbers), 1), M=_NEIGHBOURS, ef_construction=_BREADTH)
        searcher.add(numbers, vectors)
        return searcher

    @classmethod
    def load(cls, path: Path, dimension: int) -> HnswSearcher:
        """Read a file whose hash was checked: hnswlib may end the process on a damaged one. Only files without deleted items."""
        searcher = cls(dimension)
        searcher._index.load_index(str(path))
        searcher._live = {int(label) for label in searcher._index.get_ids_list()}
        return searcher

    def save(self, path: Path) -> None:
        self._index.save_index(str(path))

    @property
    def numbers(self) -> set[int]:
        return set(self._live)

    def add(self, numbers: Sequence[int], vectors: Vectors) -> None:
        if not numbers:
            return
        room, needed = self._index.get_max_elements(), self._index.get_current_count() + len(numbers)
        if needed > room:
            self._index.resize_index(max(needed, 2 * room))
        self._index.add_items(vectors, np.asarray(numbers, dtype=np.uint64))
        self._live.update(numbers)

    def remove(self, numbers: Iterable[int]) -> None:
        for number in self._live.intersection(numbers):
            self._index.mark_deleted(number)
            self._live.discard(number)
            self.holds_deleted = True

    def nearest(self, query: Vectors, limit: int) -> list[tuple[int, float]]:
        wanted = min(limit, len(self._live))
        if wanted <= 0:
            return []
        self._index.set_ef(max(3 * _BREADTH, 3 * wanted))
        try:
            labels, distances = self._index.knn_query(query[np.newaxis], k=wanted)
        except RuntimeError as error:
            raise TooFewFound(str(error)) from error
        return [(int(label), 1.0 - float(distance)) for label, distance in zip(labels[0], distances[0], strict=True)]
