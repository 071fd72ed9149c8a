"""PAIRS and DISTANTPAIRS (PGMem, Algorithm 1, lines 10, 16, 23 and 28): which two notes are worth a judgement, and why.

Departure: "recent" means near in event time, not in time of ingest, so that an old file read later finds its place. A note is never
paired with what it was made from or what was made from the same words: it would be evidence for itself. Nor is an Episode paired
whose exchanges have left States: these are judged in its place, in fewer words and with a clearer verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pgmem_local.graph.nodes import Kind, Node, NodeId, kind_of, number_of
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.ports import Vectors, VectorSearch
from pgmem_local.settings import ConstructionSettings

DOMAIN_BONUS = 0.15
"""What a domain in common adds to the cosine of two notes; most pairs of notes in a diary lie between 0.12 and 0.36."""


@dataclass(frozen=True)
class Pair:
    """Two notes in the order of their event times, with the cosine of their embeddings."""

    earlier: Node
    later: Node
    cosine: float
    said_again: bool = False
    """Whether the earlier note was said once more at or after the later one: then it was not replaced by it."""

    @property
    def ids(self) -> frozenset[NodeId]:
        """The pair whatever its order."""
        return frozenset((self.earlier.id, self.later.id))

    @property
    def closeness(self) -> float:
        """How much the two may have to do with each other. Coffee and tea are one domain, though the encoder keeps them apart."""
        return self.cosine + DOMAIN_BONUS * bool(self.earlier.domains & self.later.domains)

    @property
    def dated(self) -> bool:
        """Whether both have a time and the order between them is certain."""
        one, other = self.earlier.moment, self.later.moment
        return not self.said_again and one is not None and other is not None and one.utc < other.utc


class Neighbourhood:
    """The graph so far and the nodes of the lesson being made, which are not in it yet."""

    def __init__(self, graph: PersonaGraph, search: VectorSearch) -> None:
        self._graph, self._search = graph, search
        self._new: dict[NodeId, Node] = {}
        self._vectors: dict[NodeId, Vectors] = {}
        self._origins: dict[NodeId, frozenset[NodeId]] = {}

    def add(self, node: Node, vector: Vectors, contexts: Iterable[NodeId]) -> None:
        """Take in a new node that rests on these Contexts."""
        self._new[node.id] = node
        self._vectors[node.id] = vector
        self._origins[node.id] = frozenset(contexts)

    def forget(self, identifier: NodeId) -> None:
        """Leave out a new node again."""
        del self._new[identifier], self._vectors[identifier], self._origins[identifier]

    def of_kind(self, kind: Kind) -> list[Node]:
        return self._graph.of_kind(kind) + [node for node in self._new.values() if node.kind is kind]

    def node(self, identifier: NodeId) -> Node:
        return self._new.get(identifier) or self._graph[identifier]

    def vector(self, identifier: NodeId) -> Vectors:
        if identifier not in self._vectors:
            self._vectors[identifier] = self._search.vectors([identifier])[0]
        return self._vectors[identifier]

    def origins(self, identifier: NodeId) -> frozenset[NodeId]:
        """The Contexts a node rests on."""
        if identifier not in self._origins:
            self._origins[identifier] = frozenset(self._graph.contexts_behind(identifier))
        return self._origins[identifier]

    def pair(self, one: Node, other: Node) -> Pair | None:
        """The pair in order of time, or None where it was judged before or one has no source that the other lacks."""
        if one.id == other.id or self._graph.judged(one.id, other.id) or self._share_origins(one.id, other.id):
            return None
        if self._left_states(one) or self._left_states(other):
            return None
        earlier, later = sorted((one, other), key=by_time)
        return Pair(earlier, later, float(self.vector(one.id) @ self.vector(other.id)), self._said_again(earlier, later))

    def _said_again(self, earlier: Node, later: Node) -> bool:
        moments = [self._graph[context].moment for context in self.origins(earlier.id) if context in self._graph]
        return later.moment is not None and any(moment is not None and moment.utc >= later.moment.utc for moment in moments)

    def _left_states(self, node: Node) -> bool:
        """Whether a node is an Episode of exchanges that States were made from."""
        if node.kind is not Kind.EPISODE:
            return False
        made = (derived for context in self.origins(node.id) for derived in self._graph.derived(context))
        return any(kind_of(derived) is Kind.STATE for derived in made)

    def _share_origins(self, one: NodeId, other: NodeId) -> bool:
        mine, theirs = self.origins(one), self.origins(other)
        return mine <= theirs or theirs <= mine

    def pairs(self, node: Node, others: Iterable[Node]) -> list[Pair]:
        return [pair for other in others if (pair := self.pair(node, other)) is not None]

    def nearest_in_time(self, node: Node, kind: Kind, count: int) -> list[Node]:
        """The nodes of a kind closest to a node in event time; undated ones count as far away."""
        return sorted((other for other in self.of_kind(kind) if other.id != node.id), key=lambda other: distance(node, other))[:count]

    def by_meaning(self, node: Node, kind: Kind, count: int) -> list[Node]:
        """The nodes of a kind most alike in meaning."""
        stored = [self._graph[identifier] for identifier, _ in self._search.nearest(kind, self.vector(node.id), count + 1)]
        fresh = [other for other in self._new.values() if other.kind is kind]
        candidates = {other.id: other for other in (*stored, *fresh) if other.id != node.id}.values()
        return sorted(candidates, key=lambda other: -float(self.vector(node.id) @ self.vector(other.id)))[:count]

    def by_words(self, node: Node, kind: Kind, count: int) -> list[Node]:
        """The nodes of a kind that share most words with a node, at least one."""
        words = node.keywords | node.domains
        shared = [(len(words & (other.keywords | other.domains)), other) for other in self.of_kind(kind) if other.id != node.id]
        ranked = sorted((entry for entry in shared if entry[0]), key=lambda entry: (-entry[0], number_of(entry[1].id)))
        return [other for _, other in ranked[:count]]


def by_time(node: Node) -> tuple[bool, float, int]:
    """Sort key: dated nodes by instant, then undated ones, ties by number."""
    return (node.moment is None, node.moment.utc.timestamp() if node.moment else 0.0, number_of(node.id))


def distance(one: Node, other: Node) -> tuple[float, int]:
    """Seconds between two nodes, infinite where one has no time."""
    if one.moment is None or other.moment is None:
        return (float("inf"), -number_of(other.id))
    return (abs((one.moment.utc - other.moment.utc).total_seconds()), -number_of(other.id))


def unique(pairs: Iterable[Pair]) -> list[Pair]:
    """Each pair once, in the order met."""
    met: dict[frozenset[NodeId], Pair] = {}
    for pair in pairs:
        met.setdefault(pair.ids, pair)
    return list(met.values())


def closest(pairs: Sequence[Pair], new: Iterable[NodeId], count: int, least: float = -1.0, sure: int = 0) -> list[Pair]:
    """For each new node its `count` pairs most alike, in meaning and in domain, of which all but the first `sure` must be this close:
    what a judgement can tell falls with distance, its price does not.

    Departure: the paper judges them all, 7,200 a session, and labels seven in ten of them support (its Table 13).
    """
    ranked = sorted(pairs, key=lambda pair: -pair.closeness)
    kept: list[Pair] = []
    for identifier in new:
        mine = [pair for pair in ranked if identifier in pair.ids][:count]
        kept += [pair for place, pair in enumerate(mine) if place < sure or pair.closeness >= least]
    return unique(kept)


def local_state_pairs(near: Neighbourhood, state: Node, settings: ConstructionSettings) -> list[Pair]:
    """A new State against the States nearest in time."""
    return near.pairs(state, near.nearest_in_time(state, Kind.STATE, settings.recent_states))


def local_episode_pairs(near: Neighbourhood, episode: Node) -> list[Pair]:
    """A new Episode against the previous one. The paper also takes the States of its chunk; where there are any, they are judged
    in its place."""
    return near.pairs(episode, near.nearest_in_time(episode, Kind.EPISODE, 1))


def local_trait_pairs(near: Neighbourhood, trait: Node, recent: Sequence[Node]) -> list[Pair]:
    """A new Trait against the recent States and Episodes and the previous Trait."""
    return near.pairs(trait, [*recent, *near.nearest_in_time(trait, Kind.TRAIT, 1)])


def distant_pairs(near: Neighbourhood, new: Sequence[Node], settings: ConstructionSettings) -> list[Pair]:
    """The offline pass: pairs of any age that touch a new node."""
    found: list[Pair] = []
    for node in new:
        if node.kind is Kind.TRAIT:
            found += near.pairs(node, near.by_meaning(node, Kind.STATE, settings.trait_top_states))
            found += near.pairs(node, near.by_meaning(node, Kind.EPISODE, settings.trait_top_episodes))
        elif node.kind is Kind.STATE:
            found += near.pairs(node, near.by_meaning(node, Kind.STATE, settings.state_top_by_meaning))
            found += near.pairs(node, near.by_words(node, Kind.STATE, settings.state_top_by_words))
            found += near.pairs(node, near.by_meaning(node, Kind.EPISODE, settings.episode_top_by_meaning))
            found += near.pairs(node, near.by_words(node, Kind.EPISODE, settings.episode_top_by_words))
    return unique(found)
