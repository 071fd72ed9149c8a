"""Results as they come, one JSON line each, so that a broken run goes on where it stopped. Another run's file is not used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pgmem_local.ports import Spent


@dataclass(frozen=True)
class Outcome:
    """One result with what it cost. result: the fields of the task's own result. memory_bytes: the most the process took for it."""

    id: str
    result: dict[str, Any]
    spent: Spent
    memory_bytes: int = 0


@dataclass(frozen=True)
class Build:
    """A memory built: turns learned, what that cost, the bytes it takes on disk, and the most the process took while building it.

    checks: what was found wrong or right with what it holds, by the task's own names.
    """

    id: str
    turns: int
    spent: Spent
    disk_bytes: int
    memory_bytes: int = 0
    checks: dict[str, float | None] = field(default_factory=dict)


class Journal:
    """The results of one run, by system and id. stamp: what a run must have in common with the file to go on with it."""

    def __init__(self, path: Path, stamp: str) -> None:
        self._path = path
        self._outcomes: dict[str, dict[str, Outcome]] = {}
        self._builds: dict[str, dict[str, Build]] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = list(_whole_lines(path))
        if not lines or lines[0].get("stamp") != stamp:
            path.write_text(json.dumps({"stamp": stamp}) + "\n", encoding="utf-8")
            return
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")  # without a line cut off
        for line in lines[1:]:
            self._take(line)

    def outcomes(self, system: str) -> dict[str, Outcome]:
        return dict(self._outcomes.get(system, {}))

    def builds(self, system: str) -> dict[str, Build]:
        return dict(self._builds.get(system, {}))

    def add(self, system: str, one: Outcome | Build) -> None:
        line = {"system": system, "kind": "build" if isinstance(one, Build) else "outcome", **asdict(one)}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        self._take(line)

    def _take(self, line: dict[str, Any]) -> None:
        fields = {name: value for name, value in line.items() if name not in ("system", "kind", "spent")}
        spent = Spent(**line["spent"])
        if line["kind"] == "build":
            self._builds.setdefault(line["system"], {})[line["id"]] = Build(spent=spent, **fields)
        else:
            self._outcomes.setdefault(line["system"], {})[line["id"]] = Outcome(spent=spent, **fields)


def _whole_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Every line that was written to its end."""
    if not path.is_file():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            return
        yield value
