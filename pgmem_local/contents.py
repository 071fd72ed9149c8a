"""All that one memory holds, as values: what an export writes, and what an import puts beside what is there already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pgmem_local.graph.acts import Act
from pgmem_local.graph.edges import Judgement, SourceEdge
from pgmem_local.graph.nodes import Context, Kind, Node, NodeId
from pgmem_local.graph.people import EntityId, EntityKind, Fact, Naming, Profile
from pgmem_local.lesson import Lesson


@dataclass(frozen=True)
class Chunk:
    """The exchanges of a session or a day that one Episode tells of, or will once the chunk is closed."""

    id: int
    label: str
    closed: bool = False
    consolidated: bool = False


@dataclass(frozen=True)
class StoredContext:
    """A Context with its place in the memory: its chunk, whether it is learned, and the files it was read from."""

    node: Context
    chunk: int
    learned: bool = False
    files: frozenset[str] = frozenset()


@dataclass(frozen=True)
class StoredEntity:
    """An entity as it is kept: names and relation follow from its namings. own_name: what its owner calls it."""

    id: EntityId
    kind: EntityKind
    namings: tuple[Naming, ...] = ()
    own_name: str | None = None


@dataclass(frozen=True)
class Numbers:
    """The highest number given so far, of nodes by kind, of entities, facts and chunks."""

    nodes: Mapping[Kind, int] = field(default_factory=dict)
    entity: int = 0
    fact: int = 0
    chunk: int = 0


@dataclass(frozen=True)
class Contents:
    """Everything but vectors, which are derived, and costs, which belong to the machine they were paid on.

    notes: Episodes, States and Traits. acts: what the owner did, oldest first.
    """

    chunks: tuple[Chunk, ...] = ()
    contexts: tuple[StoredContext, ...] = ()
    notes: tuple[Node, ...] = ()
    sources: tuple[SourceEdge, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    pins: tuple[NodeId, ...] = ()
    acts: tuple[Act, ...] = ()
    entities: tuple[StoredEntity, ...] = ()
    profiles: tuple[Profile, ...] = ()
    facts: tuple[Fact, ...] = ()
    numbers: Numbers = field(default_factory=Numbers)

    @property
    def nodes(self) -> tuple[Node, ...]:
        return (*(one.node for one in self.contexts), *self.notes)


@dataclass(frozen=True)
class Intake:
    """What is new in other contents, under the ids it gets here; what is known already is left out.

    ids: incoming node -> the node here, of every incoming one. lesson: notes, relations and people, without vectors.
    replies: known Contexts whose missing reply comes in. learned: known Contexts that need not be learned any more.
    moved: known Contexts of a chunk still open here -> the closed chunk that comes in with its Episode.
    files: known Contexts -> further files. own_names: what the owner calls entities.
    """

    ids: Mapping[NodeId, NodeId] = field(default_factory=dict)
    chunks: tuple[Chunk, ...] = ()
    contexts: tuple[StoredContext, ...] = ()
    lesson: Lesson = field(default_factory=Lesson)
    replies: Mapping[NodeId, str] = field(default_factory=dict)
    learned: tuple[NodeId, ...] = ()
    moved: Mapping[NodeId, int] = field(default_factory=dict)
    files: Mapping[NodeId, frozenset[str]] = field(default_factory=dict)
    pins: tuple[NodeId, ...] = ()
    acts: tuple[Act, ...] = ()
    own_names: Mapping[EntityId, str] = field(default_factory=dict)
