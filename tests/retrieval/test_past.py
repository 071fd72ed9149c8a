"""Questions about the past are told from their words, and those about the present from what only looks like them."""

from __future__ import annotations

from datetime import date, datetime, timezone

import pytest

from pgmem_local.conversation import Moment
from pgmem_local.retrieval.past import asks_about_now, asks_about_past, period_asked_about

NEWEST = Moment(datetime(2026, 6, 15, 12, tzinfo=timezone.utc))

PAST = [
    "What did I usually drink on my way to work at the start of January?",
    "What was my morning drink in February and March?",
    "How did I get to work in March?",
    "How did I get to work before I had the bicycle?",
    "Which sport came between running and the one I do now?",
    "In which part of town did I live before I moved?",
    "Where had I planned to go in August before I changed the plan?",
    "What did I use to eat for breakfast?",
    "Which pubs did I like before?",
    "Where I used to live, what was the street called?",
    "What did I do back then?",
    "Who was my boss in 2024?",
    "What was my job in March 2024?",
    "Where did I swim last spring?",
    "What did I play two years ago?",
    "What do I no longer drink?",
    "What don't I eat anymore?",
    "What was my previous job?",
    "What was my old flat like?",
    "Wo habe ich früher gewohnt?",
    "Qu'est-ce que je buvais autrefois ?",
]
PRESENT = [
    "What do I drink first thing in the morning these days?",
    "How do I get to work now?",
    "What has my position at the theatre been since May?",
    "What have I been doing since 2024?",
    "What should I eat before a run?",
    "What am I used to eating?",
    "Why did I give up coffee?",
    "Why did I stop running?",
    "What made me take up sign language?",
    "Where am I going on holiday this summer?",
    "Where am I going in August?",
    "I'd like a weekend in Bruges in October. How do I get there?",
    "A friend is cooking for me on Friday. Which menu can I eat?",
    "What shall we plan for 2027?",
    "What is my shoe size?",
    "Which of my old friends is coming?",
    "",
]


@pytest.mark.parametrize("question", PAST)
def test_question_about_the_past_is_told(question: str) -> None:
    assert asks_about_past(question, NEWEST)


@pytest.mark.parametrize("question", PRESENT)
def test_question_about_the_present_is_left_alone(question: str) -> None:
    assert not asks_about_past(question, NEWEST)


def test_time_is_past_only_once_the_memory_is_beyond_it() -> None:
    assert not asks_about_past("Who was my boss in 2026?", NEWEST)
    assert not asks_about_past("What did I drink in June?", NEWEST)
    assert asks_about_past("What did I drink in July?", NEWEST)


def test_without_a_newest_moment_words_alone_decide() -> None:
    assert not asks_about_past("Who was my boss in 2024?", None)
    assert asks_about_past("Where did I live back then?", None)


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("How did I get to work in March?", date(2026, 3, 1), date(2026, 3, 31)),
        ("What was my morning drink in February and March?", date(2026, 2, 1), date(2026, 3, 31)),
        ("Where was I at the start of January?", date(2026, 1, 1), date(2026, 1, 31)),
        ("What did I do in December?", date(2025, 12, 1), date(2025, 12, 31)),
        ("What was my job in February 2024?", date(2024, 2, 1), date(2024, 2, 29)),
        ("Who was my boss in 2024?", date(2024, 1, 1), date(2024, 12, 31)),
        ("Where did I live from 2021 to 2023?", date(2021, 1, 1), date(2023, 12, 31)),
    ],
)
def test_period_is_that_of_the_months_or_years_named(question: str, first: date, last: date) -> None:
    assert period_asked_about(question, NEWEST) == (first, last)


@pytest.mark.parametrize("question", ["Where do I live now?", "What has my position been since 2024?", "May I eat nuts?", "Who is April?"])
def test_other_questions_name_no_period(question: str) -> None:
    assert period_asked_about(question, NEWEST) is None
    assert period_asked_about("What did I do in March?", None) is None


@pytest.mark.parametrize(
    ("question", "now"),
    [
        ("Where do I live?", True),
        ("Which team do I cheer for these days?", True),
        ("Where did I live?", False),
        ("Why did I stop running?", False),
        ("Do I still run?", False),
        ("What has changed?", False),
        ("Do I drink coffee any more?", False),
        ("Who was my boss in 2024?", False),
    ],
)
def test_question_about_now_asks_for_nothing_that_was(question: str, now: bool) -> None:
    assert asks_about_now(question, asks_about_past(question, NEWEST)) is now
