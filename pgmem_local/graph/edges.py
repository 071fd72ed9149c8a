"""The two edge families (PGMem, section 4.1.2): Source edges say where a node came from, Evidence edges what it does to another."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from pgmem_local.graph.nodes import NodeId


class Relation(str, Enum):
    """What the later of two notes does to the earlier one: ⊕, ⊖, ⇝ and ∅."""

    SUPPORT = "support"
    CONTRADICT = "contradict"
    SHIFT_TO = "shift_to"
    IRRELEVANT = "irrelevant"


@dataclass(frozen=True)
class SourceEdge:
    """Provenance: `derived` was made from `source`. Never judged by a model."""

    source: NodeId
    derived: NodeId


@dataclass(frozen=True)
class EvidenceEdge:
    """A real relation, walked by retrieval. For SHIFT_TO the direction is old -> new; the others hold both ways."""

    source: NodeId
    target: NodeId
    relation: Relation
    probability: float


@dataclass(frozen=True)
class Judgement:
    """A pair once judged, also when the answer was IRRELEVANT, so that it is not judged again.

    `source` is the earlier of the two by event time; `probability` is the judge's for `relation`; `judge` names who decided.
    """

    source: NodeId
    target: NodeId
    relation: Relation
    probability: float
    judge: str

    @property
    def edge(self) -> EvidenceEdge | None:
        """The evidence edge this judgement creates; None for an irrelevant pair."""
        if self.relation is Relation.IRRELEVANT:
            return None
        return EvidenceEdge(self.source, self.target, self.relation, self.probability)
