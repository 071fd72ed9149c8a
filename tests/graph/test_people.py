from __future__ import annotations

import pytest

from pgmem_local.errors import UnknownEntity
from pgmem_local.graph.nodes import NodeId
from pgmem_local.graph.people import Entity, EntityId, EntityKind, Fact, FactId, FactKind, People, Profile, Sentence

ANA, BEN, JO, KIM = (EntityId(one) for one in ("p1", "p2", "p3", "p4"))
C1 = NodeId("c1")


def people(*entities: Entity, **profiles: str) -> People:
    written = [Profile(EntityId(one), (Sentence(text, (C1,)),)) for one, text in profiles.items()]
    return People(entities, written)


def named(name: str, number: int = 1, **more: object) -> Entity:
    return Entity(EntityId(f"p{number}"), name, **more)  # type: ignore[arg-type]


def fact(number: int, text: str, replaced_by: str | None = None) -> Fact:
    return Fact(FactId(f"f{number}"), ANA, FactKind.IDENTITY, text, (C1,), replaced_by=FactId(replaced_by) if replaced_by else None)


@pytest.mark.parametrize("name", ["Jo", "jo", "Jo's", "Jo’s", "JO"])
def test_name_is_found_in_any_case_and_with_a_possessive(name: str) -> None:
    assert people(named("Jo")).resolve(name) == named("Jo")


@pytest.mark.parametrize("name", ["Joanna", "journal", "J", "", "J_", "%", "Jo Malone"])
def test_name_is_not_found_in_a_longer_word_or_by_a_wildcard(name: str) -> None:
    assert people(named("Jo Reyes")).resolve(name) is None


def test_underscore_in_a_name_is_no_wildcard() -> None:
    assert people(named("a_b")).resolve("aXb") is None
    assert people(named("a_b")).mentions("You know a_b.") == ["p1"]


def test_first_name_and_alias_mean_the_one_who_bears_them() -> None:
    ana = named("Ana Reyes", aliases=("Annie",))
    assert [people(ana).resolve(name) for name in ("Ana", "Annie", "Ana Reyes", "Reyes")] == [ana, ana, ana, None]


def test_two_people_with_one_first_name_stay_two() -> None:
    both = people(named("Ana Reyes", 1), named("Ana Silva", 2))
    assert both.resolve("Ana") is None
    assert [entity.id for entity in both.candidates("Ana")] == ["p1", "p2"]
    assert both.mentions("Ana Silva met Ana.") == ["p2"]
    assert [mention.candidates for mention in both.mentions_in("Ana Silva met Ana.")] == [("p2",), ("p1", "p2")]


def test_longer_name_may_mean_who_is_known_by_the_first_alone() -> None:
    assert people(named("Ana")).resolve("Ana Reyes") == named("Ana")
    assert people(named("Ana Silva")).resolve("Ana Reyes") is None


def test_another_surname_is_another_person() -> None:
    assert people(named("Ana Reyes")).mentions("I met Ana Silva.") == []
    assert people(named("Ana Reyes")).mentions("Ana's Volvo. Ana Reyes drove. On Monday Ana I saw.") == ["p1"]


def test_title_is_no_part_of_a_name() -> None:
    assert people(named("Aunt Rosa")).resolve("Rosa") == people(named("Rosa")).having([named("Aunt Rosa")]).resolve("Rosa")


def test_first_word_of_a_place_is_not_its_name() -> None:
    assert people(named("New York", kind=EntityKind.PLACE)).mentions("A New year in New York") == ["p1"]
    assert people(named("New York", kind=EntityKind.PLACE)).resolve("New") is None


@pytest.mark.parametrize(("text", "found"), [("I will go", []), ("Will goes", ["p1"]), ("My journal is full of kimchi.", [])])
def test_ordinary_word_names_nobody(text: str, found: list[str]) -> None:
    assert people(named("Will"), named("Jo", 3), named("Kim", 4)).mentions(text) == found


def test_question_in_lower_case_names_people() -> None:
    assert people(named("Kim"), named("Jo", 3)).mentions("does kim know jo's sister?") == ["p1", "p3"]


def test_relation_means_the_only_one_who_stands_in_it() -> None:
    known = people(named("Ana", 1, relation="flatmate"), named("Ana", 2, relation="colleague"), named("Rosa", 3, relation="aunt"))
    assert known.resolve("Ana") is None
    assert known.resolve("my flatmate") == known[ANA]
    assert known.resolve("my colleague Ana") == known[BEN]
    assert known.mentions("My flatmate and my aunt's dog met my colleague Ana.") == ["p1", "p3", "p2"]


def test_profile_links_to_the_entities_it_names_but_not_to_itself() -> None:
    known = people(named("Ana", 1), named("Ben", 2), p1="Ana lives with Ben. Ana is kind.")
    assert known.links(ANA) == [BEN]
    assert known.links(BEN) == []
    assert known.profile(BEN) == Profile(BEN)


def test_replaced_fact_is_history_and_not_current() -> None:
    known = People([named("Ana")], facts=[fact(1, "Ana lives in Graz.", "f2"), fact(2, "Ana lives in Linz.")])
    assert [one.id for one in known.facts(ANA)] == ["f2"]
    assert [one.id for one in known.facts(ANA, current=False)] == ["f1", "f2"]
    assert not known.fact(FactId("f1")).current


def test_what_is_added_takes_the_place_of_what_has_its_id() -> None:
    before = People([named("Ana")], facts=[fact(1, "Ana lives in Graz.")])
    after = before.having([named("Ana Reyes")], facts=[fact(1, "Ana lives in Graz.", "f2"), fact(2, "Ana lives in Linz.")])
    assert [entity.name for entity in after] == ["Ana Reyes"]
    assert [one.id for one in after.facts(ANA)] == ["f2"]
    assert [one.id for one in before.facts(ANA)] == ["f1"]


def test_unknown_id_says_what_to_do() -> None:
    with pytest.raises(UnknownEntity, match="pgmem people"):
        People()[JO]
    with pytest.raises(UnknownEntity, match="pgmem people show"):
        People().fact(FactId("f9"))
