"""One quiet line tells what a lesson changed about the user, and nothing else does."""

from __future__ import annotations

from pgmem_local.graph.edges import Judgement, Relation
from pgmem_local.graph.nodes import Episode, Node, NodeId, State, Trait
from pgmem_local.lesson import Lesson
from pgmem_local.talking.notices import notice

EMPTY: frozenset[str] = frozenset()
OLD = State(NodeId("s1"), "User goes to pubs.", None, EMPTY, EMPTY)
NEW = State(NodeId("s2"), "User drinks no\nalcohol since 3 March", None, EMPTY, EMPTY)
TRAIT = Trait(NodeId("t1"), "User is frugal", None, EMPTY, EMPTY)
EPISODE = Episode(NodeId("e1"), "It rained.", None, EMPTY, EMPTY)


def told(*nodes: Node, relation: Relation | None = None) -> str | None:
    judgements = (Judgement(OLD.id, NEW.id, relation, 0.9, "hand"),) if relation else ()
    return notice(Lesson(nodes, judgements=judgements), {node.id: node for node in (OLD, NEW, TRAIT, EPISODE)}.__getitem__)


def test_new_notes_are_told_without_their_subject_on_one_line() -> None:
    assert told(NEW, TRAIT) == "noted: drinks no alcohol since 3 March, is frugal"


def test_what_is_replaced_is_past() -> None:
    assert told(NEW, relation=Relation.SHIFT_TO) == "noted: drinks no alcohol since 3 March; now past: goes to pubs"
    assert told(relation=Relation.SHIFT_TO) == "now past: goes to pubs"


def test_other_relations_and_episodes_are_not_told() -> None:
    assert told(relation=Relation.SUPPORT) is None
    assert told(EPISODE) is None
    assert told() is None
