"""Length and cuts, also where a text has few spaces."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pgmem_local.construction.pieces import cut, length


def test_words_decide_in_spaced_scripts() -> None:
    assert length("I drink two espressos every morning") == 6
    assert length("Ich trinke jeden Morgen zwei Espressos") == 6


def test_text_without_spaces_is_not_one_word() -> None:
    assert length("咖啡" * 60) == 30
    assert length("https://example.org/" + "a" * 1_000) > 80


def test_cut_is_made_at_a_space_and_loses_no_word() -> None:
    text = " ".join(f"word{number}" for number in range(100))
    pieces = cut(text, 30)
    assert all(length(piece) <= 30 for piece in pieces)
    assert " ".join(pieces) == text


@given(st.text(), st.integers(1, 50))
def test_any_text_is_cut_without_loss_but_of_spaces(text: str, most: int) -> None:
    pieces = cut(text, most)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(length(piece) <= most or len(piece) < 2 for piece in pieces)
