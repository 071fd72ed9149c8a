"""What a head was evaluated to, kept in a folder from one run to the next: one file, private, worthless with anything but what made it.

The file holds what the model read, in its own numbers: whoever deletes what was said must delete this folder too.
"""

from __future__ import annotations

import hashlib
import os
import zlib
from contextlib import suppress
from pathlib import Path

_MAGIC = b"pgmem head state 1\n"
_SUFFIX = ".state"
_EDGE = 1 << 20


def fingerprint(path: Path) -> bytes:
    """Of a weights file: its size, its time and its two ends. Hashing the whole of it would take longer than loading it."""
    about = path.stat()
    digest = hashlib.sha256(f"{about.st_size} {about.st_mtime_ns}".encode())
    with path.open("rb") as file:
        digest.update(file.read(_EDGE))
        file.seek(max(about.st_size - _EDGE, 0))
        digest.update(file.read(_EDGE))
    return digest.digest()


def is_kept(folder: Path, key: str) -> bool:
    return _file(folder, key).is_file()


def load_state(folder: Path, key: str) -> bytes | None:
    """The state kept under this very key; None where there is none or it is damaged."""
    try:
        stored = _file(folder, key).read_bytes()
    except OSError:
        return None
    body = stored[len(_MAGIC) + 4 :]
    if stored[: len(_MAGIC) + 4] == _MAGIC + _checksum(body):
        return body
    _file(folder, key).unlink(missing_ok=True)
    return None


def save_state(folder: Path, key: str, state: bytes) -> None:
    """Keep a state in place of all others: written aside, then renamed. A full disk is no reason to stop: it is only faster with it."""
    target = _file(folder, key)
    aside = target.with_suffix(f".{os.getpid()}.part")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(_MAGIC + _checksum(state) + state)
        aside.replace(target)
        forget_states(folder, but=target)
    except OSError:
        with suppress(OSError):
            aside.unlink(missing_ok=True)


def forget_states(folder: Path, but: Path | None = None) -> None:
    """Delete all kept states: those of other models and earlier notes, and what a process that was killed left half written."""
    for path in (*folder.glob(f"*{_SUFFIX}"), *folder.glob("*.part")):
        if path != but:
            path.unlink(missing_ok=True)


def _file(folder: Path, key: str) -> Path:
    return folder / f"{key}{_SUFFIX}"


def _checksum(body: bytes) -> bytes:
    return zlib.crc32(body).to_bytes(4, "big")
