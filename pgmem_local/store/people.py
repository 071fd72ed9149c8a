"""PeopleStore: the part of one memory that is about others, and the owner's corrections to it, each of which can be undone.

A merged entity stays as an empty row that points to the one it was merged into; the log holds ids, and a name the owner gave.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from pgmem_local.errors import StoreError, UnknownEntity
from pgmem_local.graph.nodes import NodeId
from pgmem_local.graph.people import EntityId, EntityKind, FactId, Naming, People
from pgmem_local.lesson import PeopleLesson
from pgmem_local.ports import Vectors
from pgmem_local.store import people_rows
from pgmem_local.store.database import Database
from pgmem_local.store.embeddings import VectorSpace
from pgmem_local.store.rows import clean

_STORED = np.dtype("<f4")
_MOVED = ("namings", "profile_sentences", "facts")
_VECTORS = {"profile_vectors": "entity", "fact_vectors": "fact"}


class Correction(str, Enum):
    """What the owner may do to the registry."""

    MERGE = "merge"
    SPLIT = "split"
    RENAME = "rename"


@dataclass(frozen=True)
class Undone:
    """A correction that was taken back."""

    action: Correction
    entity: EntityId


class PeopleVectors:
    """PeopleSearch over a copy of the stored vectors: every cosine is computed, exactly."""

    def __init__(self, profiles: Mapping[EntityId, Vectors], facts: Mapping[FactId, Vectors]) -> None:
        self._profiles, self._facts = dict(profiles), dict(facts)

    def profiles(self, query: Vectors) -> dict[EntityId, float]:
        return {one: float(row @ query) for one, row in self._profiles.items()}

    def facts(self, query: Vectors) -> dict[FactId, float]:
        return {one: float(row @ query) for one, row in self._facts.items()}

    def fact(self, identifier: FactId) -> Vectors | None:
        return self._facts.get(identifier)


class PeopleStore:
    """Reads and writes through the memory's one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._given: dict[str, int] = {}

    def load(self) -> People:
        with self._database.read() as connection:
            return people_rows.read_people(connection)

    def namings(self, entity: EntityId) -> list[Naming]:
        """In which Contexts an entity is spoken of, by which name, oldest first."""
        with self._database.read() as connection:
            return people_rows.read_namings(connection, entity)

    def next_entity(self) -> EntityId:
        """An id for an entity of a coming lesson: never one given before."""
        return EntityId(f"p{self._next('entity')}")

    def next_fact(self) -> FactId:
        return FactId(f"f{self._next('fact')}")

    def _next(self, kind: str) -> int:
        with self._database.read() as connection:
            self._given[kind] = max(people_rows.last_number(connection, kind), self._given.get(kind, 0)) + 1
        return self._given[kind]

    # Vectors

    def vectors(self) -> PeopleVectors:
        with self._database.read() as connection:
            return PeopleVectors(
                {EntityId(one): row for one, row in _read_vectors(connection, "profile_vectors").items()},
                {FactId(one): row for one, row in _read_vectors(connection, "fact_vectors").items()},
            )

    def add_vectors(self, vectors: Mapping[EntityId | FactId, Vectors]) -> None:
        """Vectors of profiles and facts that lack one; of what was forgotten meanwhile none is kept."""
        with self._database.write() as connection:
            people = people_rows.read_people(connection)
            known = {entity.id for entity in people} | {fact.id for fact in people.all_facts(current=False)}
            insert_vectors(connection, {one: row for one, row in vectors.items() if one in known})

    def without_vectors(self) -> tuple[list[EntityId], list[FactId]]:
        """Profiles that changed and facts that came in without their vector."""
        with self._database.read() as connection:
            profiles = connection.execute(
                "SELECT DISTINCT entity FROM profile_sentences WHERE entity NOT IN (SELECT entity FROM profile_vectors)"
            ).fetchall()
            facts = connection.execute("SELECT id FROM facts WHERE id NOT IN (SELECT fact FROM fact_vectors)").fetchall()
        return [row["entity"] for row in profiles], [row["id"] for row in facts]

    # The owner's corrections

    def merge(self, kept: EntityId, other: EntityId) -> None:
        """Make one entity of two. Raises UnknownEntity."""
        if kept == other:
            raise StoreError("an entity cannot be merged with itself; name two of them, see `pgmem people`")
        with self._database.write() as connection:
            for one in (kept, other):
                _refuse_unknown(connection, one)
            moved = {table: _ids(connection, table, other) for table in _MOVED}
            _move(connection, moved, kept)
            connection.execute("UPDATE entities SET merged_into = ? WHERE id = ?", (kept, other))
            _log(connection, Correction.MERGE, kept, other, moved)

    def split(self, entity: EntityId, contexts: Sequence[NodeId], kind: EntityKind, name: str | None = None) -> EntityId:
        """Make a new entity of what rests on these Contexts alone; its name is `name`, or what they call it. Raises UnknownEntity."""
        new = self.next_entity()
        with self._database.write() as connection:
            _refuse_unknown(connection, entity)
            moved = {table: _resting_on(connection, table, entity, contexts) for table in _MOVED}
            if not moved["namings"] or len(moved["namings"]) == len(_ids(connection, "namings", entity)):
                raise StoreError("a split needs some of the entries that speak of it, not none and not all; see `pgmem people show`")
            people_rows.insert_entity(connection, new, kind, name)
            _move(connection, moved, new)
            _log(connection, Correction.SPLIT, entity, new, moved)
        return new

    def rename(self, entity: EntityId, name: str | None) -> None:
        """Call an entity what the owner calls it; None gives it back the name that was heard. Raises UnknownEntity."""
        with self._database.write() as connection:
            before = _refuse_unknown(connection, entity)
            connection.execute("UPDATE entities SET own_name = ? WHERE id = ?", (name and clean(name), entity))
            _log(connection, Correction.RENAME, entity, None, {}, before)

    def undo(self) -> Undone | None:
        """Take back the last correction; None where there is none."""
        with self._database.write() as connection:
            row = connection.execute("SELECT * FROM entity_log ORDER BY id DESC LIMIT 1").fetchone()
            if row is None:
                return None
            action, moved = Correction(row["action"]), json.loads(row["moved"])
            if action is Correction.RENAME:
                connection.execute("UPDATE entities SET own_name = ? WHERE id = ?", (row["own_name"], row["entity"]))
            elif action is Correction.MERGE:
                _move(connection, moved, row["other"])
                connection.execute("UPDATE entities SET merged_into = NULL WHERE id = ?", (row["other"],))
                _drop_unnamed(connection, row["entity"], row["other"])
            else:
                _move(connection, {table: _ids(connection, table, row["other"]) for table in _MOVED}, row["entity"])
                connection.execute("DELETE FROM entities WHERE id = ?", (row["other"],))
            connection.execute("DELETE FROM entity_log WHERE id = ?", (row["id"],))
            return Undone(action, row["entity"])


def land_people(connection: sqlite3.Connection, lesson: PeopleLesson, space: VectorSpace | None) -> None:
    """The people part of a lesson, inside the transaction that lands it."""
    people_rows.insert_people(connection, lesson)
    if any(space is None or row.shape != (space.dimension,) for row in lesson.vectors.values()):
        raise StoreError(f"a vector of a profile or fact is none of {space}; check the embedder with `pgmem models verify`")
    insert_vectors(connection, lesson.vectors)


def insert_vectors(connection: sqlite3.Connection, vectors: Mapping[EntityId | FactId, Vectors]) -> None:
    for identifier, row in vectors.items():
        table = "profile_vectors" if identifier.startswith("p") else "fact_vectors"
        connection.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", (identifier, row.astype(_STORED).tobytes()))


def drop_vectors(connection: sqlite3.Connection) -> None:
    """Forget all vectors of people, because another embedder's take their place."""
    for table in _VECTORS:
        connection.execute(f"DELETE FROM {table}")


def _read_vectors(connection: sqlite3.Connection, table: str) -> dict[str, Vectors]:
    rows = connection.execute(f"SELECT {_VECTORS[table]} AS owner, vector FROM {table}")
    return {row["owner"]: np.frombuffer(row["vector"], dtype=_STORED).astype(np.float32) for row in rows}


def _refuse_unknown(connection: sqlite3.Connection, entity: EntityId) -> str | None:
    """The name the owner gave an entity that is there."""
    row = connection.execute("SELECT own_name FROM entities WHERE id = ? AND merged_into IS NULL", (entity,)).fetchone()
    if row is None:
        raise UnknownEntity(f"the memory knows nobody with the id {entity!r}; `pgmem people` lists all")
    name: str | None = row["own_name"]
    return name


def _ids(connection: sqlite3.Connection, table: str, entity: EntityId) -> list[int | str]:
    return [row["id"] for row in connection.execute(f"SELECT id FROM {table} WHERE entity = ?", (entity,))]


def _resting_on(connection: sqlite3.Connection, table: str, entity: EntityId, contexts: Sequence[NodeId]) -> list[int | str]:
    """Rows of an entity that rest on these Contexts and on no others."""
    sources = {
        "namings": "SELECT context FROM namings WHERE id = ?",
        "profile_sentences": "SELECT context FROM sentence_sources WHERE sentence = ?",
        "facts": "SELECT context FROM fact_sources WHERE fact = ?",
    }[table]
    wanted = set(contexts)
    return [one for one in _ids(connection, table, entity) if {row["context"] for row in connection.execute(sources, (one,))} <= wanted]


def _move(connection: sqlite3.Connection, moved: Mapping[str, Sequence[int | str]], entity: EntityId) -> None:
    for table, ids in moved.items():
        connection.executemany(f"UPDATE OR IGNORE {table} SET entity = ? WHERE id = ?", ((entity, one) for one in ids))


def _drop_unnamed(connection: sqlite3.Connection, *entities: EntityId) -> None:
    """Of the two that were one, whoever was named only in what was forgotten meanwhile."""
    connection.executemany("DELETE FROM entities WHERE id = ? AND id NOT IN (SELECT entity FROM namings)", ((one,) for one in entities))


def _log(
    connection: sqlite3.Connection,
    action: Correction,
    entity: EntityId,
    other: EntityId | None,
    moved: Mapping[str, Sequence[int | str]],
    own_name: str | None = None,
) -> None:
    connection.execute(
        "INSERT INTO entity_log (action, entity, other, moved, own_name) VALUES (?, ?, ?, ?, ?)",
        (action.value, entity, other, json.dumps(moved), own_name),
    )
