"""Records that could not be read, kept beside the memory so that they can be repaired and ingested again.

The file is JSON Lines: {"file", "line", "reason", "raw"}, where `raw` is the line as it stood (secrets masked). Repair `raw`, or
put a good record in place of the whole line, and ingest the rejects file like any other. What came from another format than JSON
Lines is marked with the format's name, "(whatsapp) …": it is no record before {"timestamp", "text"} or a chat turn stands in its
place, since words of others must not pass for the owner's.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from pgmem_local.errors import IngestError

_AS_FOUND = re.compile(r"\(([a-z_]+)\) ")


def as_found(format_name: str, text: str) -> str:
    """`raw` of a record of another format than JSON Lines."""
    return f"({format_name}) {text}"


@dataclass(frozen=True)
class Reject:
    """A record that was not stored. Bytes of `raw` that are not UTF-8 are kept as U+DC80 to U+DCFF (surrogateescape)."""

    path: str
    line: int
    reason: str
    raw: str

    @property
    def foreign(self) -> str | None:
        """The name of the other format whose record `raw` still is."""
        match = _AS_FOUND.match(self.raw)
        return match[1] if match else None

    def to_json(self) -> str:
        """One line, in readable letters where they can be encoded."""
        record = {"file": self.path, "line": self.line, "reason": self.reason, "raw": self.raw}
        readable = json.dumps(record, ensure_ascii=False)
        return readable if _encodes(readable) else json.dumps(record)

    @classmethod
    def from_record(cls, record: dict[str, object]) -> Reject | None:
        """The reject a parsed line of a rejects file stands for, or None where the line is something else."""
        path, line, reason, raw = (record.get(name) for name in ("file", "line", "reason", "raw"))
        if isinstance(path, str) and isinstance(line, int) and isinstance(reason, str) and isinstance(raw, str):
            return cls(path, line, reason, raw)
        return None


class RejectsFile:
    """Appends rejects to a file only its owner can read, made when the first one comes. The same reject is kept once.

    Without a path nothing is kept: an encrypted memory leaves no words lying in the open. They still stand in the file they came from.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._descriptor: int | None = None
        self._kept: set[int] = set()

    def add(self, reject: Reject) -> None:
        if self.path is None:
            return
        if self._descriptor is None:
            self._descriptor = self._open(self.path)
        line = reject.to_json().encode("utf-8")
        digest = _digest(line)
        if digest in self._kept:
            return
        try:
            os.write(self._descriptor, line + b"\n")
        except OSError as error:
            raise self._unusable(error) from error
        self._kept.add(digest)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> RejectsFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _open(self, path: Path) -> int:
        try:
            with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
                self._kept = {_digest(line.removesuffix(b"\n")) for line in file}
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.chmod(path, 0o600)
        except OSError as error:
            raise self._unusable(error) from error
        return descriptor

    def _unusable(self, error: OSError) -> IngestError:
        return IngestError(f"rejected records cannot be kept in {self.path} ({error.strerror}); make room or name another place")


def _digest(line: bytes) -> int:
    """Tells lines apart in the memory of a number: a file of damaged records may have millions."""
    return int.from_bytes(hashlib.blake2b(line, digest_size=8).digest(), "big")


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
