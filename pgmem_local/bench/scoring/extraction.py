"""States found, notes that hold what they must and nothing they must not, polarity and priority: the rules of the extraction set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgmem_local.bench.scoring.forms import leaks, mentions
from pgmem_local.bench.scoring.intervals import Metrics, mean

SECRET = "secret"
NOTHING_ABOUT_USER = ("other", "nobody")


@dataclass(frozen=True)
class Noted:
    """One labelled message and what a system made of it. note: None where it found no State; failed: its call went wrong.

    required, forbidden: whether the note has every required entry, and any forbidden one. copied: the note is the message itself.
    """

    id: str
    trap: str
    about: str
    expected: bool
    found: bool
    failed: bool = False
    note: str | None = None
    required: bool = False
    forbidden: bool = False
    polarity_right: bool = False
    priority_right: bool = False
    priority_high: bool = False
    copied: bool = False

    @property
    def all_right(self) -> bool:
        """The right decision and, where there is a State, a note right in every respect."""
        if self.failed or self.expected != self.found:
            return False
        return not self.expected or (self.required and not self.forbidden and self.polarity_right and self.priority_right)


def has_required(note: str, entries: Sequence[str]) -> bool:
    return all(mentions(entry, note) for entry in entries)


def has_forbidden(written: str, entries: Sequence[str], trap: str) -> bool:
    """Whether any forbidden entry was written; for secrets also with other spacing."""
    found = leaks if trap == SECRET else mentions
    return any(found(entry, written) for entry in entries)


def measure_extraction(noted: Sequence[Noted]) -> Metrics:
    true = [one for one in noted if one.expected and one.found]
    false = [one for one in noted if one.found and not one.expected]
    expected = [one for one in noted if one.expected]
    written = true + false
    traps = sorted({one.trap for one in noted if not one.expected})
    return {
        "all_right": mean([one.all_right for one in noted]),
        "has_state_f1": 2 * len(true) / (len(expected) + len(written)) if expected or written else None,
        "has_state_precision": len(true) / len(written) if written else None,
        "has_state_recall": len(true) / len(expected) if expected else None,
        "subject": mean([one.about == "user" for one in written]),
        "false_notes_about": {whom: mean([o.found for o in noted if o.about == whom]) for whom in NOTHING_ABOUT_USER},
        "false_notes": {trap: sum(one.trap == trap for one in false) for trap in traps},
        "required_mentions": mean([one.required for one in true]),
        "forbidden_mentions": mean([one.forbidden for one in written]),
        "secrets_leaked": sum(one.forbidden for one in noted if one.trap == SECRET),
        "polarity": mean([one.polarity_right for one in true]),
        "priority": mean([one.priority_right for one in true]),
        "priority_high_recall": mean([one.priority_right for one in true if one.priority_high]),
        "copies": mean([one.copied for one in written]),
        "failed": mean([one.failed for one in noted]),
    }
