"""What the write path works with: the model, the embedder, the people so far, and a source of fresh ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from pgmem_local.graph.people import EntityId, FactId, People
from pgmem_local.ports import ChatModel, Vectors
from pgmem_local.settings import PeopleSettings


class Ids(Protocol):
    """Ids never given before."""

    def next_entity(self) -> EntityId: ...

    def next_fact(self) -> FactId: ...


@dataclass(frozen=True)
class PeopleDesk:
    """People are read here; only `PersonaMemory` adds to them, once a lesson has landed.

    fact_vector: the stored vector of a known fact.
    """

    model: ChatModel
    embed: Callable[[Sequence[str]], Vectors]
    people: People
    fact_vector: Callable[[FactId], Vectors | None]
    ids: Ids
    settings: PeopleSettings
