"""Rows that go for good, and the note that traces of them are still to be swept away. Inside a transaction of the caller's.

Deleting a node takes its words, vector, edges, judgements, pin and acts with it by foreign keys. What it leaves on freed pages and in
the write-ahead log is overwritten by `Database.scrub`; until that is done the note stays, and the next process to open finishes.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from pgmem_local.conversation import Moment
from pgmem_local.erasure import Erased, Erasure
from pgmem_local.graph.edges import Judgement
from pgmem_local.graph.nodes import Kind, NodeId, kind_of
from pgmem_local.store import rows
from pgmem_local.store.people_rows import forget_people_sources
from pgmem_local.words import folded, keywords

_KEPT_TABLES = ("meta", "counters", "sweeps")
"""What a memory keeps even when everything is forgotten: numbers are never given twice."""
_DUE = "sweep_due"
_TABLES = {
    "judgements": "judgements",
    "vectors": "vectors",
    "entities": "entities WHERE merged_into IS NULL",  # what was merged into another is nobody of its own
    "facts": "facts",
    "profile_sentences": "profile_sentences",
    "names": "(SELECT own_name FROM entities UNION SELECT own_name FROM entity_log) WHERE own_name IS NOT NULL",
}
"""What is counted, and the rows that count."""
_PEOPLE_TEXTS = {"facts": ("fact_sources", "fact"), "profile_sentences": ("sentence_sources", "sentence")}
"""Texts about others, and which Contexts each rests on."""


def erase(connection: sqlite3.Connection, erasure: Erasure) -> Erased:
    """Take out the nodes and what hangs on them; how many rows of each kind went."""
    before = _counts(connection)
    if erasure.everything:
        _erase_everything(connection)
    else:
        _erase_people(connection, [one for one in erasure.removed if kind_of(one) is Kind.CONTEXT], erasure.terms)
        connection.executemany("DELETE FROM files WHERE path = ?", ((path,) for path in erasure.files))
        _erase_nodes(connection, erasure.removed)
        _read_again(connection, erasure.pending_again)
        _reopen(connection, erasure.reopened)
        _redate(connection, erasure.redated)
        _bridge(connection, erasure.bridges)
    after = _counts(connection)
    gone = {name: before[name] - after[name] for name in before}
    return Erased(
        contexts=gone[Kind.CONTEXT.value],
        states=gone[Kind.STATE.value],
        episodes=gone[Kind.EPISODE.value],
        traits=gone[Kind.TRAIT.value],
        judgements=gone["judgements"] + len(erasure.bridges),
        vectors=gone["vectors"],
        entities=gone["entities"],
        facts=gone["facts"],
        sentences=gone["profile_sentences"],
        names=gone["names"],
    )


def note_sweep(connection: sqlite3.Connection, patterns: Iterable[str], everything: bool) -> None:
    """Note in the same transaction what is still to be swept from the files."""
    connection.executemany("INSERT INTO sweeps VALUES (?) ON CONFLICT DO NOTHING", ((rows.clean(one),) for one in patterns))
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_DUE, "everything" if everything else "traces"))


def sweep_due(connection: sqlite3.Connection) -> str | None:
    """`everything`, `traces`, or None where no sweep was left unfinished."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (_DUE,)).fetchone()
    return str(row["value"]) if row else None


def swept_patterns(connection: sqlite3.Connection) -> tuple[str, ...]:
    return tuple(row["words"] for row in connection.execute("SELECT words FROM sweeps"))


def drop_patterns(connection: sqlite3.Connection) -> None:
    """The words themselves go before the pages they stood on are overwritten."""
    connection.execute("DELETE FROM sweeps")


def end_sweep(connection: sqlite3.Connection) -> None:
    connection.execute("DELETE FROM meta WHERE key = ?", (_DUE,))


def _erase_everything(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA defer_foreign_keys = ON")
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").fetchall()
    for name in [row["name"] for row in tables if row["name"] not in _KEPT_TABLES]:
        connection.execute(f'DELETE FROM "{name}"')
    connection.execute("DELETE FROM meta WHERE key <> 'revision'")


def _erase_people(connection: sqlite3.Connection, contexts: Sequence[NodeId], terms: Sequence[str]) -> None:
    """What is known of others from these Contexts alone, or in words that only these hold, or that holds a forgotten term."""
    for table, (links, owner) in _PEOPLE_TEXTS.items():
        mixed = dict.fromkeys(
            row[0] for one in contexts for row in connection.execute(f"SELECT {owner} FROM {links} WHERE context = ?", (one,))
        )
        doomed = [one for one in mixed if _says_what_is_lost(connection, table, links, owner, one, contexts)]
        doomed += [row["id"] for row in connection.execute(f"SELECT id, text FROM {table}") if _holds(row["text"], terms)]
        connection.executemany(f"DELETE FROM {table} WHERE id = ?", ((one,) for one in doomed))
    for table in ("entities", "entity_log"):
        named = connection.execute(f"SELECT id, own_name FROM {table} WHERE own_name IS NOT NULL").fetchall()
        renamed = [(row["id"],) for row in named if _holds(row["own_name"], terms)]
        connection.executemany(f"UPDATE {table} SET own_name = NULL WHERE id = ?", renamed)
    forget_people_sources(connection, contexts)


def _says_what_is_lost(
    connection: sqlite3.Connection, table: str, links: str, owner: str, one: object, contexts: Sequence[NodeId]
) -> bool:
    """Whether a text holds a word of a Context that goes and of none that stays."""
    text = connection.execute(f"SELECT text FROM {table} WHERE id = ?", (one,)).fetchone()["text"]
    said: dict[bool, str] = {True: "", False: ""}
    for row in connection.execute(f"SELECT id, text FROM {links} JOIN nodes ON id = context WHERE {owner} = ?", (one,)):
        said[row["id"] in contexts] += f"{row['text']}\n"
    return bool(keywords(text) & keywords(said[True]) - keywords(said[False]))


def _holds(text: str, terms: Sequence[str]) -> bool:
    return any(re.search(term, folded(text)) for term in terms)


def _erase_nodes(connection: sqlite3.Connection, identifiers: Sequence[NodeId]) -> None:
    chunks = {
        row["chunk"]
        for one in identifiers
        for row in connection.execute("SELECT chunk FROM contexts WHERE node = ?", (one,))
    }
    connection.executemany("DELETE FROM nodes WHERE id = ?", ((one,) for one in identifiers))
    connection.executemany(
        "DELETE FROM chunks WHERE id = ? AND id NOT IN (SELECT chunk FROM contexts)", ((chunk,) for chunk in sorted(chunks))
    )
    connection.execute("DELETE FROM files WHERE id NOT IN (SELECT file FROM context_files)")


def _read_again(connection: sqlite3.Connection, contexts: Sequence[NodeId]) -> None:
    """Make Contexts pending; the pass over their chunk is due again."""
    for one in contexts:
        connection.execute("UPDATE contexts SET learned = 0 WHERE node = ?", (one,))
        connection.execute("UPDATE chunks SET consolidated = 0 WHERE id = (SELECT chunk FROM contexts WHERE node = ?)", (one,))


def _reopen(connection: sqlite3.Connection, contexts: Sequence[NodeId]) -> None:
    """Let the next learning write a new Episode of the chunks these Contexts stand in."""
    for one in contexts:
        connection.execute("UPDATE chunks SET closed = 0 WHERE id = (SELECT chunk FROM contexts WHERE node = ?)", (one,))


def _redate(connection: sqlite3.Connection, moments: Mapping[NodeId, Moment | None]) -> None:
    connection.executemany(
        "UPDATE nodes SET utc = ?, offset_minutes = ? WHERE id = ?",
        ((m and m.utc.isoformat(timespec="microseconds"), m and m.offset_minutes, one) for one, m in moments.items()),
    )


def _bridge(connection: sqlite3.Connection, judgements: Sequence[Judgement]) -> None:
    """A bridge takes the place of whatever was judged of its two ends."""
    connection.executemany(
        "DELETE FROM judgements WHERE min(source, target) = min(:one, :other) AND max(source, target) = max(:one, :other)",
        ({"one": bridge.source, "other": bridge.target} for bridge in judgements),
    )
    rows.insert_judgements(connection, judgements)


def _counts(connection: sqlite3.Connection) -> dict[str, int]:
    counts = {kind.value: 0 for kind in Kind} | dict(connection.execute("SELECT kind, count(*) FROM nodes GROUP BY kind").fetchall())
    return counts | {name: connection.execute(f"SELECT count(*) FROM {counted}").fetchone()[0] for name, counted in _TABLES.items()}
