from __future__ import annotations

import pytest

from pgmem_local.graph.nodes import Context, NodeId
from pgmem_local.graph.people import Entity, EntityId, People
from pgmem_local.profiles.candidates import find_candidates
from pgmem_local.profiles.lines import lines_of


def found(*texts: str, people: People | None = None, author: str | None = None) -> list[tuple[str | None, str | None]]:
    contexts = [
        Context(NodeId(f"c{n}"), text, None, frozenset(), frozenset(), str(n), author=author) for n, text in enumerate(texts, 1)
    ]
    return [(one.name, one.relation) for one in find_candidates(lines_of(contexts), people or People())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Lunch with Ana Reyes today.", ("Ana Reyes", None)),
        ("Jo's birthday is 3 June.", ("Jo", None)),
        ("Mira called.", ("Mira", None)),
        ("Kimberly is allergic to bees.", ("Kimberly", None)),
        ("My friend Jonas says he hates football.", ("Jonas", "friend")),
        ("Rike (owner, my boss, terrifying) has promised it.", ("Rike", "boss")),
        ("Toby, my flatmate, is ill.", ("Toby", "flatmate")),
        ("Toby is my flatmate.", ("Toby", "flatmate")),
        ("my little sister Ana came", ("Ana", "sister")),
        ("My sister's name is Ana.", ("Ana", "sister")),
        ("Our dog Bello is old.", ("Bello", "dog")),
        ("My flatmate is ill.", (None, "flatmate")),
        ("I called Mum twice.", (None, "mother")),
        ("My roommate snores.", (None, "flatmate")),
        ("The Tate bored me.", ("Tate", None)),
        ("the poster says HENRIKE SOLBERG", ("Henrike Solberg", None)),
    ],
)
def test_name_or_relation_is_found(text: str, expected: tuple[str | None, str | None]) -> None:
    assert found(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "Yesterday I bought a tent.",
        "On Tuesdays we swim.",
        "My journal is full.",
        "Nine years is long.",
        "I'm tired. I'll sleep.",
        "My friend came.",
        "A neighbour came.",
        "Really? Yes. Oh well.",
        "kimchi every week",
        "",
    ],
)
def test_nobody_is_found_where_nobody_is_named(text: str) -> None:
    assert found(text) == []


def test_relation_of_somebody_elses_relative_is_not_taken() -> None:
    assert found("Ana is my sister's friend.") == [("Ana", None), (None, "sister")]


def test_word_that_is_also_written_small_is_no_name_at_the_beginning_of_a_sentence() -> None:
    assert found("Latex brings welts.", "I hate latex.") == []


def test_sender_of_a_message_is_spoken_of() -> None:
    assert found("I moved to Porto", author="Anna")[0] == ("Anna", None)


def test_relation_in_a_message_of_somebody_else_is_not_the_users() -> None:
    assert found("my sister is here", author="Anna") == [("Anna", None)]


def test_known_name_is_found_at_the_beginning_of_a_sentence() -> None:
    assert found("For once Will stayed in.") == [("Will", None)]
    assert found("Farouk, of all people!") == []
    assert found("Farouk, of all people!", people=People([Entity(EntityId("p1"), "Farouk")])) == [("Farouk", None)]
