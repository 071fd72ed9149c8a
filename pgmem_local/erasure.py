"""What forgetting takes out of the store, or changes there: everything in a single transaction. The counterpart of a lesson."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pgmem_local.conversation import Moment
from pgmem_local.graph.edges import Judgement
from pgmem_local.graph.nodes import NodeId
from pgmem_local.lesson import Lesson


@dataclass(frozen=True)
class Erasure:
    """Nodes that go with all that hangs on them, and what their going does to the rest.

    retold: Episodes made anew from what stays. reopened: Contexts whose chunk needs a new Episode by the model.
    pending_again: Contexts to be learned once more. redated: nodes whose time was that of a source that goes.
    bridges: shifts from what a removed node had replaced to what replaced that node.
    traces: patterns of words to be taken out of the files beside the database. everything: the whole memory goes.
    files: paths to be forgotten as well. terms: those of the patterns that the owner named; no text about others may hold them.
    """

    removed: tuple[NodeId, ...] = ()
    retold: Lesson = field(default_factory=Lesson)
    reopened: tuple[NodeId, ...] = ()
    pending_again: tuple[NodeId, ...] = ()
    redated: Mapping[NodeId, Moment | None] = field(default_factory=dict)
    bridges: tuple[Judgement, ...] = ()
    traces: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    everything: bool = False
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Erased:
    """Rows that went: nodes by kind, pairs judged, vectors, and of what is known of others entities, facts and sentences.

    names: what the owner had called them.
    """

    contexts: int
    states: int
    episodes: int
    traits: int
    judgements: int
    vectors: int
    entities: int = 0
    facts: int = 0
    sentences: int = 0
    names: int = 0
