"""Chains of statements: what answers is found behind people the question does not name, in the order that leads there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgmem_local.graph.people import EntityId, FactId
from pgmem_local.retrieval.asked import read_question
from pgmem_local.settings import HopSettings
from tests.retrieval.company import Circle

LINKS = (
    ("Ana", "Ben", "Ben is the flatmate of Ana."),
    ("Ben", "Carla", "Carla is the climbing partner of Ben."),
    ("Carla", "Dov", "Dov is the landlord of Carla."),
    ("Dov", "Edda", "Edda is the cousin of Dov."),
)
DRINKS = {"Ana": "cocoa", "Ben": "rum", "Carla": "kvass", "Dov": "whey", "Edda": "sherry"}


@pytest.fixture
def circle() -> Circle:
    """Five people in a row, each of whom plays and drinks something."""
    drawn = Circle()
    who = {name: drawn.person(name) for name in DRINKS}
    for one, other, text in LINKS:
        drawn.fact(text, who[one], who[other])
    for name, drink in DRINKS.items():
        drawn.fact(f"{name} drinks {drink}.", who[name])
        drawn.fact(f"{name} walks to market number {len(name) * 7}.", who[name])
    return drawn


def test_fact_of_who_is_named_is_found(circle: Circle) -> None:
    assert circle.best("What does Carla drink?") == ["Carla drinks kvass."]


def test_two_hops_lead_to_somebody_not_named(circle: Circle) -> None:
    assert circle.best("What does Ana's flatmate drink?") == ["Ben is the flatmate of Ana.", "Ben drinks rum."]


def test_three_hops_come_in_the_order_that_leads_there(circle: Circle) -> None:
    found = circle.paths("What does the climbing partner of Ana's flatmate drink?")[0]
    assert [one.text for one in found.statements] == [LINKS[0][2], LINKS[1][2], "Carla drinks kvass."]
    assert [circle.people[one].name for one in found.people] == ["Ana", "Ben", "Carla"]


def test_five_hops_do_not_drown(circle: Circle) -> None:
    question = "What does the cousin of the landlord of the climbing partner of Ana's flatmate drink?"
    assert circle.best(question) == [*(text for *_, text in LINKS), "Edda drinks sherry."]
    assert "Edda" not in {one.entity.name for one in circle.chosen(question)[:1]}


def test_question_in_two_sentences_is_one_chain(circle: Circle) -> None:
    assert circle.best("Dov has a cousin. What does she drink?")[-1] == "Edda drinks sherry."


def test_path_that_explains_all_goes_no_further(circle: Circle) -> None:
    best = circle.paths("What does Ana's flatmate drink?")[0]
    assert len(best.statements) == 2
    assert all(len(path.people) <= 2 for path in circle.paths("What does Ana drink?"))


def test_superseded_fact_is_on_no_path(circle: Circle) -> None:
    newer = circle.fact("Ben drinks milk.", EntityId("p2"), day=9)
    circle.fact("Ben drinks absinthe.", EntityId("p2"), replaced_by=newer)
    texts = {one.text for path in circle.paths("What does Ana's flatmate drink?") for one in path.statements if one.fact}
    assert "Ben drinks milk." in texts
    assert "Ben drinks absinthe." not in texts


def test_two_with_one_first_name_stay_two() -> None:
    drawn = Circle()
    one, other, flatmate = drawn.person("Ana Silva"), drawn.person("Ana Reyes"), drawn.person("Ben")
    drawn.fact("Ben is the flatmate of Ana Silva.", one, flatmate)
    drawn.fact("Ana Reyes drinks whey.", other)
    drawn.fact("Ben drinks rum.", flatmate)
    assert {path.people[0] for path in drawn.paths("What does Ana Silva's flatmate drink?")} == {one}
    named = [path for path in drawn.paths("What does Ana drink?") if path.people[0] in (one, other)]
    assert named, "an unclear name is looked for, but begins no chain of its own"


def test_relation_to_the_user_begins_a_chain_with_what_says_so() -> None:
    drawn = Circle()
    ben = drawn.person("Ben", relation="flatmate")
    (introduced,) = drawn.profile(ben, "Ben is the user's flatmate.")
    drawn.fact("Ben drinks rum.", ben)
    best = drawn.paths("What does my flatmate drink?")[0]
    assert best.sources[0] == introduced
    assert best.statements[-1].text == "Ben drinks rum."


def test_relation_told_in_other_words_begins_at_the_user() -> None:
    drawn = Circle()
    ben = drawn.person("Ben")
    drawn.fact("Ben and I share a flat.", ben)
    drawn.fact("Ben drinks rum.", ben)
    assert drawn.best("What does my flatmate's sister drink?")[0] == "Ben and I share a flat."


def test_who_is_named_in_the_same_breath_is_reached() -> None:
    drawn = Circle()
    del_, gwil = drawn.person("Del"), drawn.person("Gwil")
    said = "Del has rooms in Mill Lane. Gwil is the landlord."
    drawn.fact("Del has rooms in Mill Lane.", del_, said=said)
    drawn.facts.append(replace(drawn.facts[0], id=FactId("f9"), entity=gwil, text="Gwil is the landlord."))
    drawn.fact("Gwil drinks kvass.", gwil)
    assert ["Del has rooms in Mill Lane. Gwil is the landlord.", "Gwil drinks kvass."] in [
        [one.text for one in path.statements] for path in drawn.paths("What does Del's landlord drink?")[:3]
    ]


def test_exchange_that_no_fact_was_made_of_is_a_hop_too() -> None:
    drawn = Circle()
    rike, gwilym = drawn.person("Rike"), drawn.person("Gwilym")
    drawn.sketch.context("Rike said she was married to her ex-husband Gwilym for years.")
    drawn.fact("Gwilym drinks kvass.", gwilym)
    drawn.fact("Rike paints.", rike)
    assert drawn.best("What does Rike's ex-husband drink?")[-1] == "Gwilym drinks kvass."


def test_short_form_of_a_name_is_followed_but_not_one_of_two_letters() -> None:
    drawn = Circle()
    long, short, jo, joanna = drawn.person("Delphine"), drawn.person("Del"), drawn.person("Jo"), drawn.person("Joanna")
    drawn.fact("Del drinks kvass.", short)
    drawn.fact("Joanna drinks rum.", joanna)
    drawn.fact("Delphine paints.", long)
    drawn.fact("Jo paints.", jo)
    assert drawn.best("What does Delphine drink?") == ["Del drinks kvass."]
    assert "Joanna drinks rum." not in {one.text for path in drawn.paths("What does Jo drink?") for one in path.statements}


def test_beam_and_length_are_kept(circle: Circle) -> None:
    question = "What does the cousin of the landlord of the climbing partner of Ana's flatmate drink?"
    assert all(len(path.statements) <= 1 for path in circle.paths(question, HopSettings(longest=0)))
    assert len(circle.paths(question, HopSettings(chains=2))) == 2


@pytest.mark.parametrize(
    ("question", "relations", "end"),
    [
        (
            "What instrument does the half-sister of my flatmate's climbing partner play?",
            ("half-sister", "flatmate", "climbing partner"),
            "play",
        ),
        ("My boss has a neighbour. What is his new job?", ("boss", "neighbour", "new job"), "job"),
        ("What is Ana's landlord afraid of?", ("landlord afraid",), "afraid"),
        ("When is the birthday of Ana's cousin?", ("birthday", "cousin"), "when"),
    ],
)
def test_relations_and_what_is_asked_are_told_apart(circle: Circle, question: str, relations: tuple[str, ...], end: str) -> None:
    asked = read_question(question, circle.people)
    assert asked.relations == relations
    assert asked.end.split()[-1:] == end.split()[-1:]


def test_nothing_is_found_where_nothing_is_told() -> None:
    drawn = Circle()
    drawn.person("Ana")
    assert drawn.paths("What does Ana drink?") == ()
