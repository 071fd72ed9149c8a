"""What the evidence for and against a pool node weighs: the two numbers of equation 9, and how fresh the node is.

The paper counts nodes, `counted`. Ours, `weighed`, differs in three ways. A note counts with the probability of the best path from it.
What rests on the same remark is one source, however many notes were made of it: no more notes count than there are remarks they can be
told apart by, and none that rests on nothing but what a State or Episode itself rests on. A Trait is said nowhere, so what it was
inferred from may speak for it; a State that was said again has that for it. And a State fades from when it was last said, or from when
something last supported it, as far as that is probable.

Taking the strongest notes first, each with a remark of its own, gives the greatest sum there is (the sets that can be told apart are a
matroid), so that further evidence never weighs less and no order matters.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Set
from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray

from pgmem_local.conversation import Moment
from pgmem_local.graph.nodes import Context, Kind, Node, NodeId, RecallPriority, Scope, State
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.retrieval.chances import Arrivals, arrivals
from pgmem_local.retrieval.reach import Reach, Region
from pgmem_local.settings import FadingSettings

Source = Hashable
_DAY = 86_400.0


@dataclass(frozen=True)
class Weight:
    """In place of |S(v)| and |C(v)|, and the share of its validity that time has left a node."""

    supporting: float
    contradicting: float
    freshness: float = 1.0


NOTHING = Weight(0.0, 0.0)


@dataclass(frozen=True)
class Voice:
    """A note for or against another: the probability that it is, and the remarks it rests on."""

    weight: float
    sources: frozenset[Source]


def counted(reach: Reach, counting: Set[NodeId]) -> dict[NodeId, Weight]:
    """Every note alike, and no time: the numbers of equation 9 as the paper has them."""
    return {
        identifier: Weight(len(reach.supporters(identifier) & counting), len(reach.challengers(identifier) & counting))
        for region in reach.regions
        for identifier in region.positions
    }


def weighed(graph: PersonaGraph, reach: Reach, counting: Set[NodeId], fading: FadingSettings | None) -> dict[NodeId, Weight]:
    """The weights of all pool nodes; only what is `counting` weighs for or against another."""
    weights: dict[NodeId, Weight] = {}
    for region in reach.regions:
        notes = _Notes(graph, region, counting)
        weights.update((one.target, notes.weight(one, fading)) for one in arrivals(graph, region))
    return weights


class _Notes:
    """A region as the weighing sees it, by position: what counts, what it rests on, and how many days ago it was last said."""

    def __init__(self, graph: PersonaGraph, region: Region, counting: Set[NodeId]) -> None:
        self._graph, self._positions = graph, region.positions
        contexts = {identifier: _contexts_behind(graph, identifier) for identifier in region.positions}
        self._sources = [sources_of(identifier, behind) for identifier, behind in contexts.items()]
        self._ages = np.array([_age(graph.newest, graph[identifier], behind) for identifier, behind in contexts.items()])
        self._counting = np.array([identifier in counting for identifier in region.positions], dtype=bool)

    def weight(self, one: Arrivals, fading: FadingSettings | None) -> Weight:
        node, position = self._graph[one.target], self._positions[one.target]
        own = self._sources[position]
        told_apart_from = frozenset[Source]() if node.kind is Kind.TRAIT else own
        others = self._counting.copy()
        others[position] = False
        said_again = len(own) - 1 if isinstance(node, State) else 0
        return Weight(
            said_again + distinct_weight(self._voices(one.plus * others), told_apart_from),
            distinct_weight(self._voices(one.minus * others), told_apart_from),
            self._freshness(one, others, half_life(node, self._graph, fading)),
        )

    def _voices(self, chances: NDArray[np.float64]) -> list[Voice]:
        return [Voice(float(chances[position]), self._sources[position]) for position in np.flatnonzero(chances)]

    def _freshness(self, one: Arrivals, others: NDArray[np.bool_], days: float | None) -> float:
        """The most that the node's own age or that of a supporter, as far as it is probable, leaves of it; all, where it has no age."""
        own = self._ages[self._positions[one.target]]
        if days is None or np.isnan(own):
            return 1.0
        renewed = one.plus * others * np.nan_to_num(0.5 ** (self._ages / days))
        return float(max(0.5 ** (own / days), renewed.max(initial=0.0)))


def distinct_weight(voices: Iterable[Voice], known: Set[Source]) -> float:
    """The greatest sum of weights of voices that each have a source of their own outside the known ones."""
    strongest_first = sorted(voices, key=lambda voice: -voice.weight)
    holders: dict[Source, Voice] = {}
    return sum(voice.weight for voice in strongest_first if _seat(voice, holders, known))


def _seat(voice: Voice, holders: dict[Source, Voice], known: Set[Source]) -> bool:
    """Give a voice a source, those who hold one moving to others where that helps; False where none can be had."""
    before: dict[Source, Source | None] = {}
    for source in voice.sources:
        if source not in known:
            if source not in holders:
                holders[source] = voice
                return True
            before[source] = None
    waiting = list(before)
    for source in waiting:
        if source not in holders:
            _move_up(voice, source, before, holders)
            return True
        further = [other for other in holders[source].sources if other not in known and other not in before]
        before.update(dict.fromkeys(further, source))
        waiting.extend(further)
    return False


def _move_up(voice: Voice, free: Source, before: Mapping[Source, Source | None], holders: dict[Source, Voice]) -> None:
    """Each holder on the way to the free source moves one on, and the voice takes the first."""
    while (held := before[free]) is not None:
        holders[free], free = holders[held], held
    holders[free] = voice


def sources_of(identifier: NodeId, contexts: Iterable[Context]) -> frozenset[Source]:
    """The remarks a node rests on. The same words on the same day are one; a node that rests on none is its own."""
    remarks: set[Source] = {(context.moment and context.moment.day, " ".join(context.text.casefold().split())) for context in contexts}
    return frozenset(remarks or {identifier})


def half_life(node: Node, graph: PersonaGraph, fading: FadingSettings | None) -> float | None:
    """The days in which a node's validity halves. None for what never fades: events, what the owner stated, what is pinned."""
    if fading is None or node.id in graph.pinned or graph.is_stated(node.id):
        return None
    if node.kind is Kind.TRAIT:
        return fading.trait
    if not isinstance(node, State):
        return None
    low, high = (fading.broad_low, fading.broad_high) if node.scope is Scope.BROAD else (fading.narrow_low, fading.narrow_high)
    return high if node.priority is RecallPriority.HIGH else low


def _contexts_behind(graph: PersonaGraph, identifier: NodeId) -> list[Context]:
    found = (graph[context] for context in graph.contexts_behind(identifier))
    return [context for context in found if isinstance(context, Context)]


def _age(newest: Moment | None, node: Node, contexts: Iterable[Context]) -> float:
    """Days from when a note was last said to the newest moment of the memory; nan for an undated one."""
    said = [moment for moment in (node.moment, *(context.moment for context in contexts)) if moment is not None]
    return (newest.utc - max(said).utc).total_seconds() / _DAY if newest and said else nan
