"""One SQLite connection, shared by threads under one lock: short read and write transactions, and errors that say what to do.

Transactions are context managers and no method of the store hands one out, so no model call can run inside one.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TypeVar

from pgmem_local.errors import StoreBusy, StoreError, WrongPassphrase
from pgmem_local.store.cipher import connect, database_errors, is_encrypted
from pgmem_local.store.place import private_file
from pgmem_local.store.schema import check_version, migrate
from pgmem_local.words import folded

Result = TypeVar("Result")


class Database:
    """The connection to one memory. `wal` is False where shared memory between processes cannot be trusted (network disks).

    Raises WrongPassphrase where the passphrase, None for a plain database, does not open it.
    """

    def __init__(self, path: Path, wal: bool, busy_seconds: float, passphrase: str | None = None) -> None:
        self._path = path
        self.encrypted = passphrase is not None
        self._passphrase = passphrase
        self._busy_seconds = busy_seconds
        self._lock = threading.RLock()
        private_file(path)  # SQLite gives -wal and -shm the rights of the database itself
        self._file = path.stat().st_ino
        with self._explained():
            self._connection = connect(path, busy_seconds, passphrase)
        try:
            self._configure(wal)
        except BaseException:
            self._connection.close()
            raise

    def _configure(self, wal: bool) -> None:
        connection = self._connection
        connection.create_function("folded", 1, folded, deterministic=True)
        with self._explained():
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("PRAGMA temp_store = MEMORY")  # no copy of the user's words in a folder of temporary files
            self._set_journal("wal" if wal else "delete")
            up_to_date = check_version(connection)
        if not up_to_date:
            with self.write():
                migrate(connection)

    def _set_journal(self, mode: str) -> None:
        """SQLite does not wait for other processes here, so we do: two that open a new memory at once would fail otherwise."""
        deadline = time.monotonic() + self._busy_seconds
        while True:
            try:
                if self._connection.execute("PRAGMA journal_mode").fetchone()[0] != mode:
                    self._connection.execute(f"PRAGMA journal_mode = {mode}")
                return
            except database_errors(self.encrypted) as error:
                if not _is_busy(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    @property
    def is_current(self) -> bool:
        """Whether the file that was opened is still the memory: encrypting puts another in its place."""
        return self._path.stat().st_ino == self._file

    def _explained(self) -> AbstractContextManager[None]:
        return explained(self._path, self.encrypted)

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """One consistent view of the database, whatever other processes write meanwhile."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """All or nothing. Raises StoreBusy where another process holds the write lock too long.

        A transaction that changed a row raises the memory's revision by one; one that changed nothing leaves no trace.
        """
        with self._transaction("BEGIN IMMEDIATE") as connection:
            before = connection.total_changes
            yield connection
            if connection.total_changes != before:
                connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'revision'")

    @contextmanager
    def rehearse(self) -> Iterator[sqlite3.Connection]:
        """A write that is taken back whatever happens: to see what it would do. Raises StoreBusy like a write."""
        with self._lock, self._explained():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock, self._explained():
            self._connection.execute(begin)
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def copy_to(self, path: Path, count: Callable[[sqlite3.Connection], Result]) -> Result:
        """Write all there is into another database file, one file alone, with the same passphrase; what `count` says of it."""
        with self.read() as connection, explained(path, self.encrypted):
            with closing(connect(path, self._busy_seconds, self._passphrase)) as target:
                connection.backup(target)
                target.execute("PRAGMA journal_mode = delete")
            return count(connection)

    def beside(self, path: Path) -> Database:
        """Another database with the same passphrase: a copy of this one."""
        if is_encrypted(path) is not self.encrypted:
            kind = "encrypted" if is_encrypted(path) else "not encrypted"
            raise StoreError(f"{path} is {kind}, and the memory is the opposite; `pgmem encrypt` and `pgmem decrypt` make them alike")
        return Database(path, wal=False, busy_seconds=self._busy_seconds, passphrase=self._passphrase)

    def take_over(self, path: Path) -> None:
        """Put what another database file holds in the place of all there is, at once. Raises StoreBusy where a reader does not end."""
        deadline = time.monotonic() + self._busy_seconds

        def progress(status: int, remaining: int, total: int) -> None:
            if remaining and time.monotonic() > deadline:
                raise StoreBusy("another process does not stop reading this memory; end it and try again")

        with self._lock, self._explained(), closing(connect(path, self._busy_seconds, self._passphrase)) as source:
            source.backup(self._connection, progress=progress)

    def scrub(self) -> None:
        """Leave nothing of deleted rows on free pages or in the log: rewrite the file, empty the log. Raises StoreBusy where another
        process does not let go of an older view in time."""
        with self._lock, self._explained():
            self._connection.execute("VACUUM")
            deadline = time.monotonic() + self._busy_seconds
            while self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                if time.monotonic() > deadline:
                    raise StoreBusy(
                        "it is forgotten, but another process still reads an older view, and the log cannot be emptied; "
                        "it will be when the memory is next opened after that process has ended"
                    )
                time.sleep(0.05)

    def close(self) -> None:
        with self._lock:
            self._connection.close()


@contextmanager
def explained(path: Path, encrypted: bool) -> Iterator[None]:
    """Turn what SQLite or SQLCipher raises into what its owner can do about it."""
    errors = database_errors(encrypted)
    try:
        yield
    except errors as error:
        raise _store_error(error, path, encrypted) from error


def _store_error(error: Exception, path: Path, encrypted: bool) -> StoreError:
    reason = str(error)
    if _is_busy(error):
        return StoreBusy("another process is writing to this memory and did not finish in time; try again when it is done")
    if "readonly" in reason or "unable to open" in reason:
        return StoreError(f"cannot write {path} ({reason}); free the folder or choose another --home")
    if "full" in reason:
        return StoreError(f"the disk of {path} is full; nothing was written, free some space and try again")
    if encrypted and "not a database" in reason:
        return WrongPassphrase(f"this passphrase does not open {path}; try another, or put a copy back if the file may be damaged")
    if "malformed" in reason or "not a database" in reason:
        return StoreError(f"{path} is damaged or is not a memory ({reason}); put a copy of it back, or move it away to begin anew")
    return StoreError(f"{path}: {reason}")


def _is_busy(error: Exception) -> bool:
    return type(error).__name__ == "OperationalError" and ("locked" in str(error) or "busy" in str(error))
