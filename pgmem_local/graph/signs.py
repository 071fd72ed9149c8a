"""How evidence composes along a path (PGMem, section 4.3.2 and equation 7).

⊕ and ⇝ taken forward carry a plus, ⊖ and ⇝ taken backward a minus. A plus lets the path go on; a minus ends it.
"""

from __future__ import annotations

from enum import Enum

from pgmem_local.graph.edges import Relation


class Sign(Enum):
    PLUS = "+"
    MINUS = "-"

    def then(self, following: Sign) -> Sign:
        """The sign of this path lengthened by one step; raises ValueError where a minus already ended it."""
        if self is Sign.MINUS:
            raise ValueError("a path ends at its first minus")
        return following


def step_sign(relation: Relation, forward: bool) -> Sign | None:
    """The sign of walking an edge in its own direction (`forward`) or against it; None where it is never walked."""
    if relation is Relation.SUPPORT:
        return Sign.PLUS
    if relation is Relation.CONTRADICT:
        return Sign.MINUS
    if relation is Relation.SHIFT_TO:
        return Sign.PLUS if forward else Sign.MINUS
    return None
