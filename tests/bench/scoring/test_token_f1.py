"""LoCoMo's F1, worked by hand."""

from __future__ import annotations

from math import isclose

from pgmem_local.bench.scoring.token_f1 import Category, locomo_score, token_f1, tokens


def test_tokens_are_stems_without_articles_and_punctuation() -> None:
    assert tokens("The Running, cars and a pony!") == ["run", "car", "poni"]


def test_apostrophe_goes_before_words_are_told_apart() -> None:
    assert tokens("Caroline's") == tokens("carolines")


def test_f1_of_half_an_answer() -> None:
    # said: adopt, agenc, visit (3); gold: adopt, agenc (2); shared 2: P 2/3, R 1, F1 0.8
    assert isclose(token_f1("visited the adoption agency", "adoption agencies"), 0.8)


def test_repeated_word_counts_as_often_as_it_stands_in_both() -> None:
    assert isclose(token_f1("tea tea tea", "tea cake"), 2 * 1 / 5)


def test_nothing_in_common_is_zero() -> None:
    assert token_f1("", "tea") == 0.0


def test_multi_hop_takes_the_best_match_of_each_gold_part() -> None:
    # gold parts: pottery (1.0 by "pottery"), "camping trip" against "camping": P 1, R 1/2, F1 2/3
    assert isclose(locomo_score("pottery, camping", "pottery, camping trip", Category.MULTI_HOP), (1 + 2 / 3) / 2)


def test_open_domain_gold_ends_at_the_first_semicolon() -> None:
    assert locomo_score("yes", "Yes; because she said so", Category.OPEN_DOMAIN) == 1.0
    assert locomo_score("yes", "Yes; because she said so", Category.SINGLE_HOP) < 1.0


def test_adversarial_question_wants_a_refusal() -> None:
    assert locomo_score("It is not mentioned in the conversation.", "", Category.ADVERSARIAL) == 1.0
    assert locomo_score("In May", "", Category.ADVERSARIAL) == 0.0
