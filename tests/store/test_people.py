"""What is stored about others: it comes back as it was, it goes with its last source, and the owner's corrections can be undone."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from pgmem_local.dates import Grain
from pgmem_local.erasure import Erasure
from pgmem_local.errors import StoreBusy, StoreError, UnknownEntity
from pgmem_local.graph.nodes import NodeId
from pgmem_local.graph.people import Entity, EntityId, EntityKind, Fact, FactId, FactKind, Naming, Profile, Sentence
from pgmem_local.lesson import Lesson, PeopleLesson
from pgmem_local.store import MemoryStore, Place
from pgmem_local.store.people import Correction
from pgmem_local.store.people_rows import ForgottenPeople, forget_people_sources
from tests.store.builders import DIMENSION, IDENTITY, arrival, at, delete, open_store, vector

C1, C2, C3 = NodeId("c1"), NodeId("c2"), NodeId("c3")
TOBY, ANA = EntityId("p1"), EntityId("p2")
SAID = ("My flatmate Toby moved to Graz on Monday.", "Ana met Toby. My flatmate drinks tea.", "Rain.")
GRAZ = "Toby moved to Graz on Monday (2024-04-29)."
MOVED = Fact(FactId("f1"), TOBY, FactKind.DATE, GRAZ, (C1,), at(0), at(-60), "on Monday", None, Grain.DAY, True)
TEA = Fact(FactId("f2"), TOBY, FactKind.IDENTITY, "Toby drinks tea.", (C2,), at(1), None)


def taught(*facts: Fact, **more: object) -> Lesson:
    people = PeopleLesson(
        kinds={TOBY: EntityKind.PERSON},
        namings=(Naming(TOBY, C1, "Toby", "flatmate"), Naming(TOBY, C2, None, "flatmate")),
        profiles=(Profile(TOBY, (Sentence("Toby is the user's flatmate.", (C1,)), Sentence("Toby drinks tea.", (C2,)))),),
        facts=facts or (MOVED, TEA),
        vectors={TOBY: vector("Toby"), **{fact.id: vector(fact.text) for fact in facts or (MOVED, TEA)}},
    )
    return Lesson(people=people, **more)  # type: ignore[arg-type]


def started(home: Path) -> MemoryStore:
    store = open_store(home)
    store.add([arrival(text, at(hours)) for hours, text in enumerate(SAID)])
    return store


@pytest.fixture
def store(tmp_path: Path) -> MemoryStore:
    store = started(tmp_path)
    store.land(taught())
    return store


def forget(store: MemoryStore, *contexts: NodeId) -> ForgottenPeople:
    with sqlite3.connect(store.place.database) as connection:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA foreign_keys = ON")
        return forget_people_sources(connection, contexts)


def test_people_come_back_as_they_were_stored(store: MemoryStore) -> None:
    people = store.people.load()
    assert list(people) == [Entity(TOBY, "Toby", (), EntityKind.PERSON, "flatmate", at(0), at(1))]
    assert people.profile(TOBY).text == "Toby is the user's flatmate. Toby drinks tea."
    assert people.facts(TOBY) == [MOVED, TEA]


def test_vectors_come_back_and_are_searched_exactly(store: MemoryStore) -> None:
    found = store.people.vectors()
    assert found.profiles(vector("Toby")) == {TOBY: pytest.approx(1.0)}
    assert found.facts(vector(TEA.text))[TEA.id] == pytest.approx(1.0)
    assert store.people.without_vectors() == ([], [])


def test_later_lesson_adds_and_replaces(store: MemoryStore) -> None:
    linz = Fact(FactId("f3"), TOBY, FactKind.CHANGE, "Toby moved to Linz.", (C2,), at(1))
    people = PeopleLesson(facts=(linz,), said_again=((TEA.id, C1),), replaced={MOVED.id: linz.id}, vectors={linz.id: vector("Linz")})
    store.land(Lesson(people=people))
    after = store.people.load()
    assert [fact.id for fact in after.facts(TOBY)] == ["f2", "f3"]
    assert after.fact(MOVED.id).replaced_by == linz.id
    assert after.fact(TEA.id).sources == (C1, C2)


def test_people_land_with_their_lesson_or_not_at_all(store: MemoryStore) -> None:
    before = store.revision
    with pytest.raises(StoreBusy, match="another process"):
        store.land(taught(learned=(C1,)))
    with pytest.raises(StoreError, match="vector"):
        store.land(Lesson(people=PeopleLesson(vectors={TOBY: np.zeros(3, np.float32)}), learned=(C1,)))
    assert store.revision == before
    assert C1 in [context for context, _ in store.pending()]


def test_number_of_somebody_forgotten_is_never_used_again(store: MemoryStore) -> None:
    delete(store, [C1, C2])
    assert len(store.people.load()) == 0
    assert (store.people.next_entity(), store.people.next_fact()) == ("p2", "f3")
    assert store.people.next_entity() == "p3"


def test_nothing_outlives_its_last_source(store: MemoryStore) -> None:
    delete(store, [C2])
    people = store.people.load()
    assert [fact.id for fact in people.facts(TOBY)] == ["f1"]
    assert people.profile(TOBY).text == "Toby is the user's flatmate."
    assert store.people.vectors().profiles(vector("Toby")) == {}, "the vector of the longer profile went with it"
    assert store.people.without_vectors() == ([TOBY], [])


def test_name_goes_with_the_last_turn_that_gave_it(store: MemoryStore) -> None:
    """c2 says "my flatmate" and the fact made from it says Toby: with c1 gone, nobody may read the name there."""
    assert forget(store, C1) == ForgottenPeople(entities=0, sentences=2, facts=2)
    people = store.people.load()
    assert [entity.names for entity in people] == [("the user's flatmate",)]
    assert people.facts(TOBY, current=False) == []
    assert "Toby" not in "".join(fact.text for fact in people.all_facts())


def test_name_that_another_turn_gives_stays(store: MemoryStore) -> None:
    store.land(Lesson(people=PeopleLesson(namings=(Naming(TOBY, C2, "Toby"),))))
    assert forget(store, C1) == ForgottenPeople(sentences=1, facts=1)
    assert [fact.id for fact in store.people.load().facts(TOBY)] == ["f2"]


def test_short_name_that_goes_takes_no_longer_word_along(store: MemoryStore) -> None:
    jo = Fact(FactId("f3"), ANA, FactKind.IDENTITY, "Ana keeps a journal.", (C2,))
    people = PeopleLesson(kinds={ANA: EntityKind.PERSON}, namings=(Naming(TOBY, C1, "Jo"), Naming(ANA, C2, "Ana")), facts=(jo,))
    store.land(Lesson(people=people))
    forget(store, C1)
    assert [fact.id for fact in store.people.load().all_facts()] == ["f3"]


def test_erasing_a_turn_erases_the_name_that_it_alone_gave(store: MemoryStore) -> None:
    store.erase(Erasure(removed=(C1,)))
    people = store.people.load()
    assert [entity.name for entity in people] == ["the user's flatmate"]
    assert people.all_facts(current=False) == []


def test_erasing_everything_leaves_nobody(store: MemoryStore) -> None:
    store.erase(Erasure(everything=True))
    assert len(store.people.load()) == 0
    assert store.people.vectors().profiles(vector("Toby")) == {}


def test_integrity_holds_after_forgetting(store: MemoryStore) -> None:
    delete(store, [C1])
    assert store.integrity_check() == []


# ------------------------------------------------------------------ the owner's corrections


def two(store: MemoryStore) -> None:
    people = PeopleLesson(
        kinds={ANA: EntityKind.PERSON},
        namings=(Naming(ANA, C2, "Anna"),),
        profiles=(Profile(ANA, (Sentence("Anna met Toby.", (C2,)),)),),
        vectors={ANA: vector("Anna")},
    )
    store.land(Lesson(people=people))


def test_merged_entities_are_one_until_it_is_undone(store: MemoryStore) -> None:
    two(store)
    before = store.people.load()
    store.people.merge(TOBY, ANA)
    merged = store.people.load()
    assert [entity.names for entity in merged] == [("Toby", "Anna")]
    assert merged.profile(TOBY).text == "Toby is the user's flatmate. Anna met Toby. Toby drinks tea."
    assert store.people.without_vectors() == ([TOBY], [])
    undone = store.people.undo()
    assert undone is not None
    assert (undone.action, undone.entity) == (Correction.MERGE, TOBY)
    after = store.people.load()
    assert list(after) == list(before)
    assert [after.profile(one) for one in (TOBY, ANA)] == [before.profile(one) for one in (TOBY, ANA)]
    assert after.all_facts() == before.all_facts()


def test_what_was_learned_after_a_merge_stays_when_it_is_undone(store: MemoryStore) -> None:
    two(store)
    store.people.merge(TOBY, ANA)
    learned = Profile(TOBY, tuple(Sentence(f"Toby likes {what}.", (C1,)) for what in ("tea", "rain", "jam", "rum")))
    store.land(Lesson(people=PeopleLesson(profiles=(learned,))))
    store.people.undo()
    after = store.people.load()
    assert after.profile(TOBY) == learned
    assert after.profile(ANA).sentences == ()


def test_name_heard_after_a_forgetting_is_nobody_elses_when_a_merge_is_undone(store: MemoryStore) -> None:
    two(store)
    store.people.merge(TOBY, ANA)
    delete(store, [C2])
    store.land(Lesson(people=PeopleLesson(namings=(Naming(TOBY, C3, "Tobias"), Naming(TOBY, C3, "Tobi")))))
    store.people.undo()
    assert [one.names for one in store.people.load()] == [("Toby", "Tobias", "Tobi")]


def test_split_entity_takes_what_rests_on_its_turns_alone_until_it_is_undone(store: MemoryStore) -> None:
    new = store.people.split(TOBY, [C2], EntityKind.PERSON, "Tobias")
    people = store.people.load()
    assert [(entity.id, entity.name) for entity in people] == [(TOBY, "Toby"), (new, "Tobias")]
    assert [fact.id for fact in people.facts(TOBY)] == ["f1"]
    assert [fact.id for fact in people.facts(new)] == ["f2"]
    store.people.undo()
    assert [(entity.id, entity.name) for entity in store.people.load()] == [(TOBY, "Toby")]
    assert [fact.id for fact in store.people.load().facts(TOBY)] == ["f1", "f2"]


def test_renamed_entity_keeps_its_other_names_until_it_is_undone(store: MemoryStore) -> None:
    store.people.rename(TOBY, "Tobias W.")
    assert next(iter(store.people.load())).names == ("Tobias W.", "Toby")
    store.people.undo()
    assert next(iter(store.people.load())).names == ("Toby",)
    assert store.people.undo() is None


def test_forgotten_entity_takes_the_log_of_its_corrections_along(store: MemoryStore) -> None:
    two(store)
    store.people.merge(TOBY, ANA)
    store.people.rename(TOBY, "Secret")
    delete(store, [C1, C2])
    assert store.people.undo() is None
    with sqlite3.connect(Place(store.place.home).database) as connection:
        assert connection.execute("SELECT count(*) FROM entities").fetchone()[0] == 0


@pytest.mark.parametrize("contexts", [[], [C1, C2]])
def test_split_of_nothing_or_of_all_is_refused(store: MemoryStore, contexts: list[NodeId]) -> None:
    with pytest.raises(StoreError, match="not none and not all"):
        store.people.split(TOBY, contexts, EntityKind.PERSON)


def test_correction_of_nobody_says_what_to_do(store: MemoryStore) -> None:
    for correct in (lambda: store.people.merge(TOBY, ANA), lambda: store.people.rename(ANA, "x")):
        with pytest.raises(UnknownEntity, match="pgmem people"):
            correct()
    with pytest.raises(StoreError, match="itself"):
        store.people.merge(TOBY, TOBY)


def test_vectors_of_another_embedder_are_dropped(store: MemoryStore) -> None:
    store.replace_vectors(IDENTITY + "x", {one: vector(one, DIMENSION) for one in (C1, C2, NodeId("c3"))})
    assert store.people.without_vectors() == ([TOBY], ["f1", "f2"])
    store.people.add_vectors({TOBY: vector("Toby"), FactId("f1"): vector("f1"), FactId("f9"): vector("f9")})
    assert store.people.without_vectors() == ([], ["f2"])
