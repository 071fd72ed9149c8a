from __future__ import annotations

import pytest

from pgmem_local.graph.edges import Relation
from pgmem_local.graph.signs import Sign, step_sign


def test_plus_lets_a_path_take_the_sign_of_its_next_step() -> None:
    assert Sign.PLUS.then(Sign.PLUS) is Sign.PLUS
    assert Sign.PLUS.then(Sign.MINUS) is Sign.MINUS


@pytest.mark.parametrize("following", list(Sign))
def test_minus_ends_a_path(following: Sign) -> None:
    with pytest.raises(ValueError, match="ends at its first minus"):
        Sign.MINUS.then(following)


@pytest.mark.parametrize(
    ("relation", "forward", "backward"),
    [
        (Relation.SUPPORT, Sign.PLUS, Sign.PLUS),
        (Relation.CONTRADICT, Sign.MINUS, Sign.MINUS),
        (Relation.SHIFT_TO, Sign.PLUS, Sign.MINUS),
        (Relation.IRRELEVANT, None, None),
    ],
)
def test_step_has_the_sign_of_the_paper(relation: Relation, forward: Sign | None, backward: Sign | None) -> None:
    assert step_sign(relation, forward=True) is forward
    assert step_sign(relation, forward=False) is backward
