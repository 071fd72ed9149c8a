from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgmem_local.ingest.untrusted import clean, printable


def test_half_an_emoji_becomes_the_replacement_character_and_nul_goes() -> None:
    assert clean("half \ud83d, NUL \x00, whole 🐝") == "half \ufffd, NUL , whole 🐝"


def test_text_is_stored_as_typed_without_normalisation() -> None:
    decomposed = unicodedata.normalize("NFD", "Łódź, déjà vu")
    assert clean(decomposed) == decomposed


@given(st.text(st.characters()))
def test_clean_text_can_be_encoded_and_is_clean_already(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert clean(cleaned) == cleaned


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b2Jcleared", "cleared"),
        ("\x1bcreset", "reset"),
        ("user\u202egpj.exe", "usergpj.exe"),
        ("a\u2066b\u2069c", "abc"),
        ("bell\x07 back\x08space", "bell backspace"),
        ("first\r\nsecond\rthird", "first\nsecond\nthird"),
        ("unfinished \x1b[", "unfinished "),
    ],
)
def test_what_commands_a_terminal_is_not_shown(hostile: str, shown: str) -> None:
    assert printable(hostile) == shown


def test_brackets_emoji_and_foreign_scripts_are_shown_unchanged() -> None:
    text = "[/] [bold [1] :smile: C:\\[x] 👩‍👩‍👧 Łódź 咖啡 שלום\n\ttab"
    assert printable(text) == text


@given(st.text(st.sampled_from("\x1b[]0;mA\x07\\\x9b\u202e\r\n")))
def test_nothing_that_is_shown_holds_a_control_character(text: str) -> None:
    shown = printable(text)
    assert all(unicodedata.category(character) not in ("Cc", "Cs") or character in "\n\t" for character in shown)
    assert "\u202e" not in shown
