"""What one step of construction taught: everything that lands in the store in a single transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pgmem_local.graph.edges import Judgement, SourceEdge
from pgmem_local.graph.nodes import Node, NodeId
from pgmem_local.ports import Spent, Vectors


@dataclass(frozen=True)
class Lesson:
    """New nodes with their vectors (shape (dimension,)), edges and judgements, and the marks they clear.

    learned: the Contexts that are no longer pending. closes: the chunk whose Episode this is.
    consolidates: True where this was the pass over the last B chunks. spent: what it cost, by task.
    """

    nodes: tuple[Node, ...] = ()
    vectors: Mapping[NodeId, Vectors] = field(default_factory=dict)
    sources: tuple[SourceEdge, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    learned: tuple[NodeId, ...] = ()
    closes: int | None = None
    consolidates: bool = False
    spent: Mapping[str, Spent] = field(default_factory=dict)
