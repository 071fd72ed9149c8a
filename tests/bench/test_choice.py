"""Multiple choice: a liking for a letter is not knowledge."""

from __future__ import annotations

import numpy as np

from pgmem_local.bench.choice import choose_option, longest_option
from tests.fakes import Answer, Asked, ScriptedChat

OPTIONS = ("walk", "run", "swim", "fly")


class Biased(ScriptedChat):
    """Likes the letter A by far, and within that the option it knows."""

    def __init__(self, known: str | None) -> None:
        super().__init__()
        self.known = known

    def _next(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        if asked.prompt.head.task == "option_check":
            return " Yes" if asked.prompt.text.endswith(f"Suggestion: {self.known}") else " No"
        lines = asked.prompt.text.splitlines()[-4:]
        return [-2.0 - 5.0 * place + (1.0 if line.endswith(f": {self.known}") else 0.0) for place, line in enumerate(lines)]


def test_bias_for_a_letter_gives_no_option_an_advantage() -> None:
    choice = choose_option(Biased(None), "", "How?", OPTIONS)
    assert np.allclose(choice.letters, choice.letters[0])


def test_knowledge_shows_through_the_bias() -> None:
    for known in OPTIONS:
        choice = choose_option(Biased(known), "notes", "How?", OPTIONS)
        assert OPTIONS[choice.by_letter] == known
        assert OPTIONS[choice.by_check] == known


def test_every_option_stands_once_under_every_letter() -> None:
    model = Biased("run")
    choose_option(model, "notes", "How?", OPTIONS)
    listings = [asked.prompt.text for asked in model.asked if asked.prompt.head.task == "option_letter"]
    assert len(listings) == 4
    for option in OPTIONS:
        assert {letter for text in listings for letter in "ABCD" if f"{letter}: {option}" in text} == set("ABCD")


def test_without_notes_the_model_is_told_so() -> None:
    model = Biased("run")
    choose_option(model, "", "How?", OPTIONS)
    assert all("Notes:\n(none)" in asked.prompt.text for asked in model.asked)


def test_longest_option_shares_the_point_among_equals() -> None:
    assert longest_option([(("aaaa", "b"), 0), (("aa", "bb"), 0), (("aa", "bbb"), 0)]) == 0.5
    assert longest_option([]) is None
