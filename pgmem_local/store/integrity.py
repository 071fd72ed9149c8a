"""Whether a database keeps its own promises: what `MemoryStore.integrity_check` looks at."""

from __future__ import annotations

import sqlite3

_QUERIES = {
    "a node without a vector": "SELECT id FROM nodes WHERE id NOT IN (SELECT node FROM vectors)",
    "a vector of another embedder": "SELECT node FROM vectors WHERE identity <> (SELECT identity FROM vectors LIMIT 1)",
    "a context outside every chunk": "SELECT id FROM nodes WHERE kind = 'context' AND id NOT IN (SELECT node FROM contexts)",
    "a state without priority and polarity": "SELECT id FROM nodes WHERE kind = 'state' AND id NOT IN (SELECT node FROM states)",
    "a note that rests on nothing": "SELECT id FROM nodes WHERE kind <> 'context' AND id NOT IN (SELECT derived FROM source_edges)",
    "a number that may be used again": "SELECT id FROM nodes JOIN counters USING (kind) WHERE number > last",
}


def problems(connection: sqlite3.Connection) -> list[str]:
    """SQLite's own checks, then ours: one line a problem, naming the node."""
    found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
    found += [f"a row of {row[0]} points to nothing" for row in connection.execute("PRAGMA foreign_key_check")]
    for name, query in _QUERIES.items():
        found += [f"{name}: {row[0]}" for row in connection.execute(query)]
    return found
