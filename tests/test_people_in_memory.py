"""Others in one person's memory: they are learned when a chunk closes, land with it, and change nothing of what is known of the user."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from pgmem_local.control.erasing import Receipt
from pgmem_local.control.forgetting import ForgetPlan, Selection
from pgmem_local.conversation import Exchange, Turn
from pgmem_local.graph.nodes import Kind
from pgmem_local.graph.people import FactId
from pgmem_local.memory import PersonaMemory
from pgmem_local.settings import PeopleSettings, Settings
from pgmem_local.store import MemoryStore
from tests.builders import on_day
from tests.fakes import HashEmbedder
from tests.profiles.builders import PeopleReader
from tests.reader import Reader, believe_the_model
from tests.store.builders import delete

TOLD = (
    "I drink tea. My friend Jonas says he hates football.",
    "My flatmate Toby sings. I swim.",
    "Toby moved to Graz. I drink espresso now.",
)
NOTES = {"tea": "drinks tea", "swim": "swims", "espresso": "drinks espresso"}


@pytest.fixture(autouse=True)
def believed(monkeypatch: pytest.MonkeyPatch) -> None:
    believe_the_model(monkeypatch)


def model() -> Reader:
    reader = Reader(NOTES)
    reader.rules |= PeopleReader({"Graz": "place"}).rules
    return reader


def opened(home: Path, chat: Reader | None = None, **people: bool) -> PersonaMemory:
    settings = replace(Settings(), people=PeopleSettings(**people))
    return PersonaMemory(MemoryStore.open(home), lambda: chat or model(), HashEmbedder, settings)


def told(texts: Sequence[str] = TOLD) -> list[Exchange]:
    return [Exchange(Turn(text, on_day(day))) for day, text in enumerate(texts)]


def learned(home: Path, chat: Reader | None = None, texts: Sequence[str] = TOLD, **people: bool) -> PersonaMemory:
    memory = opened(home, chat, **people)
    memory.observe(told(texts))
    memory.learn()
    return memory


def test_people_are_learned_and_are_there_when_the_memory_is_opened_again(tmp_path: Path) -> None:
    with learned(tmp_path) as memory:
        before = [memory.people.profile(one.id) for one in memory.people]
        facts = memory.people.all_facts()
    with opened(tmp_path) as again:
        assert [one.name for one in again.people] == ["Jonas", "Toby"]
        assert [again.people.profile(one.id) for one in again.people] == before
        assert again.people.all_facts() == facts
        assert again.store.integrity_check() == []


def test_this_layer_changes_no_node_of_the_user(tmp_path: Path) -> None:
    with learned(tmp_path / "with") as one, learned(tmp_path / "without", enabled=False) as other:
        assert len(one.people) == 2
        assert len(other.people) == 0
        assert [one.graph.of_kind(kind) for kind in Kind] == [other.graph.of_kind(kind) for kind in Kind]
        nodes = [node.id for kind in Kind for node in one.graph.of_kind(kind)]
        assert [one.graph.sources(node) for node in nodes] == [other.graph.sources(node) for node in nodes]
        assert [one.graph.evidence(node) for node in nodes] == [other.graph.evidence(node) for node in nodes]


def test_a_chunk_costs_one_call_and_one_for_each_entity(tmp_path: Path) -> None:
    chat = model()
    with learned(tmp_path, chat) as memory:
        spent = memory.store.spent()
    assert chat.tasks().count("people_names") == 3, "a diary day is a chunk"
    assert spent["people_names"].calls + spent["people_profile"].calls == 3 + 3


def test_layer_that_is_switched_off_costs_nothing(tmp_path: Path) -> None:
    chat = model()
    learned(tmp_path, chat, enabled=False).close()
    assert not [task for task in chat.tasks() if task.startswith("people")]


def test_profiles_and_facts_are_found_by_meaning(tmp_path: Path) -> None:
    with learned(tmp_path) as memory:
        toby = memory.people.resolve("my flatmate")
        assert toby is not None
        query = memory.embedder.embed(["Toby moved to Graz."])[0]
        scores = memory.people_vectors().facts(query)
        assert memory.people.fact(max(scores, key=lambda one: scores[one])).text == "Toby moved to Graz."
        assert set(memory.people_vectors().profiles(query)) == {one.id for one in memory.people}


def test_changed_profile_is_embedded_anew_when_it_is_searched(tmp_path: Path) -> None:
    with learned(tmp_path) as memory:
        delete(memory.store, [memory.people.fact(FactId("f3")).sources[0]])
        memory.refresh()
        assert memory.store.people.without_vectors()[0]
        memory.people_vectors()
        assert memory.store.people.without_vectors() == ([], [])


# ------------------------------------------------------------------ hard cases


def test_case_third_persons_and_reported_speech(tmp_path: Path) -> None:
    texts = (
        "My friend Jonas says he hates football, but his father signed him up for it anyway.",
        "What is a good gift for Priya? She is allergic to nuts.",
        "Mira called. She starts at the hospital on Monday.",
    )
    with learned(tmp_path, texts=texts) as memory:
        facts = {one.name: [fact.text for fact in memory.people.facts(one.id)] for one in memory.people}
        states = memory.graph.of_kind(Kind.STATE)
    assert facts["Jonas"] == ["My friend Jonas says he hates football, but his father signed him up for it anyway."]
    assert facts["Priya"] == ["Priya is allergic to nuts."]
    assert facts["Mira"] == ["Mira called.", "Mira starts at the hospital on Monday (2026-01-05)."]
    assert set(facts) == {"Jonas", "Priya", "Mira"}, "no pronoun, no friend, and the user is nobody of them"
    assert states == []


def test_case_person_only_asked_about_gets_no_facts(tmp_path: Path) -> None:
    with learned(tmp_path, texts=("What is a good gift for Priya?", "Could Ana come too?")) as memory:
        assert len(memory.people) == 0


def test_case_short_names_are_not_parts_of_longer_words(tmp_path: Path) -> None:
    texts = (
        "Jo's birthday is 3 June. Joanna moved to Porto. My journal is full.",
        "Kim makes kimchi every week. Kimberly is allergic to bees.",
        "My gamer tag is a_b; my brother's is aXb.",
    )
    chat = model()
    chat.rules |= PeopleReader({"Porto": "place"}, same=[("Jo", "Joanna"), ("Kim", "Kimberly")]).rules
    with learned(tmp_path, chat, texts) as memory:
        facts = {one.name: [fact.text for fact in memory.people.facts(one.id)] for one in memory.people}
        assert memory.people.resolve("a_b") is None
        assert memory.people.resolve("100%") is None
    assert facts["Jo"] == ["Jo's birthday is 3 June."]
    assert facts["Joanna"] == ["Joanna moved to Porto."]
    assert facts["Kim"] == ["Kim makes kimchi every week."]
    assert facts["Kimberly"] == ["Kimberly is allergic to bees."]
    assert not {"Jo's", "Kimchi", "Journal"} & set(facts)


# ------------------------------------------------------------------ asking about them


def test_question_about_somebody_is_answered_from_a_chain_of_facts_and_cites_its_exchanges(tmp_path: Path) -> None:
    texts = ("Ben is the flatmate of Jonas.", "Ben plays the tuba.", "I drink tea.")
    chat = model()
    with learned(tmp_path, chat, texts=texts) as memory:
        chat.rules["answer"] = lambda asked: " Yes" if asked.options else f"The tuba [{label_of(asked.prompt.text, 'Ben plays the tuba')}]."
        given, retrieval = memory.ask("What does the flatmate of Jonas play?")
        assert given.text == "The tuba."
        assert [quote.text for citation in given.citations for quote in citation.quotes] == ["Ben plays the tuba."]
        assert [one.text for one in retrieval.company.paths[0].statements] == list(texts[:2])


def label_of(notes: str, text: str) -> str:
    (line, *_) = [line for line in notes.splitlines() if text in line]
    return line[1 : line.index("]")]


def test_where_nobody_is_known_the_exchanges_come_beside_the_persona(tmp_path: Path) -> None:
    with learned(tmp_path, enabled=False) as memory:
        found = memory.recall("Does Jonas hate football?")
        assert not found.company.paths
        assert "My friend Jonas says he hates football" in memory.joined_notes(found, 300).text


def test_forgotten_exchange_is_in_no_chain_and_no_note(tmp_path: Path) -> None:
    with learned(tmp_path, texts=("Ben is the flatmate of Jonas.", "Ben plays the tuba.")) as memory:
        gone = next(fact.sources[0] for fact in memory.people.all_facts() if "tuba" in fact.text)
        memory.forget(Selection(ids=(gone,)))
        found = memory.recall("What does the flatmate of Jonas play?")
        assert "tuba" not in memory.joined_notes(found, 300).text


# ------------------------------------------------------------------ what forgetting takes of them

def said_on(number: int) -> date:
    moment = on_day(number)
    assert moment is not None
    return moment.day


MORE = (*TOLD, "Mira met Toby at the pool.", "Mira lives in Bergen. Jonas and Mira sing.")
PEOPLE_ROWS = {
    "entities": "entities WHERE merged_into IS NULL",
    "facts": "facts",
    "sentences": "profile_sentences",
    "names": "(SELECT own_name FROM entities UNION SELECT own_name FROM entity_log) WHERE own_name IS NOT NULL",
}


def people_rows(memory: PersonaMemory) -> dict[str, int]:
    with closing(sqlite3.connect(memory.store.place.database)) as connection:
        return {name: connection.execute(f"SELECT count(*) FROM {rows}").fetchone()[0] for name, rows in PEOPLE_ROWS.items()}


def of_people(counts: ForgetPlan | Receipt) -> dict[str, int]:
    return {name: getattr(counts, name) for name in PEOPLE_ROWS}


@pytest.mark.parametrize(
    "selection",
    [
        Selection(text="moved to Graz"),
        Selection(entity="Toby"),
        Selection(entity="Mira"),
        Selection(text="Herring"),
        Selection(since=said_on(1), until=said_on(2)),
        Selection(everything=True),
    ],
)
def test_plan_and_receipt_count_what_goes_of_others(tmp_path: Path, selection: Selection) -> None:
    with learned(tmp_path, texts=MORE) as memory:
        memory.rename_person("Mira", "Herring")
        memory.merge_people("Toby", "Jonas")
        before = people_rows(memory)
        plan = memory.plan_forgetting(selection)
        assert people_rows(memory) == before, "a plan changes nothing"
        receipt = memory.forget(plan)
        after = people_rows(memory)
    gone = {name: before[name] - after[name] for name in before}
    assert of_people(plan) == of_people(receipt) == gone
    assert any(gone.values())


def test_name_that_nothing_but_the_owner_gave_can_be_forgotten(tmp_path: Path) -> None:
    with learned(tmp_path) as memory:
        memory.rename_person("Toby", "Herring")
        plan = memory.plan_forgetting(Selection(text="Herring"))
        assert plan
        assert not plan.removed
        memory.forget(plan)
        assert [one.name for one in memory.people] == ["Jonas", "Toby"]
        assert not memory.plan_forgetting(Selection(text="Herring"))
