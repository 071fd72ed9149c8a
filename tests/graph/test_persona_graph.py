from __future__ import annotations

import pytest

from pgmem_local.errors import UnknownNode
from pgmem_local.graph.nodes import Kind, NodeId, kind_of, node_id, number_of
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.graph.signs import Sign
from tests.builders import Sketch


def test_id_names_its_kind_and_number() -> None:
    assert [node_id(kind, 7) for kind in Kind] == ["c7", "e7", "s7", "t7"]
    assert all(kind_of(node_id(kind, 7)) is kind and number_of(node_id(kind, 7)) == 7 for kind in Kind)


def test_unknown_node_is_named_in_the_error() -> None:
    with pytest.raises(UnknownNode, match="s9"):
        PersonaGraph()[NodeId("s9")]


def test_nodes_are_listed_by_kind() -> None:
    sketch = Sketch()
    state, trait = sketch.state(), sketch.trait()
    assert [node.id for node in sketch.graph.of_kind(Kind.STATE)] == [state]
    assert [node.id for node in sketch.graph.of_kind(Kind.TRAIT)] == [trait]
    assert state in sketch.graph
    assert len(sketch.graph) == 2


def test_keyword_finds_whole_words_only() -> None:
    sketch = Sketch()
    jo, _ = sketch.state("Jo likes tea"), sketch.state("Joanna's journal")
    assert sketch.graph.with_keyword({"jo", "absent"}) == {jo}


def test_trait_rests_on_the_contexts_behind_its_sources() -> None:
    sketch = Sketch()
    first, second, state, trait = sketch.context(), sketch.context(), sketch.state(), sketch.trait()
    sketch.derive(state, first)
    sketch.derive(trait, state, second)
    assert sketch.graph.contexts_behind(trait) == [second, first]
    assert sketch.graph.contexts_behind(first) == [first]
    assert sketch.graph.derived(first) == [state]
    assert sketch.graph.sources(trait) == [state, second]


def test_support_and_contradiction_are_walked_both_ways() -> None:
    sketch = Sketch()
    one, friend, rival = sketch.state(), sketch.state(), sketch.state()
    sketch.support(one, friend)
    sketch.contradict(rival, one)
    assert {(node, sign) for node, sign, _ in sketch.graph.steps(one)} == {(friend, Sign.PLUS), (rival, Sign.MINUS)}
    assert [(node, sign) for node, sign, _ in sketch.graph.steps(friend)] == [(one, Sign.PLUS)]
    assert [(node, sign) for node, sign, _ in sketch.graph.steps(rival)] == [(one, Sign.MINUS)]


def test_shift_is_a_plus_forward_and_a_minus_backward() -> None:
    sketch = Sketch()
    old, new = sketch.state(), sketch.state()
    sketch.shift(old, new)
    assert [(node, sign) for node, sign, _ in sketch.graph.steps(old)] == [(new, Sign.PLUS)]
    assert [(node, sign) for node, sign, _ in sketch.graph.steps(new)] == [(old, Sign.MINUS)]
    assert sketch.graph.replaced_by(old) == [new]
    assert sketch.graph.replaces(new) == [old]


def test_irrelevant_pair_is_judged_but_never_walked() -> None:
    sketch = Sketch()
    one, other, third = sketch.state(), sketch.state(), sketch.state()
    sketch.irrelevant(one, other)
    assert sketch.graph.judged(other, one)
    assert not sketch.graph.judged(one, third)
    assert list(sketch.graph.steps(one)) == []
