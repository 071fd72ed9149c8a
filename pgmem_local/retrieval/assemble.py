"""Stage 3, validity-aware assembly (PGMem, section 4.3.3, equations 9 and 10): the pool comes in, the Evidence F comes out.

A node whose successor is in the pool is removed, and what is removed is no evidence for or against the rest, though paths
may still pass it. The rest is ranked by ψ and kept within the budgets.

Departures. What evidence weighs and how it fades is told in `weigh`; the paper's counts are a setting. The paper drops superseded
nodes; here superseded States stay readable as changed, with the date of the change, and a superseded Trait is shown as challenged by
its successor where the Trait budget has room left. Equation 9 is for nodes that remain; what is superseded has validity 0, so that
among what changed φ alone decides. For a question about the past nothing fades, and more of what changed is shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from heapq import nsmallest

from pgmem_local.conversation import Moment
from pgmem_local.graph.nodes import Kind, Node, NodeId
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.retrieval.expand import Pool
from pgmem_local.retrieval.seed import precedence
from pgmem_local.retrieval.weigh import NOTHING, Weight, counted, weighed
from pgmem_local.settings import AssembleSettings, Weighing


@dataclass(frozen=True)
class Ranked:
    """A node with φ, val and ψ, the pool nodes that speak for it [S(v)] and against it [C(v)], and what they weigh."""

    node: Node
    phi: float
    validity: float
    psi: float
    supporters: frozenset[NodeId] = frozenset()
    challengers: frozenset[NodeId] = frozenset()
    pinned: bool = False
    weight: Weight = NOTHING


@dataclass(frozen=True)
class ChallengedTrait:
    """A Trait the evidence is divided on, or that a newer one replaced; what challenges it, strongest first."""

    trait: Ranked
    contradicted_by: tuple[Node, ...] = ()
    replaced_by: tuple[Node, ...] = ()


@dataclass(frozen=True)
class ChangedState:
    """A State that held until `replaced_by` took its place. `changed` is the moment of that; None where it has none."""

    state: Ranked
    replaced_by: Node

    @property
    def changed(self) -> Moment | None:
        return self.replaced_by.moment


@dataclass(frozen=True)
class Evidence:
    """[F] What retrieval hands to the answer: by kind and status, each best first.

    episodes: what happened; after the Episodes, Contexts as they were written that nothing was made from yet.
    """

    traits: tuple[Ranked, ...] = ()
    challenged: tuple[ChallengedTrait, ...] = ()
    states: tuple[Ranked, ...] = ()
    changed: tuple[ChangedState, ...] = ()
    episodes: tuple[Ranked, ...] = ()

    @property
    def ranked(self) -> tuple[Ranked, ...]:
        """Every entry, whatever its status."""
        challenged = (one.trait for one in self.challenged)
        changed = (one.state for one in self.changed)
        return (*self.traits, *challenged, *self.states, *changed, *self.episodes)

    def __bool__(self) -> bool:
        return bool(self.ranked)


def assemble(graph: PersonaGraph, pool: Pool, settings: AssembleSettings) -> Evidence:
    """The evidence of a pool."""
    ranking = _Ranking(graph, pool, settings)
    traits = ranking.best_traits()
    challenged = {trait.node.id: challenge for trait in traits if (challenge := ranking.challenge(trait)) is not None}
    return Evidence(
        traits=tuple(trait for trait in traits if trait.node.id not in challenged),
        challenged=tuple(challenged.values()),
        states=ranking.best(ranking.current(Kind.STATE), settings.states),
        changed=tuple(map(ranking.change, ranking.best(ranking.superseded(Kind.STATE), settings.changed_states))),
        episodes=(
            *ranking.best(ranking.current(Kind.EPISODE), settings.episodes),
            *ranking.best(ranking.current(Kind.CONTEXT), settings.unlearned_contexts),
        ),
    )


def looking_back(settings: AssembleSettings) -> AssembleSettings:
    """The settings for a question about the past."""
    return replace(settings, fading=None, changed_states=settings.changed_states * settings.changed_states_of_past)


class _Ranking:
    """How each pool node stands: what replaced it, what it is worth, what challenges it."""

    def __init__(self, graph: PersonaGraph, pool: Pool, settings: AssembleSettings) -> None:
        self._graph, self._pool, self._settings = graph, pool, settings
        self._removed = frozenset(identifier for identifier in pool.scores if successors(graph, pool, identifier))
        self._counting = pool.scores.keys() - self._removed
        if settings.weighing is Weighing.COUNTED:
            self._weights = counted(pool.reach, self._counting)
        else:
            self._weights = weighed(graph, pool.reach, self._counting, settings.fading)

    def current(self, kind: Kind) -> list[NodeId]:
        return [identifier for identifier in self._of_kind(kind) if identifier not in self._removed]

    def superseded(self, kind: Kind) -> list[NodeId]:
        return [identifier for identifier in self._of_kind(kind) if identifier in self._removed]

    def best(self, identifiers: Iterable[NodeId], budget: int) -> tuple[Ranked, ...]:
        return tuple(map(self._ranked, nsmallest(budget, identifiers, key=self._rank)))

    def best_traits(self) -> tuple[Ranked, ...]:
        """Traits within their budget; a replaced one takes a place only where one is left, and none where the owner replaced it."""
        current = self.best(self.current(Kind.TRAIT), self._settings.traits)
        superseded = [one for one in self.superseded(Kind.TRAIT) if not any(map(self._graph.is_stated, self._graph.replaced_by(one)))]
        return current + self.best(superseded, self._settings.traits - len(current))

    def challenge(self, trait: Ranked) -> ChallengedTrait | None:
        """What challenges a Trait; None for a stable one."""
        supporting, contradicting = trait.weight.supporting, trait.weight.contradicting
        replaced_by = successors(self._graph, self._pool, trait.node.id)
        divided = contradicting > 0 and supporting / (supporting + contradicting) <= self._settings.challenged_ratio
        if not divided and not replaced_by:
            return None
        return ChallengedTrait(trait, self._in_order(trait.challengers), self._in_order(replaced_by))

    def change(self, state: Ranked) -> ChangedState:
        """The first successor is what ended a State; any other only came after it."""
        followed_by = (self._graph[identifier] for identifier in successors(self._graph, self._pool, state.node.id))
        return ChangedState(state, max(followed_by, key=lambda node: (node.moment is not None, precedence(node))))

    def _of_kind(self, kind: Kind) -> list[NodeId]:
        return [identifier for identifier, scored in self._pool.scores.items() if scored.node.kind is kind]

    def _worth(self, identifier: NodeId) -> tuple[float, float]:
        """[val, ψ] Equations 9 and 10."""
        evidence = self._weights[identifier]
        smoothing, weight = self._settings.smoothing, self._settings.validity_weight
        support_ratio = (evidence.supporting + smoothing) / (evidence.supporting + evidence.contradicting + 2 * smoothing)
        validity = 0.0 if identifier in self._removed else evidence.freshness * support_ratio
        return validity, weight * validity + (1 - weight) * self._pool.scores[identifier].phi

    def _rank(self, identifier: NodeId) -> tuple[bool, float, float, float, str, int]:
        """The order within a kind: what the owner pinned, then ψ, then φ, then the newer moment, then the id."""
        scored = self._pool.scores[identifier]
        pinned = identifier in self._graph.pinned
        return (not pinned, -self._worth(identifier)[1], -scored.phi, *precedence(scored.node))

    def _ranked(self, identifier: NodeId) -> Ranked:
        scored, (validity, psi) = self._pool.scores[identifier], self._worth(identifier)
        supporters = self._pool.reach.supporters(identifier) & self._counting
        challengers = self._pool.reach.challengers(identifier) & self._counting
        pinned, weight = identifier in self._graph.pinned, self._weights[identifier]
        return Ranked(scored.node, scored.phi, validity, psi, supporters, challengers, pinned, weight)

    def _in_order(self, identifiers: Iterable[NodeId]) -> tuple[Node, ...]:
        return tuple(self._graph[identifier] for identifier in sorted(identifiers, key=self._rank))


def successors(graph: PersonaGraph, pool: Pool, identifier: NodeId) -> list[NodeId]:
    """The nearest pool nodes that supersede a node, directly or along a chain of nodes outside the pool.

    Judgements that run in a circle supersede nothing: else every node of the circle would be gone.
    """
    nearest: list[NodeId] = []
    seen, waiting = {identifier}, [identifier]
    while waiting:
        for following in graph.replaced_by(waiting.pop(0)):
            if following in seen:
                continue
            seen.add(following)
            if following in pool and not _leads_to(graph, following, identifier):
                nearest.append(following)
            else:
                waiting.append(following)
    return nearest


def _leads_to(graph: PersonaGraph, start: NodeId, target: NodeId) -> bool:
    """Whether a chain of successors runs from one node to another."""
    seen, waiting = {start}, [start]
    while waiting:
        new = set(graph.replaced_by(waiting.pop())) - seen
        seen |= new
        waiting.extend(new)
    return target in seen
