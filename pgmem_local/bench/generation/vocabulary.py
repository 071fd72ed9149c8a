"""Names, relationships and kinds of facts that scenarios are drawn from: `bench/data/memhop_generation`, whose README tells its format."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from pgmem_local.bench.datasets.files import read_json, shipped


@dataclass(frozen=True)
class Tie:
    """A kind of relationship: `{other}` is the TYPE of `{one}`. inverse: what `one` is to `other`. said: how the narrator tells it."""

    type: str
    inverse: str
    said: tuple[str, ...]


@dataclass(frozen=True)
class Family:
    """A kind of fact that several people have. before: how a value is told that will change; changed: how the new one is told."""

    name: str
    predicate: str
    type: str
    values: tuple[str, ...]
    said: tuple[str, ...]
    asked: str
    before: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Vocabulary:
    """own_ties: of the narrator; ties: between two others. openers, tails, fillers, replies: the talk around the facts."""

    first_names: tuple[str, ...]
    surnames: tuple[str, ...]
    narrators: tuple[str, ...]
    own_ties: tuple[Tie, ...]
    ties: tuple[Tie, ...]
    families: tuple[Family, ...]
    openers: tuple[str, ...]
    tails: tuple[str, ...]
    fillers: tuple[str, ...]
    replies: tuple[str, ...]


@cache
def vocabulary() -> Vocabulary:
    raw = read_json(shipped("memhop_generation", "vocabulary.json"))
    kinds: dict[str, type[Tie] | type[Family]] = {"own_ties": Tie, "ties": Tie, "families": Family}
    made = {name: tuple(kinds[name](**_frozen(one)) for one in raw[name]) for name in kinds}
    return Vocabulary(**{**_frozen(raw), **made})


def _frozen(record: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}
