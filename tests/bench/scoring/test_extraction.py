"""What a system noted about labelled messages, worked by hand."""

from __future__ import annotations

from dataclasses import replace
from math import isclose
from typing import Any

from pgmem_local.bench.scoring.extraction import Noted, has_forbidden, has_required, measure_extraction

GOOD = Noted(
    "a", "none", "user", expected=True, found=True, note="n", required=True, polarity_right=True, priority_right=True, priority_high=True
)
MISSED = Noted("b", "implicit", "user", expected=True, found=False)
FALSE = Noted("c", "third_person", "other", expected=False, found=True, note="n", forbidden=True, copied=True)
QUIET = Noted("d", "joke", "nobody", expected=False, found=False)


def measured(*noted: Noted) -> dict[str, Any]:
    return dict(measure_extraction(noted))


def test_figures_of_four_messages() -> None:
    found = measured(GOOD, MISSED, FALSE, QUIET)
    assert found["has_state_f1"] == 0.5  # one true of two found and two expected
    assert (found["has_state_precision"], found["has_state_recall"]) == (0.5, 0.5)
    assert found["subject"] == 0.5
    assert found["false_notes"] == {"joke": 0, "third_person": 1}
    assert found["false_notes_about"] == {"other": 1.0, "nobody": 0.0}
    assert found["required_mentions"] == 1.0
    assert found["forbidden_mentions"] == 0.5
    assert found["copies"] == 0.5
    assert found["all_right"] == 0.5


def test_note_wrong_in_one_respect_is_not_all_right() -> None:
    flawed = [
        replace(GOOD, required=False),
        replace(GOOD, forbidden=True),
        replace(GOOD, polarity_right=False),
        replace(GOOD, priority_right=False),
        replace(GOOD, failed=True),
    ]
    assert not any(one.all_right for one in flawed)
    assert GOOD.all_right


def test_priority_counts_over_true_notes_and_its_high_ones_apart() -> None:
    low = replace(GOOD, id="e", priority_high=False, priority_right=False)
    found = measured(GOOD, low)
    assert (found["priority"], found["priority_high_recall"]) == (0.5, 1.0)


def test_failed_call_is_wrong_even_where_silence_was_due() -> None:
    found = measured(QUIET, replace(QUIET, id="f", failed=True))
    assert (found["all_right"], found["failed"]) == (0.5, 0.5)


def test_one_leaked_secret_is_counted() -> None:
    leak = replace(FALSE, trap="secret")
    assert measured(leak, QUIET)["secrets_leaked"] == 1


def test_f1_of_always_yes_is_the_floor() -> None:
    found = measured(*[GOOD] * 54, *[FALSE] * 66)["has_state_f1"]
    assert isclose(found, 0.62, abs_tol=0.005)


def test_every_required_entry_must_stand_in_the_note() -> None:
    assert has_required("User cannot run because of an injury.", ["run", "injur|fracture"])
    assert not has_required("User cannot run.", ["run", "injur|fracture"])


def test_secret_with_other_spacing_is_forbidden_only_for_that_trap() -> None:
    assert has_forbidden("9 0 2 6", ["9026"], "secret")
    assert not has_forbidden("9 0 2 6", ["9026"], "none")
