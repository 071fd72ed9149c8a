"""Vectors as rows: the truth that the indexes are derived from. One memory holds the vectors of one embedder only.

Every function works inside a transaction of its caller's.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from pgmem_local.errors import StoreError, UnknownNode
from pgmem_local.graph.nodes import Kind, NodeId
from pgmem_local.ports import Vectors

_STORED = np.dtype("<f4")


@dataclass(frozen=True)
class VectorSpace:
    """Whose vectors they are: only those of one embedder can be compared."""

    identity: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.identity} ({self.dimension} numbers)"


@dataclass(frozen=True)
class VectorRows:
    """The vectors of one kind, row by row, in the order of the nodes' numbers."""

    ids: tuple[NodeId, ...]
    matrix: Vectors


def stored_space(connection: sqlite3.Connection) -> VectorSpace | None:
    """The embedder all stored vectors come from; None where there are none."""
    row = connection.execute("SELECT identity, dimension FROM vectors LIMIT 1").fetchone()
    return VectorSpace(row["identity"], row["dimension"]) if row else None


def check_space(connection: sqlite3.Connection, space: VectorSpace) -> None:
    """Raises StoreError where the stored vectors are another embedder's."""
    stored = stored_space(connection)
    if stored not in (None, space):
        raise StoreError(f"the memory was embedded by {stored}, not by {space}: embed it anew, or go back to that embedder")


def insert_vectors(connection: sqlite3.Connection, space: VectorSpace | None, vectors: Mapping[NodeId, Vectors]) -> None:
    """Vectors of new nodes. Raises StoreError on one that is not a point of the space."""
    if not vectors:
        return
    if space is None:
        raise StoreError("the store does not know whose vectors these are; call `expect_vectors` first")
    check_space(connection, space)
    connection.executemany(
        "INSERT INTO vectors VALUES (?, ?, ?, ?)",
        ((identifier, space.identity, space.dimension, _blob(vector, space)) for identifier, vector in vectors.items()),
    )


def read_ids(connection: sqlite3.Connection, kind: Kind) -> list[NodeId]:
    """Nodes of a kind that have a vector, in the order of their numbers."""
    rows = connection.execute("SELECT node FROM vectors JOIN nodes ON id = node WHERE kind = ? ORDER BY number", (kind.value,))
    return [row["node"] for row in rows]


def read_all(connection: sqlite3.Connection, kind: Kind) -> VectorRows:
    rows = connection.execute(
        "SELECT node, vector FROM vectors JOIN nodes ON id = node WHERE kind = ? ORDER BY number", (kind.value,)
    ).fetchall()
    return VectorRows(tuple(row["node"] for row in rows), _matrix(connection, [row["vector"] for row in rows]))


def read_some(connection: sqlite3.Connection, identifiers: Iterable[NodeId]) -> Vectors:
    """One row an id. Raises UnknownNode for an id without a vector."""
    blobs = []
    for identifier in identifiers:
        row = connection.execute("SELECT vector FROM vectors WHERE node = ?", (identifier,)).fetchone()
        if row is None:
            raise UnknownNode(f"the memory holds no vector of {identifier!r}; `pgmem me` and `pgmem recall` show ids")
        blobs.append(row["vector"])
    return _matrix(connection, blobs)


def _matrix(connection: sqlite3.Connection, blobs: list[bytes]) -> Vectors:
    space = stored_space(connection)
    dimension = space.dimension if space else 0
    return np.frombuffer(b"".join(blobs), dtype=_STORED).astype(np.float32).reshape(len(blobs), dimension)


def _blob(vector: Vectors, space: VectorSpace) -> bytes:
    if vector.shape != (space.dimension,) or not np.isfinite(vector).all():
        raise StoreError(f"a vector of shape {vector.shape} is none of {space}; check the embedder with `pgmem models verify`")
    return vector.astype(_STORED).tobytes()
