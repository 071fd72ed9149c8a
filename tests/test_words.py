from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgmem_local.words import content_words, keywords


def test_stop_words_are_dropped_and_the_rest_is_stemmed() -> None:
    assert keywords("Where should I be drinking with the pubs?") == {"drink", "pub"}


def test_inflections_of_a_word_are_one_keyword() -> None:
    assert keywords("runs RUNNING run") == {"run"}


@pytest.mark.parametrize("spelling", ["Jo's birthday", "Jo’s birthday", "JO'S BIRTHDAY", "jo birthdays"])
def test_possessive_is_dropped(spelling: str) -> None:
    assert keywords(spelling) == {"jo", "birthday"}


def test_name_is_not_found_in_a_longer_word() -> None:
    assert not keywords("Jo Kim a_b") & keywords("Joanna's journal, Kimberly, kimchi, aXb")


def test_contractions_leave_no_debris() -> None:
    assert keywords("I don't, can't, won't, ain't, I'd've, we're, she'll") == frozenset()


def test_hyphen_makes_no_difference_where_it_joins_a_letter() -> None:
    assert keywords("e-mail X-ray") == keywords("email xray") == {"email", "xray"}


def test_compound_gives_its_words() -> None:
    assert content_words("a part-time job") == ("part", "time", "job")


@pytest.mark.parametrize(
    ("text", "name"), [("I met Will", "will"), ("I know Will's car", "will"), ("It was in May", "may"), ("I work in IT", "it")]
)
def test_name_spelled_like_a_stop_word_is_kept(text: str, name: str) -> None:
    assert name in keywords(text)


@pytest.mark.parametrize("text", ["Will you? Will it. May I?", "will it"])
def test_stop_word_that_begins_a_sentence_is_no_name(text: str) -> None:
    assert keywords(text) == frozenset()


def test_ai_is_a_word() -> None:
    assert keywords("AI ain't it") == {"ai"}


def test_numbers_and_times_are_kept_whole() -> None:
    assert content_words("at 18:30 for 3.5 hours, 100%.") == ("18:30", "3.5", "hours", "100")


def test_compatible_spellings_are_one_word() -> None:
    assert keywords("Ｃａｆé ﬁne Straße") == keywords("cafe fine STRASSE")


def test_decomposed_and_composed_letters_are_one_word() -> None:
    assert keywords("Tokyo が й") == keywords("Tokyo か\u3099 и\u0306")


def test_french_elisions_leave_the_word() -> None:
    assert content_words("j'aime l'eau, O'Brien") == ("aime", "eau", "obrien")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("אני גר בחיפה", {"אני", "גר", "בחיפה"}),
        ("שָׁלוֹם", {"שלום"}),
        ("شُكْرًا", {"شكرا"}),
        ("Я живу в Москве", {"я", "живу", "в", "москве"}),
        ("हिन्दी", {"हिन्दी"}),
        ("می\u200cخواهم", {"میخواهم"}),
    ],
)
def test_words_of_other_scripts_are_found_whole(text: str, words: set[str]) -> None:
    assert keywords(text) == words


@pytest.mark.parametrize(
    ("text", "asked"),
    [("我喜欢喝咖啡，不喜欢茶。", "咖啡"), ("カフェが好き", "好き"), ("ฉันชอบกาแฟ", "ชอบ"), ("我有iPhone手机", "手机")],
)
def test_unspaced_script_is_found_by_two_characters(text: str, asked: str) -> None:
    assert keywords(asked) <= keywords(text)
    assert keywords(asked)


def test_lone_character_of_an_unspaced_script_is_a_word() -> None:
    assert keywords("茶") == {"茶"}


def test_latin_word_beside_han_keeps_its_length() -> None:
    assert "iphon" in keywords("我有iPhone手机")


@pytest.mark.parametrize(
    "text", ["", "_", "*", "'; --", "\x00\x07", "\ud800", "🐕‍🦺", "❤\ufe0f", "\u0301", "...", "-'-", "\u202e\u200f"]
)
def test_text_without_words_has_no_keywords(text: str) -> None:
    assert keywords(text) == frozenset()


def test_digit_dressed_as_a_sign_is_the_digit() -> None:
    assert keywords("1\ufe0f\u20e3") == {"1"}


def test_variant_of_a_character_is_the_character() -> None:
    assert keywords("葛\U000e0100飾") == {"葛飾"}


def test_content_words_keep_order_and_repeats() -> None:
    assert content_words("Tea? No, green tea!") == ("tea", "green", "tea")


@given(st.text(st.characters()))
def test_any_string_gives_words_that_can_be_stored(text: str) -> None:
    for word in (*keywords(text), *content_words(text)):
        assert word
        assert not any(character.isspace() for character in word)
        word.encode()  # a lone surrogate would raise
