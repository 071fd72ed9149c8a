from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from pgmem_local.conversation import Moment
from pgmem_local.dates import Grain
from pgmem_local.graph.edges import Judgement, Relation
from pgmem_local.graph.nodes import Context, Episode, NodeId, State
from pgmem_local.graph.people import Entity, EntityId, Fact, FactId, FactKind, People
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.graph.timeline import timeline

NOTHING: frozenset[str] = frozenset()
ANA = EntityId("p1")


def at(iso: str) -> Moment:
    return Moment.of(datetime.fromisoformat(iso))


def context(number: int, text: str, moment: Moment | None) -> Context:
    return Context(NodeId(f"c{number}"), text, moment, NOTHING, NOTHING, f"k{number}")


DIARY = (
    context(1, "Yesterday I bought a tent. It is green.", at("2025-12-30T21:00:00+01:00")),
    context(2, "Next Friday I fly to Oslo.", at("2025-12-30T21:01:00+01:00")),
    context(3, "Two weeks ago my bike was stolen.", at("2026-01-05T08:00:00+01:00")),
    context(4, "Last month was quiet.", at("2026-03-01T08:00:00+01:00")),
    context(5, "Yesterday it rained.", None),
)


def drawn(*nodes: Context | State | Episode, judgements: tuple[Judgement, ...] = ()) -> PersonaGraph:
    graph = PersonaGraph()
    graph.add(nodes, judgements=judgements)
    return graph


def test_events_stand_at_the_day_their_words_mean() -> None:
    assert [(one.when, one.doubtful, one.text) for one in timeline(drawn(*DIARY), People())] == [
        ("2025-12-22", False, "Two weeks ago (2025-12-22) my bike was stolen."),
        ("2025-12-29", False, "Yesterday (2025-12-29) I bought a tent."),
        ("2026-01-02", True, "Next Friday (2026-01-02 or 2026-01-09) I fly to Oslo."),
        ("February 2026", False, "Last month (February 2026) was quiet."),
    ]


def test_state_says_since_when_it_no_longer_holds() -> None:
    old = State(NodeId("s1"), "User drinks espresso", at("2026-01-01T08:00:00+00:00"), NOTHING, NOTHING)
    new = State(NodeId("s2"), "User drinks tea", at("2026-02-01T08:00:00+00:00"), NOTHING, NOTHING)
    graph = drawn(old, new, judgements=(Judgement(old.id, new.id, Relation.SHIFT_TO, 0.9, "test"),))
    assert [(one.id, one.ended) for one in timeline(graph, People())] == [("s1", new.moment), ("s2", None)]


def test_timeline_of_one_entity_holds_only_what_is_about_it() -> None:
    moment = at("2026-01-05T08:00:00+01:00")
    graz = Fact(FactId("f1"), ANA, FactKind.CHANGE, "Ana lives in Graz.", (NodeId("c7"),), moment, replaced_by=FactId("f2"))
    linz = Fact(
        FactId("f2"), ANA, FactKind.CHANGE, "Ana moved last year.", (NodeId("c8"),), at("2026-03-05T08:00:00+01:00"),
        at("2025-01-01T00:00:00+01:00"), "last year", grain=Grain.YEAR,
    )  # fmt: skip
    people = People([Entity(ANA, "Ana")], facts=[graz, linz])
    graph = drawn(*DIARY, context(6, "Ana came yesterday. Yesterday I swam.", moment))
    assert [(one.when, one.id, one.ended) for one in timeline(graph, people, ANA)] == [
        ("2025", "f2", None),
        ("2026-01-04", "c6", None),
        ("2026-01-05", "f1", linz.happened),
    ]


def test_episode_is_told_with_absolute_dates() -> None:
    episode = Episode(NodeId("e1"), "User bought a tent yesterday.", at("2025-12-30T21:00:00+01:00"), NOTHING, NOTHING)
    assert [one.text for one in timeline(drawn(episode), People())] == ["User bought a tent yesterday (2025-12-29)."]


def test_what_others_say_in_a_chat_is_not_told_as_the_users() -> None:
    theirs = replace(context(7, "Yesterday I bought a boat.", at("2025-12-30T21:00:00+01:00")), author="Ana")
    assert timeline(drawn(theirs), People()) == []
