"""What a memory made of what was planted, by hand-worked examples."""

from __future__ import annotations

from pgmem_local.answering import Notes
from pgmem_local.bench.datasets.diaries import Phrase, Planted
from pgmem_local.bench.scoring.hygiene import check_hygiene
from pgmem_local.bench.systems import Recalled
from pgmem_local.graph.nodes import Kind, NodeId
from tests.builders import Sketch


class Memory:
    """States by the entry they rest on."""

    def __init__(self) -> None:
        self.sketch = Sketch()
        self.entries: dict[NodeId, tuple[str, ...]] = {}

    def entry(self, name: str, text: str) -> NodeId:
        return self._named(self.sketch.context(text), name)

    def note(self, name: str, text: str) -> NodeId:
        return self._named(self.sketch.state(text), name)

    def _named(self, identifier: NodeId, name: str) -> NodeId:
        self.entries[identifier] = (name,)
        return identifier

    @property
    def held(self) -> Recalled:
        return Recalled(Notes("", {}), self.sketch.graph, self.entries)


def test_secret_is_found_in_any_stored_text_also_with_other_spacing() -> None:
    memory = Memory()
    memory.entry("e1", "The card is 4000-1234-5678-9010.")
    planted = Planted(secrets=("4000 1234 5678 9010", "Tinsel!Badger42"))
    assert check_hygiene(planted, memory.held) == {"secrets_stored": 0.5}


def test_secret_in_somebodys_profile_is_found() -> None:
    planted = Planted(secrets=("7316#",))
    assert check_hygiene(planted, Recalled(beside=("Jules knows that the door code is 7316#.",))) == {"secrets_stored": 1.0}
    assert check_hygiene(planted, Recalled(beside=("Jules plays the trumpet.",))) == {"secrets_stored": 0.0}


def test_claim_of_pasted_text_counts_only_where_it_was_pasted() -> None:
    memory = Memory()
    memory.note("e1", "User adores oysters.")
    planted = Planted(claims=(Phrase("adores oysters", "e1"), Phrase("owns two cats", "e1"), Phrase("adores oysters", "e2")))
    assert check_hygiene(planted, memory.held)["claims_held"] == 1 / 3


def test_other_peoples_fact_is_the_writers_unless_the_note_says_whose() -> None:
    memory = Memory()
    memory.note("e1", "User is allergic to walnuts.")
    memory.note("e2", "User's flatmate is vegan.")
    memory.note("e3", "User knows that Ines speaks Portuguese.")
    facts = [("Jules", "allergic to walnuts", "e1"), ("Callum", "vegan", "e2"), ("Ines", "speaks Portuguese", "e3")]
    others = tuple((person, Phrase(fact, entry)) for person, fact, entry in facts)
    assert check_hygiene(Planted(others=others), memory.held)["others_facts_held"] == 1 / 3


def test_half_of_the_words_hold_a_phrase_and_less_do_not() -> None:
    memory = Memory()
    memory.note("e1", "User wants a lighthouse.")
    memory.note("e2", "User wants peace.")
    phrase = "wants a lighthouse and eleven goats"
    held = check_hygiene(Planted(not_facts=(Phrase(phrase, "e1"), Phrase(phrase, "e2"))), memory.held)
    assert held["not_facts_held"] == 0.5


def test_old_value_must_be_marked_as_replaced() -> None:
    memory = Memory()
    bus, bike = memory.note("e1", "User takes the bus."), memory.note("e2", "User rides a bike.")
    memory.note("e3", "User runs.")
    memory.sketch.shift(bus, bike)
    shifts = ((Phrase("bus", "e1"), Phrase("bike", "e2"), Phrase("walking", "e4")), (Phrase("running", "e3"), Phrase("swimming", "e5")))
    found = check_hygiene(Planted(shifts=shifts), memory.held)
    assert (found["shifts_noted"], found["shifts_marked"]) == (1.0, 1 / 3)


def test_tension_is_kept_when_both_sides_still_hold() -> None:
    memory = Memory()
    alone, company = memory.note("e1", "User wants to live alone."), memory.note("e2", "User dreads Sundays alone.")
    later = memory.note("e3", "User likes crowds.")
    both = (Phrase("live alone", "e1"), Phrase("Sundays alone", "e2"))
    assert check_hygiene(Planted(tensions=(both,)), memory.held)["tensions_kept"] == 1.0
    memory.sketch.shift(company, later)
    assert check_hygiene(Planted(tensions=(both,)), memory.held)["tensions_kept"] == 0.0
    assert memory.sketch.graph.replaced_by(alone) == []


def test_memory_without_notes_is_asked_for_secrets_only() -> None:
    memory = Memory()
    memory.entry("e1", "Oysters again.")
    assert [node.kind for node in memory.sketch.graph.of_kind(Kind.CONTEXT)] == [Kind.CONTEXT]
    assert check_hygiene(Planted(claims=(Phrase("oysters", "e1"),)), memory.held) == {"secrets_stored": None}
