"""Persona graphs and queries in a line or two."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from math import sqrt
from typing import Any

import numpy as np

from pgmem_local.conversation import Moment
from pgmem_local.graph.edges import Judgement, Relation, SourceEdge
from pgmem_local.graph.nodes import Context, Episode, Kind, Node, NodeId, RecallPriority, Scope, State, Trait, node_id
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.ports import Embedder, Vectors
from pgmem_local.retrieval.pipeline import Retrieval, retrieve
from pgmem_local.retrieval.query import Query
from pgmem_local.settings import RetrievalSettings
from pgmem_local.words import keywords
from tests.fakes import ExactSearch


def on_day(day: int | None) -> Moment | None:
    """Noon of the `day`-th day after 1 January 2026; None for an undated node."""
    return None if day is None else Moment(datetime(2026, 1, 1, 12, tzinfo=timezone.utc) + timedelta(days=day))


def at_cosine(cosine: float) -> Vectors:
    """A unit vector with this cosine to the vector of `plain_query`."""
    return np.array([cosine, sqrt(1 - cosine * cosine)], dtype=np.float32)


def plain_query(text: str = "") -> Query:
    return Query(text, at_cosine(1.0), keywords(text))


@dataclass
class Sketch:
    """A graph being drawn. Without an embedder each node says its cosine to `plain_query`."""

    embedder: Embedder | None = None
    nodes: list[Node] = field(default_factory=list)
    sources: list[SourceEdge] = field(default_factory=list)
    judgements: list[Judgement] = field(default_factory=list)
    pinned: list[NodeId] = field(default_factory=list)
    search: ExactSearch = field(default_factory=ExactSearch)

    def context(self, text: str = "", day: int | None = 0, cosine: float = 0.0) -> NodeId:
        identifier = self._new(Kind.CONTEXT)
        return self._add(Context(**self._common(identifier, text, day), key=identifier), cosine)

    def episode(self, text: str = "", day: int | None = 0, cosine: float = 0.0, scope: Scope = Scope.NARROW) -> NodeId:
        return self._add(Episode(**self._common(self._new(Kind.EPISODE), text, day), scope=scope), cosine)

    def state(
        self,
        text: str = "",
        day: int | None = 0,
        cosine: float = 0.0,
        scope: Scope = Scope.NARROW,
        priority: RecallPriority = RecallPriority.LOW,
        stated: bool = False,
    ) -> NodeId:
        common = self._common(self._new(Kind.STATE), text, day)
        return self._add(State(**common, scope=scope, priority=priority, stated=stated), cosine)

    def trait(self, text: str = "", day: int | None = 0, cosine: float = 0.0, scope: Scope = Scope.BROAD) -> NodeId:
        return self._add(Trait(**self._common(self._new(Kind.TRAIT), text, day), scope=scope), cosine)

    def derive(self, derived: NodeId, *sources: NodeId) -> None:
        self.sources.extend(SourceEdge(source, derived) for source in sources)

    def support(self, one: NodeId, other: NodeId, probability: float = 1.0) -> None:
        self._judge(one, other, Relation.SUPPORT, probability)

    def contradict(self, one: NodeId, other: NodeId, probability: float = 1.0) -> None:
        self._judge(one, other, Relation.CONTRADICT, probability)

    def shift(self, old: NodeId, new: NodeId) -> None:
        self._judge(old, new, Relation.SHIFT_TO)

    def irrelevant(self, one: NodeId, other: NodeId) -> None:
        self._judge(one, other, Relation.IRRELEVANT)

    @property
    def graph(self) -> PersonaGraph:
        return self.graph_in_order_of(None)

    def graph_in_order_of(self, shuffler: random.Random | None) -> PersonaGraph:
        """The same graph with nodes and edges added in another order if a shuffler is given."""
        nodes, sources, judgements = list(self.nodes), list(self.sources), list(self.judgements)
        if shuffler is not None:
            shuffler.shuffle(nodes)
            shuffler.shuffle(sources)
            shuffler.shuffle(judgements)
        graph = PersonaGraph()
        graph.add(nodes, sources, judgements, self.pinned)
        return graph

    def retrieve(self, query: Query | None = None, settings: RetrievalSettings | None = None) -> Retrieval:
        return retrieve(self.graph, self.search, query or plain_query(), settings or RetrievalSettings())

    def _new(self, kind: Kind) -> NodeId:
        return node_id(kind, 1 + sum(node.kind is kind for node in self.nodes))

    def _common(self, identifier: NodeId, text: str, day: int | None) -> dict[str, Any]:
        words = keywords(text)
        return {"id": identifier, "text": text or identifier, "moment": on_day(day), "keywords": words, "domains": frozenset()}

    def _add(self, node: Node, cosine: float) -> NodeId:
        self.nodes.append(node)
        self.search.add(node.id, self.embedder.embed([node.text])[0] if self.embedder else at_cosine(cosine))
        return node.id

    def _judge(self, source: NodeId, target: NodeId, relation: Relation, probability: float = 1.0) -> None:
        self.judgements.append(Judgement(source, target, relation, probability, "hand"))
