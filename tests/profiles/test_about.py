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
