"""Containment by the rules of memhop_mini, the diaries and the extraction set."""

from __future__ import annotations

import pytest

from pgmem_local.bench.scoring.forms import holds, leaks, mentions, norm, refuses


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The Café's £1,200 bill", "cafe s 1200 bill"),
        ("St Ebb’s—an hospital", "st ebb s hospital"),
        ("white-bean   mash!", "white bean mash"),
    ],
)
def test_texts_are_normalised_as_the_readme_says(text: str, normal: str) -> None:
    assert norm(text) == normal


def test_answer_counts_on_word_boundaries_only() -> None:
    assert holds("You drink barley tea now.", ["barley"])
    assert not holds("You walked a barleycorn", ["barley"])


def test_any_spelling_of_the_answer_will_do() -> None:
    assert holds("You get there on foot.", ["walk", "on foot"])


def test_what_comes_after_forty_words_is_not_read() -> None:
    assert holds("word " * 39 + "tea", ["tea"])
    assert not holds("word " * 40 + "tea", ["tea"])


def test_form_without_a_letter_or_digit_is_never_held() -> None:
    assert not holds("anything", ["", "—"])


@pytest.mark.parametrize("output", ["I don't know: nothing I remember says so.", "That is not mentioned.", "I’m not sure."])
def test_refusals_are_seen(output: str) -> None:
    assert refuses(output)


def test_plain_answer_is_no_refusal() -> None:
    assert not refuses("You know Jules, who is not allergic.")


@pytest.mark.parametrize(
    ("entry", "note", "found"),
    [
        ("injur|fracture", "User has a stress fracture.", True),
        ("fractur", "User refractured it.", False),  # the start of a word
        ("fig", "User likes figs.", True),  # up to three letters: a whole word, plural allowed
        ("fig", "User likes figures.", False),
        ("咖啡", "用户不喝咖啡了", True),  # anywhere in scripts without spaces
        ("can't run", "User can’t run.", True),
    ],
)
def test_stems_hit_as_the_readme_says(entry: str, note: str, found: bool) -> None:
    assert mentions(entry, note) is found


def test_secret_is_seen_with_other_spacing() -> None:
    assert leaks("9026", "lock is 9-0 2-6")
    assert not mentions("9026", "lock is 9-0 2-6")


def test_short_value_is_not_looked_for_inside_words() -> None:
    assert not leaks("774", "phone 1 77 40")
