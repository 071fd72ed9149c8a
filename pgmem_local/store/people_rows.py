"""Entities, profiles and facts as rows, and back. Every function works inside a transaction of its caller's.

Names, relation and times of an entity are not stored: they follow from its namings, which go with their Contexts.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from pgmem_local.conversation import Moment
from pgmem_local.dates import Grain
from pgmem_local.errors import StoreBusy
from pgmem_local.graph.names import name_words, words_of
from pgmem_local.graph.nodes import NodeId
from pgmem_local.graph.people import (
    Entity,
    EntityId,
    EntityKind,
    Fact,
    FactKind,
    Naming,
    People,
    Profile,
    Sentence,
    entity_from,
    number_of,
)
from pgmem_local.lesson import PeopleLesson
from pgmem_local.store.rows import clean


@dataclass(frozen=True)
class ForgottenPeople:
    """How many rows about others went with the Contexts they rested on."""

    entities: int = 0
    sentences: int = 0
    facts: int = 0


# ------------------------------------------------------------------ writing


def insert_people(connection: sqlite3.Connection, lesson: PeopleLesson) -> None:
    """All that a chunk taught about others, without the vectors. Raises StoreBusy where another process took its ids."""
    for identifier, kind in lesson.kinds.items():
        insert_entity(connection, identifier, kind)
    for one in lesson.namings:
        connection.execute(
            "INSERT INTO namings VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (_new_number(connection, "namings"), one.entity, one.context, one.name and clean(one.name), one.relation),
        )
    for profile in lesson.profiles:
        _replace_profile(connection, profile)
    for fact in lesson.facts:
        _refuse_taken(connection, "facts", fact.id)
        _insert_fact(connection, fact)
    connection.executemany("INSERT INTO fact_sources VALUES (?, ?) ON CONFLICT DO NOTHING", lesson.said_again)
    replaced = [*lesson.replaced.items(), *((fact.id, fact.replaced_by) for fact in lesson.facts if fact.replaced_by)]
    connection.executemany("UPDATE facts SET replaced_by = ? WHERE id = ?", ((new, old) for old, new in replaced))


def insert_entity(connection: sqlite3.Connection, identifier: EntityId, kind: EntityKind, own_name: str | None = None) -> None:
    _refuse_taken(connection, "entities", identifier)
    connection.execute(
        "INSERT INTO entities (id, number, kind, own_name) VALUES (?, ?, ?, ?)",
        (identifier, number_of(identifier), kind.value, own_name and clean(own_name)),
    )
    _count_up(connection, "entity", number_of(identifier))


def _refuse_taken(connection: sqlite3.Connection, table: str, identifier: str) -> None:
    if connection.execute(f"SELECT 1 FROM {table} WHERE id = ?", (identifier,)).fetchone():
        raise StoreBusy(f"another process learned {identifier} meanwhile; learn these turns again")


def _replace_profile(connection: sqlite3.Connection, profile: Profile) -> None:
    connection.execute("DELETE FROM profile_sentences WHERE entity = ?", (profile.entity,))
    for place, sentence in enumerate(profile.sentences):
        number = _new_number(connection, "profile_sentences")
        connection.execute("INSERT INTO profile_sentences VALUES (?, ?, ?, ?)", (number, profile.entity, place, clean(sentence.text)))
        connection.executemany("INSERT INTO sentence_sources VALUES (?, ?)", ((number, one) for one in sentence.sources))


def _insert_fact(connection: sqlite3.Connection, fact: Fact) -> None:
    connection.execute(
        "INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
        (
            fact.id, number_of(fact.id), fact.entity, fact.kind.value, clean(fact.text), *_stamp(fact.said), *_stamp(fact.happened),
            fact.grain.value, fact.doubtful, fact.original and clean(fact.original),
        ),
    )  # fmt: skip
    connection.executemany("INSERT INTO fact_sources VALUES (?, ?)", ((fact.id, one) for one in fact.sources))
    _count_up(connection, "fact", number_of(fact.id))


def last_number(connection: sqlite3.Connection, kind: str) -> int:
    """The highest number that was ever given, also one forgotten since."""
    row = connection.execute("SELECT last FROM counters WHERE kind = ?", (kind,)).fetchone()
    return int(row["last"]) if row else 0


def _count_up(connection: sqlite3.Connection, kind: str, number: int) -> None:
    connection.execute(
        "INSERT INTO counters VALUES (?, ?) ON CONFLICT (kind) DO UPDATE SET last = max(last, excluded.last)", (kind, number)
    )


def _new_number(connection: sqlite3.Connection, table: str) -> int:
    """A number for a row, never one given before: the log of merges names rows by it, also those that are gone since."""
    highest: int = connection.execute(f"SELECT ifnull(max(id), 0) FROM {table}").fetchone()[0]
    number = max(highest, last_number(connection, table)) + 1
    _count_up(connection, table, number)
    return number


def _stamp(moment: Moment | None) -> tuple[str | None, int | None]:
    return (moment.utc.isoformat(timespec="microseconds"), moment.offset_minutes) if moment else (None, None)


# ------------------------------------------------------------------ reading


def read_people(connection: sqlite3.Connection) -> People:
    return People(_read_entities(connection), _read_profiles(connection), _read_facts(connection))


def _read_entities(connection: sqlite3.Connection) -> list[Entity]:
    namings: defaultdict[EntityId, list[Naming]] = defaultdict(list)
    moments: dict[NodeId, Moment | None] = {}
    for row in connection.execute(
        """SELECT namings.*, utc, offset_minutes FROM namings JOIN nodes ON nodes.id = context
           ORDER BY utc IS NULL, utc, number, namings.id"""
    ):
        namings[row["entity"]].append(Naming(row["entity"], row["context"], row["name"], row["relation"]))
        moments[row["context"]] = _moment(row["utc"], row["offset_minutes"])
    return [
        entity_from(row["id"], EntityKind(row["kind"]), namings[row["id"]], moments, row["own_name"])
        for row in connection.execute("SELECT * FROM entities WHERE merged_into IS NULL ORDER BY number")
    ]


def read_namings(connection: sqlite3.Connection, entity: EntityId) -> list[Naming]:
    rows = connection.execute(
        "SELECT namings.* FROM namings JOIN nodes ON nodes.id = context WHERE entity = ? ORDER BY utc IS NULL, utc, number", (entity,)
    )
    return [Naming(row["entity"], row["context"], row["name"], row["relation"]) for row in rows]


def _read_profiles(connection: sqlite3.Connection) -> list[Profile]:
    sources = _grouped(connection, "SELECT sentence, context FROM sentence_sources JOIN nodes ON id = context ORDER BY number")
    sentences: defaultdict[EntityId, list[Sentence]] = defaultdict(list)
    for row in connection.execute("SELECT * FROM profile_sentences ORDER BY entity, place, id"):
        sentences[row["entity"]].append(Sentence(row["text"], tuple(sources[row["id"]])))
    return [Profile(entity, tuple(written)) for entity, written in sentences.items()]


def _read_facts(connection: sqlite3.Connection) -> list[Fact]:
    sources = _grouped(connection, "SELECT fact, context FROM fact_sources JOIN nodes ON id = context ORDER BY number")
    return [
        Fact(
            row["id"],
            row["entity"],
            FactKind(row["kind"]),
            row["text"],
            tuple(sources[row["id"]]),
            _moment(row["said_utc"], row["said_offset"]),
            _moment(row["happened_utc"], row["happened_offset"]),
            row["original"],
            row["replaced_by"],
            Grain(row["grain"]),
            bool(row["doubtful"]),
        )
        for row in connection.execute("SELECT * FROM facts ORDER BY number")
    ]


def _grouped(connection: sqlite3.Connection, query: str) -> defaultdict[object, list[NodeId]]:
    grouped: defaultdict[object, list[NodeId]] = defaultdict(list)
    for owner, context in connection.execute(query):
        grouped[owner].append(context)
    return grouped


def _moment(utc: str | None, offset: int | None) -> Moment | None:
    return Moment(datetime.fromisoformat(utc), offset or 0) if utc else None


# ------------------------------------------------------------------ forgetting


def forget_people_sources(connection: sqlite3.Connection, contexts: Iterable[NodeId]) -> ForgottenPeople:
    """Forget what rests on these Contexts alone, and every text with a name that no other Context gives.

    To be called before the Contexts are deleted. Deleting them alone removes what rests on them (the tables cascade), but not a name
    that stands in the text of a fact whose own Context said only "my flatmate".
    """
    before = _counted(connection)
    gone = [(one,) for one in contexts]
    names = {row["name"] for one in gone for row in connection.execute("SELECT name FROM namings WHERE context = ?", one) if row["name"]}
    for table in ("namings", "sentence_sources", "fact_sources"):
        connection.executemany(f"DELETE FROM {table} WHERE context = ?", gone)
    for name in names:
        if not _still_named(connection, name):
            _erase_texts_with(connection, name)
    after = _counted(connection)
    return ForgottenPeople(*(was - now for was, now in zip(before, after, strict=True)))


def _counted(connection: sqlite3.Connection) -> list[int]:
    tables = ("entities", "profile_sentences", "facts")
    return [int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]) for table in tables]


def _still_named(connection: sqlite3.Connection, name: str) -> bool:
    words = _folded(name)
    return any(_holds(_folded(row["name"]), words) for row in connection.execute("SELECT name FROM namings WHERE name IS NOT NULL"))


def _erase_texts_with(connection: sqlite3.Connection, name: str) -> None:
    words = name_words(_folded(name))
    for table in ("profile_sentences", "facts"):
        rows = connection.execute(f"SELECT id, text FROM {table}").fetchall()
        connection.executemany(f"DELETE FROM {table} WHERE id = ?", ((row["id"],) for row in rows if _holds(_folded(row["text"]), words)))


def _folded(text: str) -> list[str]:
    return [word.folded for word in words_of(text)]


def _holds(words: list[str], run: list[str]) -> bool:
    return any(words[at : at + len(run)] == run for at in range(len(words) - len(run) + 1))
