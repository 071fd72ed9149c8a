"""What a run must tell about itself so that it can be repeated and its seconds compared: code, weights, machine, raw speed."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil

from pgmem_local import __version__
from pgmem_local.ports import ChatModel, Head, Prompt, Spent

_PASSAGE = "The ferry leaves at nine and the tide turns at noon; then the harbour lies dry and gulls walk where the boats were. "
_PASSAGES = 12
_WRITTEN_TOKENS = 24
_WATCH_SECONDS = 0.1


@dataclass(frozen=True)
class Weights:
    """The chat model's file, as far as it is known."""

    name: str
    file: str | None = None
    bytes: int | None = None
    sha256: str | None = None

    @classmethod
    def of(cls, name: str, path: Path) -> Weights:
        with path.open("rb") as file:
            total = hashlib.sha256()
            while block := file.read(1 << 22):
                total.update(block)
        return cls(name, path.name, path.stat().st_size, total.hexdigest())


@dataclass(frozen=True)
class RawSpeed:
    """Tokens a second of the model alone: of a prompt read, and written. None where it is too fast to measure."""

    prompt: float | None
    written: float | None

    def seconds(self, spent: Spent) -> float | None:
        """What the tokens of a call would take at this speed."""
        if not self.prompt or not self.written:
            return None
        return spent.evaluated / self.prompt + spent.written / self.written


def measure_speed(model: ChatModel) -> RawSpeed:
    """A few seconds of one prompt read and one short text written, nothing shared and nothing batched."""
    head = Head("speed", "You go on with a text.")
    model.ledger.take()
    model.choose([Prompt(head, _PASSAGE * _PASSAGES)], (" Yes", " No"))
    reading = model.ledger.total()
    model.ledger.take()
    model.write([Prompt(head, _PASSAGE)], _WRITTEN_TOKENS)
    writing = model.ledger.total()
    model.ledger.take()
    prompt = reading.evaluated / reading.seconds if reading.seconds > 0 else None
    left = writing.seconds - (writing.evaluated / prompt if prompt else 0.0)
    return RawSpeed(prompt, writing.written / left if left > 0 else None)


def used_memory() -> int:
    """Bytes of this process in memory now."""
    return int(psutil.Process().memory_info().rss)


class MemoryWatch:
    """The most memory that this process takes while something runs, looked at ten times a second."""

    def __init__(self, seconds: float = _WATCH_SECONDS) -> None:
        self._seconds, self._most, self._done = seconds, 0, threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memory watch", daemon=True)

    def __enter__(self) -> MemoryWatch:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._done.set()
        self._thread.join()

    def take(self) -> int:
        """The most bytes since the last take."""
        most, self._most = max(self._most, used_memory()), 0
        return most

    def _watch(self) -> None:
        while not self._done.wait(self._seconds):
            self._most = max(self._most, used_memory())


def describe_machine() -> dict[str, Any]:
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": psutil.cpu_count(logical=False),
        "threads": os.cpu_count(),
        "memory_bytes": psutil.virtual_memory().total,
        "python": sys.version.split()[0],
    }


def describe_code() -> dict[str, Any]:
    return {"version": __version__, "commit": _git("rev-parse", "HEAD"), "changed": bool(_git("status", "--porcelain", "--", "."))}


def _processor() -> str:
    names = Path("/proc/cpuinfo")
    if names.is_file():
        for line in names.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _git(*arguments: str) -> str | None:
    """What git says of the checkout this package lies in; None without git or checkout."""
    folder = Path(__file__).resolve().parents[1]
    if shutil.which("git") is None or not (folder.parent / ".git").exists():
        return None
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None
