"""The owner's acts and pins as rows, and the files each Context was read from. Inside a transaction of the caller's."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import datetime

from pgmem_local.conversation import Moment
from pgmem_local.graph.acts import Act, Deed
from pgmem_local.graph.nodes import NodeId
from pgmem_local.store.rows import clean


def record(connection: sqlite3.Connection, act: Act) -> None:
    """Note an act; pinning and unpinning take effect with it."""
    insert(connection, act)
    if act.node is not None and act.deed in (Deed.PIN, Deed.UNPIN):
        set_pin(connection, act.node, pinned=act.deed is Deed.PIN)


def insert(connection: sqlite3.Connection, act: Act) -> None:
    """Note an act whose effect is there already."""
    moment = act.moment
    connection.execute(
        "INSERT INTO acts (deed, node, context, target, utc, offset_minutes) VALUES (?, ?, ?, ?, ?, ?)",
        (
            act.deed.value,
            act.node,
            act.context,
            act.target,
            moment.utc.isoformat(timespec="microseconds"),
            moment.offset_minutes,
        ),
    )


def take_back_last(connection: sqlite3.Connection, act: Act) -> None:
    """Strike the last act, which must be this pinning or unpinning, and its effect."""
    connection.execute("DELETE FROM acts WHERE id = (SELECT max(id) FROM acts)")
    if act.node is not None:
        set_pin(connection, act.node, pinned=act.deed is Deed.UNPIN)


def set_pin(connection: sqlite3.Connection, identifier: NodeId, pinned: bool) -> None:
    if pinned:
        connection.execute("INSERT INTO pins VALUES (?) ON CONFLICT DO NOTHING", (identifier,))
    else:
        connection.execute("DELETE FROM pins WHERE node = ?", (identifier,))


def read_acts(connection: sqlite3.Connection) -> list[Act]:
    """All acts, oldest first."""
    return [_act(row) for row in connection.execute("SELECT * FROM acts ORDER BY id")]


def read_pins(connection: sqlite3.Connection) -> list[NodeId]:
    return [row["node"] for row in connection.execute("SELECT node FROM pins")]


def note_file(connection: sqlite3.Connection, path: str, keys: Iterable[str]) -> None:
    """Note that the Contexts with these keys were read from a file."""
    path = clean(path)
    connection.execute("INSERT INTO files (path) VALUES (?) ON CONFLICT DO NOTHING", (path,))
    connection.executemany(
        """INSERT INTO context_files SELECT node, files.id FROM contexts, files WHERE key = ? AND path = ?
           ON CONFLICT DO NOTHING""",
        ((key, path) for key in keys),
    )


def read_files(connection: sqlite3.Connection) -> dict[NodeId, frozenset[str]]:
    """The files each Context was read from; those of unknown origin are left out."""
    found: dict[NodeId, set[str]] = {}
    for row in connection.execute("SELECT context, path FROM context_files JOIN files ON files.id = file"):
        found.setdefault(row["context"], set()).add(row["path"])
    return {context: frozenset(paths) for context, paths in found.items()}


def _act(row: sqlite3.Row) -> Act:
    moment = Moment(datetime.fromisoformat(row["utc"]), row["offset_minutes"])
    return Act(Deed(row["deed"]), moment, row["node"], row["context"], row["target"])
