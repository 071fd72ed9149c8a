"""The lock that lets one process at a time learn, while others may add turns and read. The system frees it when its holder dies."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pgmem_local.errors import StoreBusy
from pgmem_local.store.place import private_file

_LOCKED_BYTE = 1 << 20
"""Windows locks bytes and hides them from other processes; this one lies behind the holder's number."""


@contextmanager
def learning_lock(path: Path) -> Iterator[None]:
    """Hold the lock or raise StoreBusy at once; learning takes minutes, so nobody waits for it unasked."""
    private_file(path)
    descriptor = os.open(path, os.O_RDWR)
    try:
        if not _try_lock(descriptor):
            holder = os.pread(descriptor, 32, 0) if hasattr(os, "pread") else b""
            number = f" (process {int(holder)})" if holder.strip().isdigit() else ""
            raise StoreBusy(f"another pgmem{number} is learning in this memory; wait until it is done, or stop it")
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
