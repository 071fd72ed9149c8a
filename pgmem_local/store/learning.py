"""The lock that lets one process at a time learn, while others may add turns and read. The system frees it when its holder dies.

The file says who holds it and how far it is, for `pgmem status` in another terminal: numbers only, nothing of what is learned.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pgmem_local.errors import StoreBusy
from pgmem_local.store.place import private_file

PATIENCE_SECONDS = 5.0
"""How long a second learner waits: another may be about to end. Learning takes minutes, so nobody waits longer unasked."""
_POLL_SECONDS = 0.1
_LOCKED_BYTE = 1 << 20
"""Windows locks bytes and hides them from other processes; this one lies behind what the holder notes."""
_LONGEST_NOTE = 512


@dataclass(frozen=True)
class Learner:
    """The process that learns: since when (seconds since 1970), and how many of the Contexts that were pending it has done."""

    process: int
    began: float
    done: int = 0
    total: int = 0


class LearningLock:
    """The held lock."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._learner = Learner(os.getpid(), time.time())
        self.note(0, 0)

    def note(self, done: int, total: int) -> None:
        """Let others see how far learning is."""
        self._learner = replace(self._learner, done=done, total=total)
        text = json.dumps(asdict(self._learner)).encode().ljust(_LONGEST_NOTE)  # one write of one length: never read halfway
        with suppress(OSError):  # a courtesy, for which no full disk may stop the learning
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, text)


@contextmanager
def learning_lock(path: Path) -> Iterator[LearningLock]:
    """Hold the lock, or raise StoreBusy where another process does not end in time."""
    private_file(path)
    descriptor = os.open(path, os.O_RDWR)
    try:
        if not _lock_in_time(descriptor, PATIENCE_SECONDS):
            holder = _noted(descriptor)
            number = f" (process {holder.process})" if holder else ""
            raise StoreBusy(
                f"another pgmem{number} is learning in this memory; what you added is stored. "
                "`pgmem status` shows how far it is; wait until it is done, or stop it"
            )
        yield LearningLock(descriptor)
    finally:
        os.close(descriptor)


def current_learner(path: Path) -> Learner | None:
    """Who is learning now; None where nobody is."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return None
    try:
        return None if _try_lock(descriptor) else _noted(descriptor)
    finally:
        os.close(descriptor)


def _lock_in_time(descriptor: int, patience: float) -> bool:
    deadline = time.monotonic() + patience
    while not _try_lock(descriptor):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _noted(descriptor: int) -> Learner | None:
    """What the holder noted; None before its first note, or where an earlier release wrote it."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    try:
        return Learner(**json.loads(os.read(descriptor, _LONGEST_NOTE)))
    except (ValueError, TypeError):
        return None


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
