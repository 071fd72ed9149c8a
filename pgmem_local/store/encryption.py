"""Encrypting, decrypting and rekeying a memory. The database is copied into a new file, compared with the old one row by row, and put
in its place by one rename: a process may die at any moment and leaves the old memory or the new one, whole.

An encrypted memory keeps nothing beside its database: no index file, no evaluated prompt, no typed line, no rejected record. What was
there is overwritten and removed. (Flash memory may keep old blocks for a while all the same; only disk encryption reaches those.)
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from pgmem_local.errors import StoreBusy, StoreError
from pgmem_local.store import integrity
from pgmem_local.store.cipher import connect, is_encrypted, sqlcipher
from pgmem_local.store.database import Database, explained
from pgmem_local.store.learning import learning_lock
from pgmem_local.store.passphrase import find_passphrase
from pgmem_local.store.place import Place, private_file

_OWN_NAMES = ("memory.db", "memory.db-wal", "memory.db-shm", "learning.lock")
_BUSY_SECONDS = 5.0
_BLOCK = 1 << 20


def convert(place: Place, old: str | None, new: str | None) -> None:
    """Give a memory another passphrase; None is none. Raises StoreBusy where another process has it open.

    Raises StoreError where the old passphrase is wrong or the copy is not the same as the original, which then stays as it was.
    """
    sqlcipher()
    if not place.database.exists():
        raise StoreError(f"there is no memory in {place.folder}; begin one with `pgmem ingest FILE`")
    with learning_lock(place.learning_lock):
        discard(new_file(place))
        try:
            freed = _replaced(place, old, new)
        except OSError as error:
            raise StoreError(f"{place.folder} could not be converted ({error.strerror}); it is as it was, free some space") from error
        finally:
            discard(new_file(place))  # gone where it has taken its place
        _overwrite_and_close(freed)


def _replaced(place: Place, old: str | None, new: str | None) -> int:
    """Make the copy and put it in place; the descriptor of the file that was there."""
    with _only_connection(place.database, old) as connection:
        private_file(new_file(place))
        _copy(connection, new_file(place), new)
        _verify(new_file(place), new)
        return _swap(place)


def open_database(place: Place, busy_seconds: float, prompt: Callable[[], str] | None = None) -> Database:
    """The database of a memory, plain or encrypted, also where it becomes the other while it is being opened."""
    while True:
        encrypted = is_encrypted(place.database)
        passphrase = find_passphrase(place, prompt) if encrypted else None
        try:
            database = Database(place.database, place.warning is None, busy_seconds, passphrase)
        except StoreError:
            if is_encrypted(place.database) == encrypted:
                raise
            continue
        if database.is_current:
            return database
        database.close()


def new_file(place: Place) -> Path:
    """The copy while it is being made; one that a dead process left is of no use."""
    return place.folder / "memory.db.new"


def drop_leftover(place: Place) -> None:
    """Remove the unfinished copy of a process that died; one that is still being made is left alone."""
    if new_file(place).exists():
        try:
            with learning_lock(place.learning_lock):
                discard(new_file(place))
        except StoreBusy:
            return


def plain_files(place: Place) -> list[Path]:
    """What lies beside the database of a memory and is not encrypted by it."""
    return sorted(path for path in place.folder.rglob("*") if path.is_file() and path.name not in _OWN_NAMES)


def discard_derived(place: Place) -> None:
    """Remove index files and evaluated prompts, which an encrypted memory makes anew in memory."""
    for folder in (place.index_folder, place.model_states):
        for path in folder.glob("*"):
            discard(path)


def discard(path: Path) -> None:
    """Overwrite a file and remove it; one that is not there is no error."""
    try:
        descriptor = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        return
    path.unlink()
    _overwrite_and_close(descriptor)


@contextmanager
def _only_connection(path: Path, passphrase: str | None) -> Iterator[sqlite3.Connection]:
    """The one connection there is, with all of the log in the database: what another wrote later would be lost with the old file."""
    with explained(path, encrypted=True), closing(_open(path, passphrase)) as connection:
        _leave_the_log(connection, path)
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("COMMIT")  # the lock stays until the connection is closed
        yield connection


def _leave_the_log(connection: sqlite3.Connection, path: Path) -> None:
    """Only a connection that is alone can."""
    try:
        with explained(path, encrypted=True):
            mode = connection.execute("PRAGMA journal_mode = DELETE").fetchone()[0]
    except StoreBusy:
        mode = "busy"
    if mode != "delete":
        raise StoreBusy(f"another process has {path} open; end it (a chat, an ingest) and try again")


def _open(path: Path, passphrase: str | None) -> sqlite3.Connection:
    """Also a plain database by SQLCipher, which can write an encrypted one."""
    return connect(path, _BUSY_SECONDS, passphrase, sqlcipher())


def _copy(connection: sqlite3.Connection, target: Path, passphrase: str | None) -> None:
    connection.execute("ATTACH DATABASE ? AS target KEY ?", (str(target), passphrase or ""))
    connection.execute("SELECT sqlcipher_export('target')")
    version = connection.execute("PRAGMA main.user_version").fetchone()[0]
    connection.execute(f"PRAGMA target.user_version = {version}")
    for table in _tables(connection):
        for one, other in (("main", "target"), ("target", "main")):
            if connection.execute(f'SELECT 1 FROM (SELECT * FROM {one}."{table}" EXCEPT SELECT * FROM {other}."{table}")').fetchone():
                raise StoreError(f"the copy of {table} is not the same as the original; nothing was changed, please report this")
    connection.execute("DETACH DATABASE target")


def _tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    return [row["name"] for row in rows]


def _verify(path: Path, passphrase: str | None) -> None:
    """Whether the copy opens with its passphrase, and with nothing but it, and keeps its promises."""
    if is_encrypted(path) is not (passphrase is not None):
        raise StoreError("the copy is not encrypted as it was asked to be; nothing was changed, please report this")
    with closing(_open(path, passphrase)) as connection:
        if problems := integrity.problems(connection):
            raise StoreError(f"the memory is damaged ({problems[0]}); nothing was changed, `pgmem doctor` tells more")


def _swap(place: Place) -> int:
    """Put the copy in place of the memory; the descriptor of what was there before.

    It is overwritten after the connection is closed: closing another descriptor of the file would end the connection's lock.
    """
    with new_file(place).open("r+b") as file:
        os.fsync(file.fileno())
    freed = os.open(place.database, os.O_RDWR | getattr(os, "O_BINARY", 0))
    new_file(place).replace(place.database)
    if os.name == "posix":
        folder = os.open(place.folder, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
    return freed


def _overwrite_and_close(descriptor: int) -> None:
    try:
        for start in range(0, os.fstat(descriptor).st_size, _BLOCK):
            length = min(_BLOCK, os.fstat(descriptor).st_size - start)
            os.lseek(descriptor, start, os.SEEK_SET)
            os.write(descriptor, bytes(length))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
