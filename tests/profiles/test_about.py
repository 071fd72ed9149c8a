"""Whose sentence it is: names, pronouns and relations in the user's own words, by code alone."""

from __future__ import annotations

import pytest

from tests.profiles.builders import Diary, PeopleReader


def told(*texts: str) -> Diary:
    return Diary(PeopleReader({"Graz": "place"})).session(*texts)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("She sings.", "Ana sings."),
        ("Her oboe is broken.", "Ana's oboe is broken."),
        ("I saw her yesterday evening in town.", "I saw Ana yesterday (2026-03-06) evening in town."),
        ("I gave her a hat.", "I gave Ana a hat."),
        ("I gave her some rye.", "I gave Ana some rye."),
        ("Nine years and it is her last day.", "Nine years and it is Ana's last day."),
        ("And she's singing again.", "And Ana's singing again."),
        ("My sister is ill.", "Ana is ill."),
        ("My sister Ana is ill.", "My sister Ana is ill."),
        ("Ana (my sister, the tall one) is ill.", "Ana (my sister, the tall one) is ill."),
    ],
)
def test_name_takes_the_place_of_what_stands_for_it(text: str, fact: str) -> None:
    assert told("My sister Ana came.", text).facts("Ana")[-1] == fact


def test_the_boss_is_my_boss() -> None:
    assert told("My boss Rike came.", "The boss hates fuss.").facts("Rike")[-1] == "Rike hates fuss."


def test_somebody_elses_possession_is_no_relation_to_the_user() -> None:
    assert told("Ana said her boss is ill.").names() == ["Ana"]


def test_pronoun_reaches_past_one_of_the_other_gender() -> None:
    diary = told("Delphine came and she laughed.", "Then Gwilym played his oboe.", "She moved to Graz.")
    assert diary.facts("Delphine")[-1] == "Delphine moved to Graz."
    assert diary.facts("Gwilym") == ["Then Gwilym played his oboe."]


def test_pronoun_behind_a_name_of_the_other_gender_is_somebody_else() -> None:
    diary = told("Delphine came and she laughed.", "Gwilym lost his hat.", "Gwilym is her landlord.")
    assert diary.facts("Delphine")[-1] == "Gwilym is Delphine's landlord."
    assert diary.facts("Gwilym")[-1] == "Gwilym is Delphine's landlord."


def test_pronoun_later_in_a_sentence_is_whoever_it_names() -> None:
    assert told("My boss Rike came.", "Ana came, she laughed.").facts("Rike") == ["My boss Rike came."]


def test_owner_of_a_pet_is_not_the_pet() -> None:
    diary = Diary(PeopleReader({"Bello": "pet"})).session("My boss Rike came.", "We all love Bello, her old dog.")
    assert diary.facts("Rike")[-1] == "We all love Bello, Rike's old dog."


def test_gender_is_learned_from_earlier_sessions() -> None:
    diary = told("Robin said she is ill.").session("Robin met my friend Ben.", "He sings.", day=1)
    assert diary.facts("Ben")[-1] == "Ben sings."


def test_nobody_is_meant_any_more_after_a_while() -> None:
    assert told("Ana came.", "Rain.", "More rain.", "Still rain.", "She sings.").facts("Ana") == ["Ana came."]


def test_sentence_without_a_word_beside_the_name_is_no_fact() -> None:
    assert told("Ana came.", "Who was it?", "She is.").facts("Ana") == ["Ana came."]


def test_relative_of_somebody_who_is_quoted_is_not_the_users() -> None:
    assert told('Ana said "my brother is ill".').names() == ["Ana"]


def test_known_name_in_small_letters_is_recognised() -> None:
    diary = told("Ana came.").session("i met ana again", day=1)
    assert diary.facts("Ana") == ["Ana came.", "i met ana again"]


def test_long_sentence_stays_in_the_profile_where_it_names_somebody_else() -> None:
    long = "Ana met Ben " + "and then again " * 12 + "at last"
    diary = told(long)
    assert "Ben" in diary.people.profile(diary.entity("Ana").id).text


# ------------------------------------------------------------------ a fact about the wrong one is worse than none


@pytest.mark.parametrize(
    "between",
    [
        "What is a good gift for Priya?",
        "A woman was at the door.",
        "My niece came too.",
        "His father came too.",
        "Priya called.",
        "J came too.",
    ],
)
def test_pronoun_is_left_alone_when_somebody_unknown_was_named_since(between: str) -> None:
    model = PeopleReader({"Priya": "other"}, written={"Jonas": "1. Jonas is allergic to nuts.\n2. Jonas is allergic to nuts."})
    diary = Diary(model).session("Jonas came.", between, "She is allergic to nuts.", "He is allergic to nuts.")
    assert not [fact for fact in diary.facts("Jonas") if "allergic" in fact]


def test_name_that_may_mean_two_is_somebody_a_pronoun_may_mean() -> None:
    diary = told("My flatmate Ana sings.").session("My colleague Ana swims.", day=1).session("Eva came.", "Ana too.", "She is ill.", day=2)
    assert diary.facts("Eva") == ["Eva came."]


def test_pronoun_of_the_other_gender_is_not_even_shown_to_the_model() -> None:
    model = PeopleReader(written={"Ben": "2. Ben is allergic to nuts."})
    assert Diary(model).session("My brother Ben came.", "She is allergic to nuts.").facts("Ben") == ["My brother Ben came."]


def test_what_somebody_is_makes_no_other_person() -> None:
    assert told("Delphine is my physio.", "She is ill.").facts("Delphine")[-1] == "Delphine is ill."
