"""Multiple choice two ways: one letter picked, averaged over rotations of the options, and each option checked by itself.

Picking a letter mixes what is known with a liking for letters: every option stands once under every letter, so the mean is free of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase

import numpy as np
from numpy.typing import NDArray

from pgmem_local.bench.scoring.intervals import mean
from pgmem_local.ports import ChatModel
from pgmem_local.prompts import load, one_line

NOTHING_KNOWN = "(none)"


@dataclass(frozen=True)
class Choice:
    """How each option fares, shape (options,): mean log-probability of its letter, and log-odds that it respects what is known."""

    letters: NDArray[np.float64]
    checks: NDArray[np.float64]

    @property
    def by_letter(self) -> int:
        return int(np.argmax(self.letters))

    @property
    def by_check(self) -> int:
        return int(np.argmax(self.checks))


def choose_option(model: ChatModel, notes: str, question: str, options: Sequence[str]) -> Choice:
    """Both ways from the same notes; empty notes are said to be none."""
    notes = notes or NOTHING_KNOWN
    return Choice(_by_letters(model, notes, question, options), _by_checks(model, notes, question, options))


def _by_letters(model: ChatModel, notes: str, question: str, options: Sequence[str]) -> NDArray[np.float64]:
    letters = ascii_uppercase[: len(options)]
    task, count = load("option_letter"), len(options)
    common = {"notes": notes, "question": one_line(question)}
    prompts = [task.ask({**common, "options": _listing(letters, options, turn)}) for turn in range(count)]
    scores = model.choose(prompts, [f" {letter}" for letter in letters])
    normal = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    by_option = [np.roll(row, turn) for turn, row in enumerate(normal)]
    result: NDArray[np.float64] = np.mean(by_option, axis=0)
    return result


def _listing(letters: str, options: Sequence[str], turn: int) -> str:
    """The options from the `turn`-th on, then the rest, under their letters."""
    turned = [*options[turn:], *options[:turn]]
    return "\n".join(f"{letter}: {one_line(option)}" for letter, option in zip(letters, turned, strict=True))


def _by_checks(model: ChatModel, notes: str, question: str, options: Sequence[str]) -> NDArray[np.float64]:
    task = load("option_check")
    asked = [task.ask({"notes": notes, "question": one_line(question), "suggestion": one_line(option)}) for option in options]
    scores = model.choose(asked, (" Yes", " No"))
    result: NDArray[np.float64] = scores[:, 0] - scores[:, 1]
    return result


def longest_option(asked: Sequence[tuple[Sequence[str], int]]) -> float | None:
    """What always taking the longest option scores, given (options, right one); equals share the point."""
    return mean([_longest(options, right) for options, right in asked])


def _longest(options: Sequence[str], right: int) -> float:
    most = max(map(len, options))
    return (len(options[right]) == most) / sum(len(option) == most for option in options)
