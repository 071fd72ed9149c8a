"""The tables, as numbered migrations: script n brings a database from version n to n + 1 and is never edited once released.

There is no full-text table on purpose: `keywords` is the word index, so that nothing but these tables holds a user's words.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

from pgmem_local.errors import StoreError

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    INSERT INTO meta VALUES ('revision', '0');

    CREATE TABLE counters (kind TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;

    CREATE TABLE nodes (
        id TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        number INTEGER NOT NULL,
        text TEXT NOT NULL,
        utc TEXT,
        offset_minutes INTEGER,
        scope TEXT NOT NULL,
        UNIQUE (kind, number),
        CHECK ((utc IS NULL) = (offset_minutes IS NULL))
    );

    CREATE TABLE chunks (
        id INTEGER PRIMARY KEY,
        label TEXT NOT NULL,
        closed INTEGER NOT NULL DEFAULT 0,
        consolidated INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX chunks_label ON chunks (label);

    CREATE TABLE contexts (
        node TEXT PRIMARY KEY REFERENCES nodes ON DELETE CASCADE,
        key TEXT NOT NULL UNIQUE,
        session TEXT,
        reply TEXT,
        chunk INTEGER NOT NULL REFERENCES chunks,
        learned INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID;
    CREATE INDEX contexts_chunk ON contexts (chunk);

    CREATE TABLE states (
        node TEXT PRIMARY KEY REFERENCES nodes ON DELETE CASCADE,
        priority TEXT NOT NULL,
        polarity TEXT NOT NULL
    ) WITHOUT ROWID;

    CREATE TABLE keywords (
        node TEXT NOT NULL REFERENCES nodes ON DELETE CASCADE,
        word TEXT NOT NULL,
        is_domain INTEGER NOT NULL,
        PRIMARY KEY (node, word, is_domain)
    ) WITHOUT ROWID;

    CREATE TABLE vectors (
        node TEXT PRIMARY KEY REFERENCES nodes ON DELETE CASCADE,
        identity TEXT NOT NULL,
        dimension INTEGER NOT NULL,
        vector BLOB NOT NULL,
        CHECK (length(vector) = 4 * dimension)
    );

    CREATE TABLE source_edges (
        source TEXT NOT NULL REFERENCES nodes ON DELETE CASCADE,
        derived TEXT NOT NULL REFERENCES nodes ON DELETE CASCADE,
        PRIMARY KEY (source, derived)
    ) WITHOUT ROWID;
    CREATE INDEX source_edges_derived ON source_edges (derived);

    CREATE TABLE judgements (
        source TEXT NOT NULL REFERENCES nodes ON DELETE CASCADE,
        target TEXT NOT NULL REFERENCES nodes ON DELETE CASCADE,
        relation TEXT NOT NULL,
        probability REAL NOT NULL CHECK (probability BETWEEN 0 AND 1),
        judge TEXT NOT NULL,
        CHECK (source <> target)
    );
    CREATE UNIQUE INDEX judgements_pair ON judgements (min(source, target), max(source, target));
    CREATE INDEX judgements_source ON judgements (source);
    CREATE INDEX judgements_target ON judgements (target);

    CREATE TABLE spent (
        task TEXT PRIMARY KEY,
        calls INTEGER NOT NULL,
        reads INTEGER NOT NULL,
        evaluated INTEGER NOT NULL,
        reused INTEGER NOT NULL,
        written INTEGER NOT NULL,
        seconds REAL NOT NULL
    ) WITHOUT ROWID;

    CREATE VIEW chunk_spans AS
        SELECT chunks.*, min(nodes.utc) AS began, count(contexts.node) AS exchanges,
               count(contexts.node) - total(contexts.learned) AS pending
        FROM chunks LEFT JOIN contexts ON contexts.chunk = chunks.id LEFT JOIN nodes ON nodes.id = contexts.node
        GROUP BY chunks.id;
    """,
    """
    ALTER TABLE contexts ADD COLUMN author TEXT;
    """,
    """
    CREATE TABLE entities (
        id TEXT PRIMARY KEY,
        number INTEGER NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        own_name TEXT,
        merged_into TEXT REFERENCES entities ON DELETE CASCADE
    ) WITHOUT ROWID;

    CREATE TABLE namings (
        id INTEGER PRIMARY KEY,
        entity TEXT NOT NULL REFERENCES entities ON DELETE CASCADE,
        context TEXT NOT NULL REFERENCES nodes ON DELETE CASCADE,
        name TEXT,
        relation TEXT
    );
    CREATE UNIQUE INDEX namings_once ON namings (entity, context, ifnull(name, ''), ifnull(relation, ''));
    CREATE INDEX namings_context ON namings (context);

    CREATE TABLE profile_sentences (
        id INTEGER PRIMARY KEY,
        entity TEXT NOT NULL REFERENCES entities ON DELETE CASCADE,
        place INTEGER NOT NULL,
        text TEXT NOT NULL
    );
    CREATE INDEX profile_sentences_entity ON profile_sentences (entity);

    CREATE TABLE sentence_sources (
        sentence INTEGER NOT NULL REFERENCES profile_sentences ON DELETE CASCADE,
        context TEXT NOT NULL REFERENCES nodes ON DELETE CASCADE,
        PRIMARY KEY (sentence, context)
    ) WITHOUT ROWID;
    CREATE INDEX sentence_sources_context ON sentence_sources (context);

    CREATE TABLE facts (
        id TEXT PRIMARY KEY,
        number INTEGER NOT NULL UNIQUE,
        entity TEXT NOT NULL REFERENCES entities ON DELETE CASCADE,
        kind TEXT NOT NULL,
        text TEXT NOT NULL,
        said_utc TEXT,
        said_offset INTEGER,
        happened_utc TEXT,
        happened_offset INTEGER,
        grain TEXT NOT NULL,
        doubtful INTEGER NOT NULL,
        original TEXT,
        replaced_by TEXT REFERENCES facts ON DELETE SET NULL,
        CHECK ((said_utc IS NULL) = (said_offset IS NULL)),
        CHECK ((happened_utc IS NULL) = (happened_offset IS NULL))
    ) WITHOUT ROWID;
    CREATE INDEX facts_entity ON facts (entity);
    CREATE INDEX facts_replaced_by ON facts (replaced_by);

    CREATE TABLE fact_sources (
        fact TEXT NOT NULL REFERENCES facts ON DELETE CASCADE,
        context TEXT NOT NULL REFERENCES nodes ON DELETE CASCADE,
        PRIMARY KEY (fact, context)
    ) WITHOUT ROWID;
    CREATE INDEX fact_sources_context ON fact_sources (context);

    CREATE TABLE profile_vectors (
        entity TEXT PRIMARY KEY REFERENCES entities ON DELETE CASCADE,
        vector BLOB NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE fact_vectors (
        fact TEXT PRIMARY KEY REFERENCES facts ON DELETE CASCADE,
        vector BLOB NOT NULL
    ) WITHOUT ROWID;

    CREATE TABLE entity_log (
        id INTEGER PRIMARY KEY,
        action TEXT NOT NULL,
        entity TEXT NOT NULL REFERENCES entities ON DELETE CASCADE,
        other TEXT REFERENCES entities ON DELETE CASCADE,
        moved TEXT NOT NULL,
        own_name TEXT
    );

    -- Nothing derived outlives its last source, and no vector the text it was made from.
    CREATE TRIGGER entity_unnamed AFTER DELETE ON namings
    WHEN NOT EXISTS (SELECT 1 FROM namings WHERE entity = OLD.entity)
    BEGIN DELETE FROM entities WHERE id = OLD.entity; END;
    CREATE TRIGGER sentence_unfounded AFTER DELETE ON sentence_sources
    WHEN NOT EXISTS (SELECT 1 FROM sentence_sources WHERE sentence = OLD.sentence)
    BEGIN DELETE FROM profile_sentences WHERE id = OLD.sentence; END;
    CREATE TRIGGER fact_unfounded AFTER DELETE ON fact_sources
    WHEN NOT EXISTS (SELECT 1 FROM fact_sources WHERE fact = OLD.fact)
    BEGIN DELETE FROM facts WHERE id = OLD.fact; END;
    CREATE TRIGGER profile_shortened AFTER DELETE ON profile_sentences
    BEGIN DELETE FROM profile_vectors WHERE entity = OLD.entity; END;
    CREATE TRIGGER profile_lengthened AFTER INSERT ON profile_sentences
    BEGIN DELETE FROM profile_vectors WHERE entity = NEW.entity; END;
    CREATE TRIGGER profile_moved AFTER UPDATE OF entity ON profile_sentences
    BEGIN DELETE FROM profile_vectors WHERE entity IN (OLD.entity, NEW.entity); END;
    """,
    """
    ALTER TABLE states ADD COLUMN stated INTEGER NOT NULL DEFAULT 0;

    CREATE TABLE pins (node TEXT PRIMARY KEY REFERENCES nodes ON DELETE CASCADE) WITHOUT ROWID;

    CREATE TABLE acts (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        deed TEXT NOT NULL,
        node TEXT REFERENCES nodes ON DELETE CASCADE,
        context TEXT REFERENCES nodes ON DELETE CASCADE,
        target TEXT REFERENCES nodes ON DELETE CASCADE,
        utc TEXT NOT NULL,
        offset_minutes INTEGER NOT NULL
    );

    CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);

    CREATE TABLE context_files (
        context TEXT NOT NULL REFERENCES nodes ON DELETE CASCADE,
        file INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,
        PRIMARY KEY (context, file)
    ) WITHOUT ROWID;
    CREATE INDEX context_files_file ON context_files (file);

    CREATE TABLE sweeps (words TEXT PRIMARY KEY) WITHOUT ROWID;
    """,
)


def check_version(connection: sqlite3.Connection, migrations: Sequence[str] = MIGRATIONS) -> bool:
    """Whether the database is up to date; raises StoreError on one that a newer release wrote."""
    version = _version(connection)
    if version > len(migrations):
        raise StoreError(
            f"this memory was written by a newer pgmem-local (schema {version}, this one knows {len(migrations)}); "
            "upgrade with `pip install -U pgmem-local`"
        )
    return version == len(migrations)


def migrate(connection: sqlite3.Connection, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Bring a database up to date, inside the write transaction its caller began."""
    for number in range(_version(connection), len(migrations)):
        for statement in _statements(migrations[number]):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {number + 1}")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _statements(script: str) -> Iterator[str]:
    """The statements of a script one by one: `executescript` would end the transaction that makes a migration whole."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
