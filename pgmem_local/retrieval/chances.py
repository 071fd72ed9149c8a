"""How probable the best path of evidence is from one pool node to another (not in the paper, whose paths count alike).

A path holds where all its edges do, so its probability is the product of theirs. Equal to a best-path search from every node, but
computed for all origins of a block of targets at once, from the targets backwards: a node's best is its best edge times the best
of where that leads. As in `reach`, paths have at most H steps inside the pool, none leaves its region, and a minus can only be the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pgmem_local.graph.nodes import NodeId
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.graph.signs import Sign
from pgmem_local.retrieval.reach import REGION, Region

Chances = NDArray[np.float64]


@dataclass(frozen=True)
class Arrivals:
    """For one node, by position in its region: the probability of the best path that leads to it from each, by sign; 0 for none."""

    target: NodeId
    plus: Chances
    minus: Chances


@dataclass(frozen=True)
class _Steps:
    """All steps of one sign inside a region, those of one origin together: `origins[i]` has those from `begins[i]` on."""

    origins: NDArray[np.intp]
    begins: NDArray[np.intp]
    targets: NDArray[np.intp]
    probabilities: Chances

    def before(self, best: Chances) -> Chances:
        """The best paths that are these steps followed by the best paths given, shape (origins, targets)."""
        longer = np.zeros_like(best)
        if len(self.targets):
            longer[self.origins] = np.maximum.reduceat(self.probabilities[:, None] * best[self.targets], self.begins, axis=0)
        return longer


def arrivals(graph: PersonaGraph, region: Region, block: int = REGION) -> Iterator[Arrivals]:
    """The best paths to each node of a region, in the order of positions; a node's own entry says nothing.

    So many targets come at once as `block` says, for the tables of a large region to stay small (region × block).
    """
    plus, minus = (_steps(graph, region.positions, sign) for sign in Sign)
    ordered = list(region.positions)
    for first in range(0, len(ordered), block):
        targets = ordered[first : first + block]
        ends = np.zeros((len(ordered), len(targets)))
        ends[np.arange(first, first + len(targets)), np.arange(len(targets))] = 1.0
        supporting = _lengthened(plus, ends, region.hop_cap)
        last = minus.before(ends) if region.hop_cap > 0 else np.zeros_like(ends)
        challenging = _lengthened(plus, last, region.hop_cap - 1)
        for column, target in enumerate(targets):
            yield Arrivals(target, supporting[:, column], challenging[:, column])


def _lengthened(steps: _Steps, best: Chances, hops: int) -> Chances:
    """The best paths with up to so many more of these steps before them."""
    for _ in range(hops):
        longer = np.maximum(best, steps.before(best))
        if np.array_equal(longer, best):
            break
        best = longer
    return best


def _steps(graph: PersonaGraph, positions: Mapping[NodeId, int], wanted: Sign) -> _Steps:
    found = [
        (position, positions[following], edge.probability)
        for identifier, position in positions.items()
        for following, sign, edge in graph.steps(identifier)
        if sign is wanted and following in positions
    ]
    starts = np.array([start for start, _, _ in found], dtype=np.intp)
    origins, begins = np.unique(starts, return_index=True)
    targets = np.array([target for _, target, _ in found], dtype=np.intp)
    return _Steps(origins, begins, targets, np.array([probability for _, _, probability in found], dtype=np.float64))
