"""A download in the making: NAME.part, and NAME.part.json that says from where it comes and how far it is.

The finished name appears only through `accept`, so whatever bears it was verified.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO


@dataclass(frozen=True)
class Done:
    """What an earlier attempt finished: whole parts, and the bytes they make."""

    origin: str
    parts: int = 0
    bytes: int = 0


class PartFile:
    def __init__(self, target: Path) -> None:
        self.target = target
        self.path = target.with_name(f"{target.name}.part")
        self.scratch = target.with_name(f"{target.name}.wheels")
        self._side = target.with_name(f"{target.name}.part.json")
        target.parent.mkdir(parents=True, exist_ok=True)

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def done(self, origin: str) -> Done:
        """What can be built upon: nothing if the part comes from elsewhere, or is shorter than its side file says."""
        marked = self._marked()
        return marked if marked and marked.origin == origin and marked.bytes <= self.size else Done(origin)

    def continues(self, origin: str) -> bool:
        """Whether what is there was begun from this origin."""
        marked = self._marked()
        return marked is not None and marked.origin == origin

    def _marked(self) -> Done | None:
        try:
            return Done(**json.loads(self._side.read_text(encoding="utf-8")))
        except (FileNotFoundError, ValueError, TypeError):
            return None

    def mark(self, done: Done) -> None:
        aside = self._side.with_name(f"{self._side.name}.new")
        aside.write_text(json.dumps(asdict(done)), encoding="utf-8")
        os.replace(aside, self._side)

    @contextmanager
    def append_from(self, start: int) -> Iterator[BinaryIO]:
        """Writes on after the first `start` bytes; what lies beyond, half a part perhaps, is dropped."""
        with self.path.open("r+b" if self.path.exists() else "wb") as file:
            file.truncate(start)
            file.seek(start)
            yield file

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)
        self._side.unlink(missing_ok=True)

    def accept(self) -> None:
        """The part is what it should be: it gets its name."""
        with self.path.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(self.path, self.target)
        self._side.unlink(missing_ok=True)
