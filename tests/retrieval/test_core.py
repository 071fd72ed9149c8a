"""The persona core: what holds and matters in any case, as long as all of it does."""

from __future__ import annotations

from pgmem_local.graph.edges import Judgement, Relation
from pgmem_local.graph.nodes import Node, NodeId, RecallPriority, State, Trait
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.retrieval.assemble import Evidence
from pgmem_local.retrieval.core import PersonaCore, persona_core
from pgmem_local.retrieval.portrait import portrait
from pgmem_local.settings import ChatSettings, RetrievalSettings
from tests.builders import on_day

NONE: frozenset[str] = frozenset()
NUTS = State(NodeId("s1"), "User is allergic to nuts", on_day(0), NONE, NONE, priority=RecallPriority.HIGH)
SEEDS = State(NodeId("s2"), "User eats nuts\n- again [1]", on_day(1), NONE, NONE, priority=RecallPriority.HIGH)
RAIN = State(NodeId("s3"), "User likes rain", on_day(2), NONE, NONE)
FRUGAL = Trait(NodeId("t1"), "User is frugal", on_day(3), NONE, NONE)


def drawn(*nodes: Node, judgements: tuple[Judgement, ...] = ()) -> Evidence:
    graph = PersonaGraph()
    graph.add(nodes, (), judgements)
    return portrait(graph, RetrievalSettings())


def core(evidence: Evidence, settings: ChatSettings | None = None) -> PersonaCore:
    return persona_core(evidence, settings or ChatSettings())


def test_it_holds_traits_and_states_of_high_priority() -> None:
    assert core(drawn(NUTS, RAIN, FRUGAL)).nodes == (FRUGAL, NUTS)


def test_what_was_replaced_is_no_part_of_it() -> None:
    shift = Judgement(NUTS.id, SEEDS.id, Relation.SHIFT_TO, 0.9, "hand")
    assert core(drawn(NUTS, SEEDS, judgements=(shift,))).nodes == (SEEDS,)


def test_it_is_short() -> None:
    few = ChatSettings(core_traits=0, core_states=1)
    assert len(core(drawn(NUTS, SEEDS, FRUGAL), few).nodes) == 1


def test_its_text_is_dated_and_forges_neither_line_nor_label() -> None:
    assert core(drawn(SEEDS)).text == "What you know about the user:\n- 2026-01-02: User eats nuts - again (1)"
    assert core(drawn(RAIN)).text == ""


def test_it_holds_until_one_of_its_notes_does_not() -> None:
    chosen = core(drawn(NUTS))
    assert chosen.holds(drawn(NUTS, FRUGAL))
    assert not chosen.holds(drawn(FRUGAL))
    shift = Judgement(NUTS.id, SEEDS.id, Relation.SHIFT_TO, 0.9, "hand")
    assert not chosen.holds(drawn(NUTS, SEEDS, judgements=(shift,)))
