"""Copies of a memory's database: how one is checked and put in the place of the memory. SQLite's own backup does the copying, so that a
copy is whole whatever other processes write meanwhile, and a replacement happens all at once or not at all.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from pgmem_local.errors import StoreError
from pgmem_local.graph.nodes import Kind
from pgmem_local.store import integrity
from pgmem_local.store.cipher import is_encrypted
from pgmem_local.store.database import Database

GENERATION = "generation"
"""Raised when all of the content was replaced, so that nobody compares ids across."""
_COUNTED = ("nodes", "contexts", "states", "source_edges", "judgements", "vectors", "keywords")

Counts = Mapping[str, int]


def check_copy(database: Database, path: Path) -> Counts:
    """The rows of a copy that is whole; brought up to date where an older release wrote it. Raises StoreError on any other file."""
    if not is_encrypted(path):
        _refuse_foreign(path)
    copy = database.beside(path)
    try:
        with copy.read() as connection:
            if found := integrity.problems(connection):
                raise StoreError(f"{path} is damaged ({found[0]}{' and more' if len(found) > 1 else ''}); use another backup")
            return count_rows(connection)
    finally:
        copy.close()


def _refuse_foreign(path: Path) -> None:
    """A database of somebody else's would be taken for a new memory, and filled with empty tables."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    except sqlite3.DatabaseError as error:
        raise StoreError(f"this is no backup of a memory ({error}); name a file that `pgmem backup` wrote") from error
    if not tables.issuperset(_COUNTED):
        raise StoreError("this is a database, but no memory; name a file that `pgmem backup` wrote")


def count_rows(connection: sqlite3.Connection) -> Counts:
    """Rows by table, and nodes by kind."""
    tables = {name: int(connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]) for name in _COUNTED}
    kinds = {row["kind"]: row["number"] for row in connection.execute("SELECT kind, count(*) AS number FROM nodes GROUP BY kind")}
    return tables | {kind.value: 0 for kind in Kind} | kinds


def replace_content(database: Database, path: Path) -> Counts:
    """Put a checked copy in the place of all that the database holds. Numbers given before are still never given again."""
    with database.read() as connection:
        counters = [(row["kind"], row["last"]) for row in connection.execute("SELECT kind, last FROM counters")]
        marks = {row["key"]: int(row["value"]) for row in connection.execute("SELECT * FROM meta WHERE key IN ('revision', 'generation')")}
    database.take_over(path)
    with database.write() as connection:
        connection.executemany(
            "INSERT INTO counters VALUES (?, ?) ON CONFLICT (kind) DO UPDATE SET last = max(last, excluded.last)", counters
        )
        connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (GENERATION, str(marks.get(GENERATION, 0) + 1)))
        connection.execute("UPDATE meta SET value = max(CAST(value AS INTEGER), ?) WHERE key = 'revision'", (marks["revision"],))
        return count_rows(connection)
