"""What every step of construction works with: the model, the annotator, the graph so far, and a source of fresh ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pgmem_local.construction.annotate import Annotator
from pgmem_local.construction.judge import Verdict
from pgmem_local.construction.pair import Pair
from pgmem_local.graph.nodes import Kind, NodeId
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.ports import ChatModel, VectorSearch
from pgmem_local.settings import ConstructionSettings


@dataclass(frozen=True)
class Desk:
    """The graph and vectors are read here; only `PersonaMemory` adds to them, once a lesson has landed."""

    model: ChatModel
    annotator: Annotator
    graph: PersonaGraph
    vectors: VectorSearch
    new_id: Callable[[Kind], NodeId]
    settings: ConstructionSettings
    decide: Callable[[ChatModel, Sequence[Pair]], list[Verdict]]
