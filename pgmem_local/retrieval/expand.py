"""Stage 2, evidence-guided expansion (PGMem, section 4.3.2 and equations 7 and 8): seeds come in, the pool W_1 comes out.

Context seeds give way to what was made from them. From every other pool node but the Active Persona Set, paths run along
evidence edges for at most H hops: a plus lets a path go on, a minus adds its node and ends it.

Departure: a Context from which nothing was made yet stands for itself, so that what is stored is found before it is learned.

Departure: what supersedes a pool node joins the pool even where the path that found the older node had ended. Otherwise
an outdated node could be served as current because its successor was never reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from pgmem_local.graph.edges import EvidenceEdge
from pgmem_local.graph.nodes import NodeId
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.graph.signs import Sign
from pgmem_local.ports import VectorSearch
from pgmem_local.retrieval.query import Query
from pgmem_local.retrieval.reach import Reach, signed_reach
from pgmem_local.retrieval.seed import Scored, Seeds, score
from pgmem_local.settings import ExpandSettings, RetrievalSettings


@dataclass(frozen=True)
class Pool:
    """[W_1] Every node found, with its φ, the origins paths started from, and who reaches whom with which sign."""

    scores: Mapping[NodeId, Scored]
    origins: frozenset[NodeId]
    reach: Reach

    def __contains__(self, identifier: object) -> bool:
        return identifier in self.scores

    def __len__(self) -> int:
        return len(self.scores)


@dataclass(frozen=True)
class Step:
    """One step of a path: where it leads, with which sign, along which edge."""

    node: NodeId
    sign: Sign
    edge: EvidenceEdge


@dataclass(frozen=True)
class SignedPath:
    """A path from an origin. Without steps it is the origin itself."""

    origin: NodeId
    steps: tuple[Step, ...] = ()

    @property
    def sign(self) -> Sign:
        """[σ] Equation 7."""
        sign = Sign.PLUS
        for step in self.steps:
            sign = sign.then(step.sign)
        return sign


@dataclass(frozen=True)
class _Walked:
    """How nodes were reached, by each sign: the last step, and the node before it. None stands before an origin."""

    by_plus: dict[NodeId, tuple[Step, NodeId] | None]
    by_minus: dict[NodeId, tuple[Step, NodeId]]

    @property
    def found(self) -> set[NodeId]:
        return {*self.by_plus, *self.by_minus}

    def paths_to(self, target: NodeId) -> list[SignedPath]:
        """The shortest path of each sign, where there is one."""
        paths = [self._plus_path(target)] if target in self.by_plus else []
        if target in self.by_minus:
            last, before = self.by_minus[target]
            start = self._plus_path(before)
            paths.append(SignedPath(start.origin, (*start.steps, last)))
        return paths

    def _plus_path(self, target: NodeId) -> SignedPath:
        steps: list[Step] = []
        while (arrival := self.by_plus[target]) is not None:
            step, target = arrival
            steps.append(step)
        return SignedPath(target, tuple(reversed(steps)))


def expand(graph: PersonaGraph, vectors: VectorSearch, query: Query, seeds: Seeds, settings: RetrievalSettings) -> Pool:
    """The pool around the seeds."""
    kept_in_view = {seed.node.id for seed in seeds.active_persona}
    origins = _origins(graph, seeds) - kept_in_view
    found = _walk(graph, origins, settings.expand.hop_cap).found
    members = _closure(found | kept_in_view, graph.replaced_by)
    scores = {one.node.id: one for one in score(graph, vectors, query, members, settings.seed)}
    return Pool(scores, frozenset(origins), signed_reach(graph, members, settings.expand.hop_cap))


def find_path(graph: PersonaGraph, pool: Pool, target: NodeId, settings: ExpandSettings) -> SignedPath | None:
    """A shortest path that brought a node into the pool, for the reader of --explain.

    None where no path did: the node stands in the Active Persona Set, or came with the node it supersedes.
    """
    paths = _walk(graph, pool.origins, settings.hop_cap).paths_to(target)
    return min(paths, key=lambda path: len(path.steps), default=None)


def _origins(graph: PersonaGraph, seeds: Seeds) -> set[NodeId]:
    """Seeds that paths may start from, with each Context replaced by the nodes made from it, directly or not, if there are any."""
    contexts = {seed.node.id for seed in seeds.contexts}
    unlearned = {context for context in contexts if not graph.derived(context)}
    others = {seed.node.id for seed in (*seeds.episodes, *seeds.states, *seeds.traits)}
    return others | unlearned | (_closure(contexts, graph.derived) - contexts)


def _walk(graph: PersonaGraph, origins: Iterable[NodeId], hop_cap: int) -> _Walked:
    """Breadth first from all origins together. Only what a plus reaches is walked on from."""
    frontier = sorted(origins)
    walked = _Walked(dict.fromkeys(frontier), {})
    for _ in range(hop_cap):
        reached: set[NodeId] = set()
        for current in frontier:
            for following, sign, edge in graph.steps(current):
                arrival = Step(following, sign, edge), current
                if sign is Sign.MINUS:
                    walked.by_minus.setdefault(following, arrival)
                elif following not in walked.by_plus:
                    walked.by_plus[following] = arrival
                    reached.add(following)
        frontier = sorted(reached)
    return walked


def _closure(start: Iterable[NodeId], following: Callable[[NodeId], list[NodeId]]) -> set[NodeId]:
    """The start and all that can be reached from it."""
    found = set(start)
    waiting = list(found)
    while waiting:
        for identifier in following(waiting.pop()):
            if identifier not in found:
                found.add(identifier)
                waiting.append(identifier)
    return found
