"""Two runs, or two systems of one run, on the same items: paired differences with intervals, which single runs cannot give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgmem_local.bench.datasets.files import read_json
from pgmem_local.bench.scoring.intervals import Difference, differences
from pgmem_local.bench.tasks import TASKS
from pgmem_local.errors import IngestError


@dataclass(frozen=True)
class Comparison:
    """What `ours` gains over `theirs` on the items that both answered."""

    task: str
    ours: str
    theirs: str
    items: int
    gains: Mapping[str, Difference]


def compare(first: Path, second: Path, system: str | None = None, against: str | None = None, seed: int = 0) -> list[Comparison]:
    """The second run minus the first, for each system in both, or for `system` of the second against `against` of the first.

    Raises IngestError where the files are not of one task or share nothing.
    """
    one, other = read_json(first), read_json(second)
    for path, run in ((first, one), (second, other)):
        if not isinstance(run, dict) or run.get("task") not in TASKS or "items" not in run:
            raise IngestError(f"{path} is no result of `pgmem bench`; give two files TASK.json that it wrote")
    if one["task"] != other["task"]:
        raise IngestError(f"{first} is a run of {one['task']}, {second} of {other['task']}: compare two runs of one task")
    pairs = [(system, against or system)] if system else [(name, name) for name in other["items"] if name in one["items"]]
    found = [_compared(one, other, ours, theirs, seed) for ours, theirs in pairs]
    if not found:
        raise IngestError(f"{first} and {second} have no system in common; name two with --system and --against")
    return found


def _compared(one: dict[str, Any], other: dict[str, Any], ours: str, theirs: str, seed: int) -> Comparison:
    task = TASKS[one["task"]]
    right, left = _items(other, ours), _items(one, theirs)
    common = [identifier for identifier in right if identifier in left]
    if not common:
        raise IngestError(f"{ours} and {theirs} have no item in common; run them with the same --data and --limit")
    results = [[task.read(items[identifier]) for identifier in common] for items in (right, left)]
    return Comparison(task.name, ours, theirs, len(common), differences(results[0], results[1], task.measure, seed))


def _items(run: dict[str, Any], system: str) -> dict[str, dict[str, Any]]:
    """The results of a system by id, without what they cost."""
    if system not in run["items"]:
        raise IngestError(f"no system {system!r} in this run; there are {', '.join(run['items'])}")
    return {item["id"]: {name: value for name, value in item.items() if name != "spent"} for item in run["items"][system]}
