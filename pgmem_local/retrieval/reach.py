"""S(v) and C(v) of section 4.3.3: which pool nodes reach which by a path of sign + or −, for all of them at once.

Plus steps are walked H times over the whole pool with one bit set a node, instead of one search a node:
S_{h+1}[v] = ∪_{u→v plus} (S_h[u] ∪ {u}), and a minus ends a path, so C[v] = ∪_{u→v minus} (S_{H−1}[u] ∪ {u}).
A path stays inside the pool and may pass a node twice, as a breadth-first walk does. A node is no evidence for itself.

No path leaves an island, the nodes that evidence joins to each other by whatever way. Small islands share a region, and every table is
as wide as its region, not as the pool: the portrait of a whole memory takes time in proportion to it as long as its islands are small.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pgmem_local.graph.nodes import NodeId
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.graph.signs import Sign

REGION = 256
"""Nodes up to which islands share a region: few enough for narrow tables, many enough that numpy's own cost per call is small."""

_Steps = list[list[int]]
"""For each position in a region, the positions one step before it."""


@dataclass(frozen=True)
class Region:
    """Pool nodes that no evidence joins to the rest of the pool.

    Bit `positions[u]` of `plus[v]` is set where u is in S(v), of `minus[v]` where u is in C(v); over `hop_cap` steps at most.
    """

    positions: Mapping[NodeId, int]
    plus: Mapping[NodeId, int]
    minus: Mapping[NodeId, int]
    hop_cap: int

    @cached_property
    def _ordered(self) -> tuple[NodeId, ...]:
        return tuple(self.positions)

    def members(self, bits: int) -> frozenset[NodeId]:
        """The nodes of a bit set."""
        flags = np.frombuffer(bits.to_bytes((len(self._ordered) + 7) // 8, "little"), dtype=np.uint8)
        return frozenset(self._ordered[position] for position in np.flatnonzero(np.unpackbits(flags, bitorder="little")))


@dataclass(frozen=True)
class Reach:
    """The whole pool, region by region."""

    regions: tuple[Region, ...]

    @cached_property
    def _region_of(self) -> Mapping[NodeId, Region]:
        return {identifier: region for region in self.regions for identifier in region.positions}

    def supporters(self, identifier: NodeId) -> frozenset[NodeId]:
        """[S(v)]"""
        region = self._region_of[identifier]
        return region.members(region.plus[identifier])

    def challengers(self, identifier: NodeId) -> frozenset[NodeId]:
        """[C(v)]"""
        region = self._region_of[identifier]
        return region.members(region.minus[identifier])


def signed_reach(graph: PersonaGraph, members: Iterable[NodeId], hop_cap: int) -> Reach:
    """S and C of every member, over paths of at most `hop_cap` steps inside the pool."""
    return Reach(tuple(_signed_reach(graph, region, hop_cap) for region in _regions(graph, set(members))))


def _signed_reach(graph: PersonaGraph, members: Iterable[NodeId], hop_cap: int) -> Region:
    positions = {identifier: position for position, identifier in enumerate(sorted(members))}
    before_plus, before_minus = _steps_before(graph, positions)
    shorter, supporting = _plus_reach(before_plus, hop_cap)
    challenging = [_one_step(shorter, before) if hop_cap > 0 else 0 for before in before_minus]
    return Region(positions, _without_self(positions, supporting), _without_self(positions, challenging), hop_cap)


def _regions(graph: PersonaGraph, members: Set[NodeId]) -> Iterator[list[NodeId]]:
    """The members, islands undivided; a region grows while islands fit into it."""
    region: list[NodeId] = []
    for island in _islands(graph, members):
        if region and len(region) + len(island) > REGION:
            yield region
            region = []
        region.extend(island)
    if region:
        yield region


def _islands(graph: PersonaGraph, members: Set[NodeId]) -> Iterator[list[NodeId]]:
    seen: set[NodeId] = set()
    for start in sorted(members):
        if start in seen:
            continue
        seen.add(start)
        island = [start]
        for current in island:  # grows as it is walked
            new = {end for edge in graph.evidence(current) for end in (edge.source, edge.target) if end in members} - seen
            seen |= new
            island.extend(new)
        yield island


def _steps_before(graph: PersonaGraph, positions: Mapping[NodeId, int]) -> tuple[_Steps, _Steps]:
    plus: _Steps = [[] for _ in positions]
    minus: _Steps = [[] for _ in positions]
    for identifier, position in positions.items():
        for following, sign, _ in graph.steps(identifier):
            if (target := positions.get(following)) is not None:
                (plus if sign is Sign.PLUS else minus)[target].append(position)
    return plus, minus


def _plus_reach(before: _Steps, hop_cap: int) -> tuple[list[int], list[int]]:
    """S_{H−1} and S_H; equal as soon as a further hop adds nothing."""
    shorter = current = [0] * len(before)
    for _ in range(hop_cap):
        shorter, current = current, [_one_step(current, origins) for origins in before]
        if shorter == current:
            break
    return shorter, current


def _one_step(reach: list[int], origins: list[int]) -> int:
    bits = 0
    for origin in origins:
        bits |= reach[origin] | 1 << origin
    return bits


def _without_self(positions: Mapping[NodeId, int], reach: list[int]) -> dict[NodeId, int]:
    return {identifier: reach[position] & ~(1 << position) for identifier, position in positions.items()}
