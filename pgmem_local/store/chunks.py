"""Chunks: the exchanges one Episode tells of. A session or a day of a diary, cut where it gets long (PGMem, section 4.2).

Order is event time, never time of arrival: an older file read later is learned where it belongs. What has no time comes last.
Every function works inside a transaction of its caller's.
"""

from __future__ import annotations

import sqlite3

from pgmem_local.conversation import Exchange
from pgmem_local.graph.nodes import NodeId
from pgmem_local.store.rows import clean

UNDATED = "undated"
STATED = "stated"

_OLDEST_FIRST = "ORDER BY began IS NULL, began, chunk_spans.id"


def label_of(exchange: Exchange) -> str:
    """What an exchange's chunk is called: its session, else the day it was written."""
    if exchange.said.session is not None:
        return clean(exchange.said.session)
    return exchange.said.moment.day.isoformat() if exchange.said.moment else UNDATED


def chunk_for(connection: sqlite3.Connection, exchange: Exchange, size: int) -> int:
    """The open chunk of this label that still has room, else a new one."""
    label = label_of(exchange)
    row = connection.execute(
        """SELECT id FROM chunks WHERE label = ? AND NOT closed
           AND (SELECT count(*) FROM contexts WHERE chunk = chunks.id) < ? ORDER BY id DESC LIMIT 1""",
        (label, size),
    ).fetchone()
    if row:
        return int(row["id"])
    return connection.execute("INSERT INTO chunks (label) VALUES (?)", (label,)).lastrowid or 0


def closed_chunk(connection: sqlite3.Connection) -> int:
    """A chunk for one statement of the owner, which needs no Episode."""
    return connection.execute("INSERT INTO chunks (label, closed) VALUES (?, 1)", (STATED,)).lastrowid or 0


def pending(connection: sqlite3.Connection) -> list[tuple[NodeId, int]]:
    """Contexts not learned yet with their chunks, in learning order."""
    rows = connection.execute(
        f"""SELECT contexts.node, contexts.chunk FROM contexts JOIN nodes ON nodes.id = contexts.node
            JOIN chunk_spans ON chunk_spans.id = contexts.chunk
            WHERE NOT learned {_OLDEST_FIRST}, utc IS NULL, utc, number"""
    )
    return [(row["node"], row["chunk"]) for row in rows]


def to_close(connection: sqlite3.Connection, except_label: str | None) -> list[int]:
    """Open chunks all of whose exchanges are learned, oldest first."""
    rows = connection.execute(
        f"SELECT id FROM chunk_spans WHERE NOT closed AND exchanges > 0 AND pending = 0 AND label IS NOT ? {_OLDEST_FIRST}",
        (except_label,),
    )
    return [row["id"] for row in rows]


def unconsolidated(connection: sqlite3.Connection) -> list[int]:
    """Closed chunks that no offline pass has seen, oldest first."""
    rows = connection.execute(f"SELECT id FROM chunk_spans WHERE closed AND NOT consolidated {_OLDEST_FIRST}")
    return [row["id"] for row in rows]


def contexts(connection: sqlite3.Connection, chunk: int) -> list[NodeId]:
    """A chunk's exchanges in the order they happened."""
    rows = connection.execute(
        "SELECT node FROM contexts JOIN nodes ON id = node WHERE chunk = ? ORDER BY utc IS NULL, utc, number", (chunk,)
    )
    return [row["node"] for row in rows]
