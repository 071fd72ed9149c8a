"""S(v) and C(v) of section 4.3.3: which pool nodes reach which by a path of sign + or −, for all of them at once.

Plus steps are walked H times over the whole pool with one bit set a node, instead of one search a node:
S_{h+1}[v] = ∪_{u→v plus} (S_h[u] ∪ {u}), and a minus ends a path, so C[v] = ∪_{u→v minus} (S_{H−1}[u] ∪ {u}).
A path stays inside the pool and may pass a node twice, as a breadth-first walk does. A node is no evidence for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pgmem_local.graph.nodes import NodeId
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.graph.signs import Sign

_Steps = list[list[int]]
"""For each position in the pool, the positions one step before it."""


@dataclass(frozen=True)
class Reach:
    """Bit `positions[u]` of `plus[v]` is set where u is in S(v), of `minus[v]` where u is in C(v); over `hop_cap` steps at most."""

    positions: Mapping[NodeId, int]
    plus: Mapping[NodeId, int]
    minus: Mapping[NodeId, int]
    hop_cap: int

    def mask(self, identifiers: Iterable[NodeId]) -> int:
        """The bit set of these nodes."""
        return sum(1 << self.positions[identifier] for identifier in identifiers)

    def members(self, bits: int) -> frozenset[NodeId]:
        """The nodes of a bit set."""
        return frozenset(identifier for identifier, position in self.positions.items() if bits >> position & 1)


def signed_reach(graph: PersonaGraph, members: Iterable[NodeId], hop_cap: int) -> Reach:
    """S and C of every member, over paths of at most `hop_cap` steps inside the pool."""
    positions = {identifier: position for position, identifier in enumerate(sorted(members))}
    before_plus, before_minus = _steps_before(graph, positions)
    shorter, supporting = _plus_reach(before_plus, hop_cap)
    challenging = [_one_step(shorter, before) if hop_cap > 0 else 0 for before in before_minus]
    return Reach(positions, _without_self(positions, supporting), _without_self(positions, challenging), hop_cap)


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
