"""A whole memory read as values, and what is new in another one put beside it. Inside a transaction of the caller's."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping

from pgmem_local.contents import Chunk, Contents, Intake, Numbers, StoredContext, StoredEntity
from pgmem_local.graph.acts import Act
from pgmem_local.graph.nodes import Context, Kind, NodeId
from pgmem_local.graph.people import EntityId, EntityKind, Fact, Naming, People, number_of
from pgmem_local.store import acts, people_rows, rows


def read_contents(connection: sqlite3.Connection) -> Contents:
    """All there is."""
    nodes = rows.read_nodes(connection)
    people = people_rows.read_people(connection)
    return Contents(
        chunks=_read_chunks(connection),
        contexts=_read_contexts(connection, [node for node in nodes if isinstance(node, Context)]),
        notes=tuple(node for node in nodes if not isinstance(node, Context)),
        sources=tuple(rows.read_sources(connection)),
        judgements=tuple(rows.read_judgements(connection)),
        pins=tuple(acts.read_pins(connection)),
        acts=tuple(acts.read_acts(connection)),
        entities=_read_entities(connection),
        profiles=tuple(profile for one in people if (profile := people.profile(one.id)).sentences),
        facts=tuple(_in_order_learned(people)),
        numbers=_read_numbers(connection),
    )


def write_intake(connection: sqlite3.Connection, intake: Intake) -> None:
    """Chunks, Contexts and marks; what stands in the lesson lands as any other lesson does, after these and before `write_acts`."""
    connection.executemany(
        "INSERT INTO chunks (id, label, closed, consolidated) VALUES (?, ?, ?, ?)",
        ((one.id, rows.clean(one.label), one.closed, one.consolidated) for one in intake.chunks),
    )
    for one in intake.contexts:
        rows.insert_context(connection, one.node, one.chunk)
    learned = [one.node.id for one in intake.contexts if one.learned]
    connection.executemany("UPDATE contexts SET learned = 1 WHERE node = ?", ((one,) for one in (*learned, *intake.learned)))
    connection.executemany(
        "UPDATE contexts SET reply = ? WHERE node = ? AND reply IS NULL",
        ((rows.clean(reply), one) for one, reply in intake.replies.items()),
    )
    _move(connection, intake.moved)
    _note_files(connection, [*((one.node.id, one.files) for one in intake.contexts), *intake.files.items()])


def write_acts(connection: sqlite3.Connection, intake: Intake) -> None:
    """Pins, names and acts, whose nodes and entities are there by now."""
    for one in intake.pins:
        acts.set_pin(connection, one, pinned=True)
    connection.executemany(
        "UPDATE entities SET own_name = ? WHERE id = ?", ((rows.clean(name), one) for one, name in intake.own_names.items())
    )
    if intake.acts:
        _insert_acts(connection, intake.acts)


# ------------------------------------------------------------------ reading


def _read_chunks(connection: sqlite3.Connection) -> tuple[Chunk, ...]:
    found = connection.execute("SELECT id, label, closed, consolidated FROM chunks ORDER BY id")
    return tuple(Chunk(row["id"], row["label"], bool(row["closed"]), bool(row["consolidated"])) for row in found)


def _read_contexts(connection: sqlite3.Connection, contexts: Iterable[Context]) -> tuple[StoredContext, ...]:
    files = acts.read_files(connection)
    places = {row["node"]: (row["chunk"], bool(row["learned"])) for row in connection.execute("SELECT node, chunk, learned FROM contexts")}
    return tuple(StoredContext(one, *places[one.id], files.get(one.id, frozenset())) for one in contexts)


def _read_entities(connection: sqlite3.Connection) -> tuple[StoredEntity, ...]:
    namings: defaultdict[EntityId, list[Naming]] = defaultdict(list)
    for row in connection.execute("SELECT * FROM namings ORDER BY id"):
        namings[row["entity"]].append(Naming(row["entity"], row["context"], row["name"], row["relation"]))
    found = connection.execute("SELECT id, kind, own_name FROM entities WHERE merged_into IS NULL ORDER BY number")
    return tuple(StoredEntity(row["id"], EntityKind(row["kind"]), tuple(namings[row["id"]]), row["own_name"]) for row in found)


def _in_order_learned(people: People) -> list[Fact]:
    return sorted(people.all_facts(current=False), key=lambda fact: number_of(fact.id))


def _read_numbers(connection: sqlite3.Connection) -> Numbers:
    chunk = connection.execute("SELECT ifnull(max(id), 0) FROM chunks").fetchone()[0]
    return Numbers(
        {kind: rows.last_number(connection, kind) for kind in Kind},
        people_rows.last_number(connection, "entity"),
        people_rows.last_number(connection, "fact"),
        chunk,
    )


# ------------------------------------------------------------------ writing


def _move(connection: sqlite3.Connection, moved: Mapping[NodeId, int]) -> None:
    """Put Contexts into other chunks; a chunk that is left empty goes."""
    if moved:
        connection.executemany("UPDATE contexts SET chunk = ? WHERE node = ?", ((chunk, one) for one, chunk in moved.items()))
        connection.execute("DELETE FROM chunks WHERE id NOT IN (SELECT chunk FROM contexts)")


def _note_files(connection: sqlite3.Connection, read: Iterable[tuple[NodeId, frozenset[str]]]) -> None:
    pairs = [(rows.clean(path), context) for context, paths in read for path in sorted(paths)]
    connection.executemany("INSERT INTO files (path) VALUES (?) ON CONFLICT DO NOTHING", ((path,) for path, _ in pairs))
    connection.executemany(
        "INSERT INTO context_files SELECT ?2, id FROM files WHERE path = ?1 ON CONFLICT DO NOTHING", pairs
    )


def _insert_acts(connection: sqlite3.Connection, incoming: Iterable[Act]) -> None:
    """All acts anew in the order of their time: the last of them is the one that `pgmem undo` takes back."""
    every = sorted([*acts.read_acts(connection), *incoming], key=lambda act: act.moment.utc)
    connection.execute("DELETE FROM acts")
    for act in every:
        acts.insert(connection, act)

