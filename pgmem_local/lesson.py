"""What one step of construction taught: everything that lands in the store in a single transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pgmem_local.graph.edges import Judgement, SourceEdge
from pgmem_local.graph.nodes import Node, NodeId
from pgmem_local.graph.people import EntityId, EntityKind, Fact, FactId, Naming, Profile
from pgmem_local.ports import Spent, Vectors


@dataclass(frozen=True)
class PeopleLesson:
    """What a chunk taught about the people in it (ProGraph, section 3.1).

    kinds: of the entities that are new. profiles: each in place of the entity's older one. said_again: known facts that rest on one
    more Context. replaced: older fact -> the one that holds in its place. vectors: of every profile and fact in here.
    """

    kinds: Mapping[EntityId, EntityKind] = field(default_factory=dict)
    namings: tuple[Naming, ...] = ()
    profiles: tuple[Profile, ...] = ()
    facts: tuple[Fact, ...] = ()
    said_again: tuple[tuple[FactId, NodeId], ...] = ()
    replaced: Mapping[FactId, FactId] = field(default_factory=dict)
    vectors: Mapping[EntityId | FactId, Vectors] = field(default_factory=dict)


@dataclass(frozen=True)
class Lesson:
    """New nodes with their vectors (shape (dimension,)), edges and judgements, and the marks they clear.

    learned: the Contexts that are no longer pending. closes: the chunk whose Episode this is.
    consolidates: True where this was the pass over the last B chunks. people: what the chunk taught about others.
    spent: what it cost, by task.
    """

    nodes: tuple[Node, ...] = ()
    vectors: Mapping[NodeId, Vectors] = field(default_factory=dict)
    sources: tuple[SourceEdge, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    learned: tuple[NodeId, ...] = ()
    closes: int | None = None
    consolidates: bool = False
    people: PeopleLesson | None = None
    spent: Mapping[str, Spent] = field(default_factory=dict)
