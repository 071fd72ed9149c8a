"""The memories that know others: ProGraph's read path as the paper has it, and what our user gets. Both read the memory `pgmem` built."""

from __future__ import annotations

from dataclasses import replace

from pgmem_local.answering import Notes
from pgmem_local.bench.persona import Ablation, Persona
from pgmem_local.retrieval.people import choose_people, people_notes
from pgmem_local.retrieval.query import ask_query
from pgmem_local.settings import HopSettings, JoinedSettings, PeopleReadSettings

_ONE_HOP = JoinedSettings(hops=HopSettings(longest=0), plain=PeopleReadSettings(rounds=0))
_NO_FACTS = JoinedSettings(plain=PeopleReadSettings(facts=0))
READINGS = {
    "": Ablation(),
    "-no-expansion": Ablation(joined=_ONE_HOP),
    "-no-residuals": Ablation(joined=_NO_FACTS, facts=False),
    "-neither": Ablation(joined=replace(_ONE_HOP, plain=PeopleReadSettings(rounds=0, facts=0)), facts=False),
}
"""The paper's ablation (table 5), by what is added to a name: without following names from one to the next, without verified facts."""


class ProGraph(Persona):
    """Profiles and verified facts alone, chosen by the paper's rule."""

    def _notes(self, question: str, budget: int) -> Notes:
        memory = self._memory
        query = ask_query(question, memory.embedder)
        chosen = choose_people(memory.people, memory.people_vectors(), query, self._reading.joined.plain)
        notes = people_notes(chosen, memory.graph, budget, memory.model.count)
        return Notes(notes.text, notes.labels)


class Joined(Persona):
    """Persona, people and exchanges in one context: what `pgmem ask` reads."""

    def _notes(self, question: str, budget: int) -> Notes:
        return self._memory.joined_notes(self._memory.recall(question), budget)


KINDS: dict[str, type[Persona]] = {"prograph": ProGraph, "joined": Joined}
NAMES = tuple(kind + reading for kind in KINDS for reading in READINGS)


def kind_and_reading(name: str) -> tuple[type[Persona], Ablation] | None:
    """The memory of this name and how it is read; None for a name of none."""
    kind = name.partition("-")[0]
    reading = READINGS.get(name.removeprefix(kind))
    return (KINDS[kind], reading) if kind in KINDS and reading is not None else None
