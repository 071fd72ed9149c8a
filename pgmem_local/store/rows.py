"""Nodes, edges and costs as rows, and back. Every function works inside a transaction of its caller's."""

from __future__ import annotations

import sqlite3
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import datetime

from pgmem_local.conversation import Moment
from pgmem_local.graph.edges import Judgement, Relation, SourceEdge
from pgmem_local.graph.nodes import (
    Context,
    Episode,
    Kind,
    Node,
    NodeId,
    Polarity,
    RecallPriority,
    Scope,
    State,
    Trait,
    kind_of,
    number_of,
)
from pgmem_local.ports import Spent

if sys.version_info >= (3, 11):
    from typing import assert_never
else:
    from typing_extensions import assert_never

_SELECT_NODES = """
    SELECT nodes.*, key, session, reply, author, priority, polarity, stated
    FROM nodes LEFT JOIN contexts ON contexts.node = id LEFT JOIN states ON states.node = id
"""


def clean(text: str) -> str:
    """Text that can be stored: halves of a surrogate pair are joined, or become U+FFFD where one is alone."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def insert_node(connection: sqlite3.Connection, node: Node) -> None:
    """A node with its words; a Context needs `insert_context`."""
    moment = node.moment
    connection.execute(
        "INSERT INTO nodes (id, kind, number, text, utc, offset_minutes, scope) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            node.id,
            node.kind.value,
            number_of(node.id),
            clean(node.text),
            moment and moment.utc.isoformat(timespec="microseconds"),
            moment and moment.offset_minutes,
            node.scope.value,
        ),
    )
    _insert_words(connection, node.id, node.keywords, is_domain=False)
    _insert_words(connection, node.id, node.domains, is_domain=True)
    if isinstance(node, State):
        connection.execute("INSERT INTO states VALUES (?, ?, ?, ?)", (node.id, node.priority.value, node.polarity.value, node.stated))
    _count_up(connection, node.id)


def insert_context(connection: sqlite3.Connection, context: Context, chunk: int) -> None:
    """A Context that waits to be learned, as one more exchange of a chunk."""
    insert_node(connection, context)
    session, reply, author = (text if text is None else clean(text) for text in (context.session, context.reply, context.author))
    connection.execute(
        "INSERT INTO contexts (node, key, session, reply, author, chunk) VALUES (?, ?, ?, ?, ?, ?)",
        (context.id, context.key, session, reply, author, chunk),
    )


def last_number(connection: sqlite3.Connection, kind: Kind) -> int:
    """The highest number a node of this kind ever had, also one deleted since; 0 before the first."""
    row = connection.execute("SELECT last FROM counters WHERE kind = ?", (kind.value,)).fetchone()
    return int(row["last"]) if row else 0


def insert_sources(connection: sqlite3.Connection, edges: Iterable[SourceEdge]) -> None:
    connection.executemany(
        "INSERT INTO source_edges VALUES (?, ?) ON CONFLICT DO NOTHING", ((edge.source, edge.derived) for edge in edges)
    )


def insert_judgements(connection: sqlite3.Connection, judgements: Iterable[Judgement]) -> None:
    """Of two judgements on one pair, in either order, the first stays."""
    connection.executemany(
        "INSERT INTO judgements VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        ((j.source, j.target, j.relation.value, j.probability, j.judge) for j in judgements),
    )


def add_spent(connection: sqlite3.Connection, spent: Mapping[str, Spent]) -> None:
    connection.executemany(
        """INSERT INTO spent VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (task) DO UPDATE SET
           calls = calls + excluded.calls, reads = reads + excluded.reads,
           evaluated = evaluated + excluded.evaluated, reused = reused + excluded.reused,
           written = written + excluded.written, seconds = seconds + excluded.seconds""",
        ((task, s.calls, s.reads, s.evaluated, s.reused, s.written, s.seconds) for task, s in spent.items()),
    )


def read_nodes(connection: sqlite3.Connection) -> list[Node]:
    """Every node, kind by kind in the order of their numbers."""
    words: defaultdict[str, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for row in connection.execute("SELECT node, word, is_domain FROM keywords"):
        words[row["node"]][row["is_domain"]].add(row["word"])
    return [_node(row, *words[row["id"]]) for row in connection.execute(_SELECT_NODES + "ORDER BY kind, number")]


def read_node(connection: sqlite3.Connection, identifier: NodeId) -> Node | None:
    row = connection.execute(_SELECT_NODES + "WHERE id = ?", (identifier,)).fetchone()
    if row is None:
        return None
    words: tuple[set[str], set[str]] = (set(), set())
    for found in connection.execute("SELECT word, is_domain FROM keywords WHERE node = ?", (identifier,)):
        words[found["is_domain"]].add(found["word"])
    return _node(row, *words)


def read_sources(connection: sqlite3.Connection) -> list[SourceEdge]:
    rows = connection.execute(
        """SELECT source, derived FROM source_edges JOIN nodes AS d ON d.id = derived JOIN nodes AS s ON s.id = source
           ORDER BY d.kind, d.number, s.kind, s.number"""
    )
    return [SourceEdge(row["source"], row["derived"]) for row in rows]


def read_judgements(connection: sqlite3.Connection) -> list[Judgement]:
    rows = connection.execute("SELECT * FROM judgements ORDER BY rowid")
    return [
        Judgement(row["source"], row["target"], Relation(row["relation"]), row["probability"], row["judge"]) for row in rows
    ]


def read_spent(connection: sqlite3.Connection) -> dict[str, Spent]:
    rows = connection.execute("SELECT * FROM spent ORDER BY task")
    return {str(row["task"]): Spent(*(row[part.name] for part in fields(Spent))) for row in rows}


def _insert_words(connection: sqlite3.Connection, identifier: NodeId, words: Iterable[str], is_domain: bool) -> None:
    cleaned = sorted({clean(word) for word in words})
    connection.executemany("INSERT INTO keywords VALUES (?, ?, ?)", ((identifier, word, is_domain) for word in cleaned))


def _count_up(connection: sqlite3.Connection, identifier: NodeId) -> None:
    connection.execute(
        "INSERT INTO counters VALUES (?, ?) ON CONFLICT (kind) DO UPDATE SET last = max(last, excluded.last)",
        (kind_of(identifier).value, number_of(identifier)),
    )


def _node(row: sqlite3.Row, words: set[str], labels: set[str]) -> Node:
    identifier, text, moment = NodeId(row["id"]), row["text"], _moment(row)
    keywords, domains = frozenset(words), frozenset(labels)
    kind, scope = Kind(row["kind"]), Scope(row["scope"])
    if kind is Kind.CONTEXT:
        return Context(identifier, text, moment, keywords, domains, row["key"], row["session"], row["reply"], row["author"])
    if kind is Kind.EPISODE:
        return Episode(identifier, text, moment, keywords, domains, scope)
    if kind is Kind.STATE:
        priority, polarity = RecallPriority(row["priority"]), Polarity(row["polarity"])
        return State(identifier, text, moment, keywords, domains, scope, priority, polarity, bool(row["stated"]))
    if kind is Kind.TRAIT:
        return Trait(identifier, text, moment, keywords, domains, scope)
    assert_never(kind)


def _moment(row: sqlite3.Row) -> Moment | None:
    return Moment(datetime.fromisoformat(row["utc"]), row["offset_minutes"]) if row["utc"] else None
