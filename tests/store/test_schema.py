from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pgmem_local.errors import StoreError
from pgmem_local.store import MemoryStore, Place
from pgmem_local.store.schema import MIGRATIONS, check_version, migrate
from tests.store.builders import open_store


def version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def test_a_database_is_brought_up_from_every_earlier_version() -> None:
    migrations = (*MIGRATIONS, "CREATE TABLE later (a TEXT);\nCREATE TABLE last (b TEXT DEFAULT 'x;y');")
    for earlier in range(len(migrations) + 1):
        connection = sqlite3.connect(":memory:", isolation_level=None)
        migrate(connection, migrations[:earlier])
        assert check_version(connection, migrations) == (earlier == len(migrations))
        migrate(connection, migrations)
        assert version(connection) == len(migrations)
        connection.execute("SELECT * FROM nodes, later, last")


def test_a_migration_that_fails_leaves_the_database_as_it_was() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, ("CREATE TABLE one (a TEXT);\nCREATE TABLE one (a TEXT);",))
    connection.execute("ROLLBACK")
    assert version(connection) == 0
    assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0


def test_a_database_of_a_newer_release_is_refused_and_not_touched(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    database = Place(tmp_path).database
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = database.read_bytes()
    with pytest.raises(StoreError, match="newer pgmem-local"):
        MemoryStore.open(tmp_path)
    assert database.read_bytes() == before


def test_a_file_that_is_no_database_gets_a_clear_error(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.prepare()
    place.database.write_text("<html>not a database</html>" * 100)
    with pytest.raises(StoreError, match="damaged or is not a memory"):
        MemoryStore.open(tmp_path)


def test_no_table_but_ours_holds_words(tmp_path: Path) -> None:
    """Deleted words stay readable in a full-text table, whatever is vacuumed."""
    open_store(tmp_path).close()
    with sqlite3.connect(Place(tmp_path).database) as connection:
        assert not connection.execute("SELECT name FROM sqlite_master WHERE sql LIKE '%VIRTUAL%'").fetchall()
