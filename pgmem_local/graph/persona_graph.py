"""The heterogeneous persona-memory graph in memory: derived from the store, rebuilt from it, never the truth.

Pure: no database, no clock, no model. Adding what a lesson taught is the only way it changes.

Departure: the paper knows no owner who speaks up. Here what was inferred never supersedes or challenges what the owner stated: a
shift from a statement to an inferred note counts as a contradiction, which is walked from the statement only.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from pgmem_local.conversation import Moment
from pgmem_local.errors import UnknownNode
from pgmem_local.graph.edges import EvidenceEdge, Judgement, Relation, SourceEdge
from pgmem_local.graph.nodes import Context, Kind, Node, NodeId, State
from pgmem_local.graph.signs import Sign, step_sign


class PersonaGraph:
    """Nodes by id, provenance both ways, evidence by node, and every pair judged so far."""

    def __init__(self) -> None:
        self._nodes: dict[NodeId, Node] = {}
        self._by_kind: dict[Kind, dict[NodeId, Node]] = {kind: {} for kind in Kind}
        self._sources: dict[NodeId, list[NodeId]] = defaultdict(list)
        self._derived: dict[NodeId, list[NodeId]] = defaultdict(list)
        self._evidence: dict[NodeId, list[EvidenceEdge]] = defaultdict(list)
        self._judged: set[frozenset[NodeId]] = set()
        self._by_keyword: dict[str, set[NodeId]] = defaultdict(set)
        self._by_session: dict[str, dict[NodeId, Context]] = defaultdict(dict)
        self._pinned: set[NodeId] = set()
        self._newest: Moment | None = None

    def add(
        self,
        nodes: Iterable[Node] = (),
        sources: Iterable[SourceEdge] = (),
        judgements: Iterable[Judgement] = (),
        pinned: Iterable[NodeId] = (),
    ) -> None:
        """Take in nodes, then the edges between them and what is already known, and which nodes the owner pinned.

        A Context that is known takes the place of what it was before its reply came.
        """
        self._pinned.update(pinned)
        for node in nodes:
            self._nodes[node.id] = node
            self._by_kind[node.kind][node.id] = node
            self._newest = max(filter(None, (self._newest, node.moment)), default=None)
            for word in node.keywords | node.domains:
                self._by_keyword[word].add(node.id)
            if isinstance(node, Context) and node.session is not None:
                self._by_session[node.session][node.id] = node
        for edge in sources:
            self._sources[edge.derived].append(edge.source)
            self._derived[edge.source].append(edge.derived)
        for judgement in judgements:
            self._judged.add(frozenset((judgement.source, judgement.target)))
            if judgement.edge is not None:
                evidence = self._as_it_counts(judgement.edge)
                self._evidence[evidence.source].append(evidence)
                self._evidence[evidence.target].append(evidence)

    def _as_it_counts(self, edge: EvidenceEdge) -> EvidenceEdge:
        if edge.relation is Relation.SHIFT_TO and self.is_stated(edge.source) and not self.is_stated(edge.target):
            return replace(edge, relation=Relation.CONTRADICT)
        return edge

    def is_stated(self, identifier: NodeId) -> bool:
        """Whether the owner said this outright."""
        node = self._nodes.get(identifier)
        return isinstance(node, State) and node.stated

    @property
    def pinned(self) -> frozenset[NodeId]:
        """The nodes the owner wants in view whatever is asked."""
        return frozenset(self._pinned)

    @property
    def newest(self) -> Moment | None:
        """The newest moment that a node has; None where none has one."""
        return self._newest

    def __contains__(self, identifier: object) -> bool:
        return identifier in self._nodes

    def __len__(self) -> int:
        return len(self._nodes)

    def __getitem__(self, identifier: NodeId) -> Node:
        try:
            return self._nodes[identifier]
        except KeyError:
            raise UnknownNode(f"the memory holds no node {identifier!r}; `pgmem me` and `pgmem recall` show ids") from None

    def of_kind(self, kind: Kind) -> list[Node]:
        """All nodes of a kind in the order they were added."""
        return list(self._by_kind[kind].values())

    def with_keyword(self, words: Iterable[str]) -> set[NodeId]:
        """Ids of nodes that carry at least one of these keywords or domain labels."""
        return {identifier for word in words for identifier in self._by_keyword.get(word, ())}

    def of_session(self, session: str) -> list[Context]:
        """The Contexts of a session in the order they were added."""
        return list(self._by_session.get(session, {}).values())

    def sources(self, identifier: NodeId) -> list[NodeId]:
        """What a node was made from, directly."""
        return list(self._sources.get(identifier, ()))

    def derived(self, identifier: NodeId) -> list[NodeId]:
        """What was made from a node, directly."""
        return list(self._derived.get(identifier, ()))

    def contexts_behind(self, identifier: NodeId) -> list[NodeId]:
        """The Context nodes a node rests on, through any number of Source edges; a Context rests on itself."""
        found: dict[NodeId, None] = {}
        waiting, seen = [identifier], {identifier}
        while waiting:
            current = waiting.pop(0)
            if self[current].kind is Kind.CONTEXT:
                found[current] = None
            for source in self._sources.get(current, ()):
                if source not in seen:
                    seen.add(source)
                    waiting.append(source)
        return list(found)

    def evidence(self, identifier: NodeId) -> list[EvidenceEdge]:
        """All evidence edges that touch a node."""
        return list(self._evidence.get(identifier, ()))

    def steps(self, identifier: NodeId) -> Iterator[tuple[NodeId, Sign, EvidenceEdge]]:
        """Where a path may go from a node: (next node, sign of the step, the edge walked)."""
        for edge in self._evidence.get(identifier, ()):
            forward = edge.source == identifier
            sign = step_sign(edge.relation, forward)
            following = edge.target if forward else edge.source
            outranked = sign is Sign.MINUS and self.is_stated(following) and not self.is_stated(identifier)
            if sign is not None and not outranked:
                yield following, sign, edge

    def replaced_by(self, identifier: NodeId) -> list[NodeId]:
        """The newer nodes that directly supersede a node (SHIFT_TO, old -> new)."""
        return [e.target for e in self._evidence.get(identifier, ()) if e.relation is Relation.SHIFT_TO and e.source == identifier]

    def replaces(self, identifier: NodeId) -> list[NodeId]:
        """The older nodes a node directly supersedes."""
        return [e.source for e in self._evidence.get(identifier, ()) if e.relation is Relation.SHIFT_TO and e.target == identifier]

    def judged(self, one: NodeId, other: NodeId) -> bool:
        """Whether this pair was judged before, in either order."""
        return frozenset((one, other)) in self._judged

    def judged_pairs(self, identifiers: Collection[NodeId]) -> int:
        """How many judgements concern at least one of these nodes."""
        return sum(not pair.isdisjoint(identifiers) for pair in self._judged)
