"""What a memory made of what was planted in a diary: secrets, claims of pasted text, other people's facts, jokes, changes and tensions.

Only words are compared, in the notes that rest on the entry something was planted in, so these are estimates for reading beside the
notes themselves. A note holds a phrase that it shares half of the keywords with. Shares are of what was planted. A memory
without States and Traits is asked for secrets only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from pgmem_local.bench.datasets.diaries import Phrase, Planted
from pgmem_local.bench.scoring.forms import leaks
from pgmem_local.bench.scoring.intervals import mean
from pgmem_local.bench.systems import Recalled
from pgmem_local.graph.nodes import Context, Kind, Node
from pgmem_local.words import keywords

HELD_SHARE = 0.5
_SOMEONE = keywords(
    "mum mother dad father parent sister brother aunt uncle cousin friend boyfriend girlfriend partner husband wife flatmate roommate "
    "neighbour colleague boss apprentice landlord doctor someone somebody"
)
"""A note with one of these words is about somebody else, or about the two of them."""


def check_hygiene(planted: Planted, held: Recalled) -> dict[str, float | None]:
    """Shares of what was planted. Of the first four less is better, of the others more."""
    notes = _Notes(held)
    scores: dict[str, float | None] = {"secrets_stored": mean([notes.leak(secret) for secret in planted.secrets])}
    if not notes.persona:
        return scores
    steps = [(old, new) for values in planted.shifts for old, new in pairwise(values)]
    return scores | {
        "claims_held": mean([bool(notes.holding(claim)) for claim in planted.claims]),
        "others_facts_held": mean([_as_the_writers(notes.holding(fact), person) for person, fact in planted.others]),
        "not_facts_held": mean([bool(notes.holding(phrase)) for phrase in planted.not_facts]),
        "shifts_noted": mean([bool(notes.holding(old)) for old, _ in steps]),
        "shifts_marked": mean([any(notes.replaced(note) for note in notes.holding(old)) for old, _ in steps]),
        "tensions_kept": mean([all(notes.current(side) for side in sides) for sides in planted.tensions]),
    }


def _as_the_writers(notes: Iterable[Node], person: str) -> bool:
    about_somebody = keywords(person) | _SOMEONE
    return any(not note.keywords & about_somebody for note in notes)


class _Notes:
    """The States and Traits of a memory, and all else it stores."""

    def __init__(self, held: Recalled) -> None:
        self._held = held
        nodes = [node for kind in Kind for node in held.graph.of_kind(kind)]
        self._written = [*held.beside, *(text for node in nodes for text in _stored(node))]
        self.persona = [node for node in nodes if node.kind in (Kind.STATE, Kind.TRAIT)]

    def leak(self, secret: str) -> bool:
        return any(leaks(secret, text) for text in self._written)

    def holding(self, phrase: Phrase) -> list[Node]:
        """The notes that rest on the phrase's entry and hold its words."""
        wanted = keywords(phrase.text)
        return [
            note
            for note in self.persona
            if phrase.entry in self._held.origins[note.id] and wanted and len(wanted & keywords(note.text)) >= HELD_SHARE * len(wanted)
        ]

    def replaced(self, note: Node) -> bool:
        return bool(self._held.graph.replaced_by(note.id))

    def current(self, phrase: Phrase) -> list[Node]:
        return [note for note in self.holding(phrase) if not self.replaced(note)]


def _stored(node: Node) -> Sequence[str]:
    words = " ".join(sorted(node.keywords | node.domains))
    return (node.text, words, node.reply or "") if isinstance(node, Context) else (node.text, words)
