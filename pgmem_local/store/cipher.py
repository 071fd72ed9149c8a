"""Connections to a memory, plain or encrypted. SQLCipher (the extra `encrypted`) encrypts every page of the database and its log.

An encrypted database has no header that tells it: it is one that does not begin as SQLite's files do and consists of whole pages.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from types import ModuleType
from typing import cast

from pgmem_local.errors import StoreError

_PLAIN_HEADER = b"SQLite format 3\x00"
_PAGE = 4096


def is_encrypted(path: Path) -> bool:
    """Whether a file can only be opened with a passphrase; a missing or empty one cannot be."""
    try:
        with path.open("rb") as file:
            header = file.read(len(_PLAIN_HEADER))
        return len(header) == len(_PLAIN_HEADER) and header != _PLAIN_HEADER and path.stat().st_size % _PAGE == 0
    except OSError:
        return False


def connect(path: Path, seconds: float, passphrase: str | None = None, driver: ModuleType | None = None) -> sqlite3.Connection:
    """A connection without automatic transactions. A wrong passphrase shows only when something is read."""
    driver = driver or (sqlite3 if passphrase is None else sqlcipher())
    connection = driver.connect(str(path), timeout=seconds, isolation_level=None, check_same_thread=False)
    connection.row_factory = driver.Row
    if passphrase is not None:
        connection.execute(f"PRAGMA key = {quoted(passphrase)}")
    return cast(sqlite3.Connection, connection)


def database_errors(encrypted: bool) -> tuple[type[Exception], ...]:
    """What a connection raises: SQLCipher's errors are no `sqlite3.Error`."""
    return (sqlite3.Error, sqlcipher().Error) if encrypted else (sqlite3.Error,)


def sqlcipher() -> ModuleType:
    """The driver. Raises StoreError where the extra is not installed."""
    try:
        from sqlcipher3 import dbapi2
    except ImportError as error:
        raise StoreError("an encrypted memory needs an extra: `pip install 'pgmem-local[encrypted]'`") from error
    return cast(ModuleType, dbapi2)


def quoted(passphrase: str) -> str:
    """A passphrase as SQL text: PRAGMA takes no parameters."""
    if not passphrase or "\x00" in passphrase:
        raise StoreError("a passphrase has at least one character and no NUL; choose another")
    return "'" + passphrase.replace("'", "''") + "'"
