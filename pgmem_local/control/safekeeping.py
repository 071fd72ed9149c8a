"""Backups: one file, checked as soon as it is written; and the way back, which keeps the present memory until the other is in place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pgmem_local.control.opened import Opened
from pgmem_local.errors import StoreError
from pgmem_local.store import MemoryStore
from pgmem_local.store.place import private_file


@dataclass(frozen=True)
class Kept:
    """A backup that was checked: its size in bytes, and how many rows and nodes of each kind it holds."""

    path: Path
    size: int
    counts: Mapping[str, int]


def backup(memory: Opened, path: Path) -> Kept:
    """Write a new file. Raises StoreError where one is there already, or where the copy is not what it should be."""
    path = path.expanduser().absolute()
    if path.exists():
        raise StoreError(f"{path} is there already and is not overwritten; name another file")
    with _aside(path.with_name(f"{path.name}.{os.getpid()}.tmp")) as aside:
        expected = memory.store.copy_to(aside)
        if memory.store.check_copy(aside) != expected:
            raise StoreError(f"the copy in {path} does not hold what the memory holds; check the disk and try again")
        aside.replace(path)
    return Kept(path, path.stat().st_size, expected)


def restore(memory: Opened, path: Path) -> Kept:
    """Check a backup, put it in place, check again; the memory as it was comes back where that fails.

    Raises StoreError on a file that is no backup or is damaged, with nothing changed, and StoreBusy while something is being learned.
    """
    path = path.expanduser().absolute()
    folder = memory.store.place.folder
    with (
        memory.store.learning(),
        _aside(folder / f"restore.{os.getpid()}.tmp") as candidate,
        _aside(folder / f"before.{os.getpid()}.tmp") as present,
    ):
        _copy_file(path, candidate)
        counts = memory.store.check_copy(candidate)
        memory.store.copy_to(present)
        _put_in_place(memory.store, candidate, counts, present)
        memory.refresh()
        memory.vectors.rebuild()
    return Kept(path, path.stat().st_size, counts)


def _put_in_place(store: MemoryStore, candidate: Path, counts: Mapping[str, int], present: Path) -> None:
    if store.replace_content(candidate) == counts and not store.integrity_check():
        return
    store.replace_content(present)
    raise StoreError("the backup did not arrive whole, and the memory is as it was; check the disk and try again")


def _copy_file(source: Path, target: Path) -> None:
    try:
        if source.stat().st_size == 0:
            raise StoreError(f"{source} is empty; name a file that `pgmem backup` wrote")
        shutil.copyfile(source, target)
    except OSError as error:
        raise StoreError(f"cannot read {source}: {error.strerror}; name a file that `pgmem backup` wrote") from error


@contextmanager
def _aside(path: Path) -> Iterator[Path]:
    """A private file for a while. What a crash leaves of it is removed when the memory is next swept."""
    private_file(path)
    try:
        yield path
    finally:
        for one in (path, *(path.with_name(f"{path.name}{suffix}") for suffix in ("-journal", "-wal", "-shm"))):
            one.unlink(missing_ok=True)
