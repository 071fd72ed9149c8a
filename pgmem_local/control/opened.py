"""What control works on: an opened memory, as `PersonaMemory` is one."""

from __future__ import annotations

from typing import Protocol

from pgmem_local.construction.annotate import Annotator
from pgmem_local.graph.people import People
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.ports import ChatModel
from pgmem_local.settings import Settings
from pgmem_local.store import MemoryStore, VectorIndexes


class Opened(Protocol):
    """Store, graph and indexes, and models that are opened when first asked for."""

    store: MemoryStore
    settings: Settings
    graph: PersonaGraph
    people: People
    vectors: VectorIndexes

    @property
    def annotator(self) -> Annotator: ...

    @property
    def model(self) -> ChatModel: ...

    def refresh(self) -> None:
        """Follow what was written since the graph was read."""
        ...
