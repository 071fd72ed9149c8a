"""The read path of ProGraph (section 3.2, stages 1 to 3) as the paper has it: a query comes in, entities with profile and facts come out.

Stage 1 takes the profiles nearest to the query, those of entities it names first. Stage 2 follows names that stand in profiles, as long as
the profile they lead to resembles the query. Stage 3 adds each entity's own best facts. Kept beside `hops`, which does better at depth.

Departure: a fact that a later one replaced is never served; it stays in the memory as history.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pgmem_local.graph.people import Entity, EntityId, Fact, FactId, People, Profile
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.ports import PeopleSearch
from pgmem_local.retrieval.query import Query
from pgmem_local.retrieval.sections import Section, fact_line, profile_lines, write_sections
from pgmem_local.retrieval.serialise import Serialised
from pgmem_local.settings import PeopleReadSettings


@dataclass(frozen=True)
class Known:
    """An entity chosen for a query [e ∈ S], with its profile and its own best facts. `through`: in whose profile it was named."""

    entity: Entity
    score: float
    profile: Profile
    facts: tuple[Fact, ...] = ()
    through: EntityId | None = None


def choose_people(people: People, search: PeopleSearch, query: Query, settings: PeopleReadSettings) -> tuple[Known, ...]:
    """The entities a query is about, in the order they were found."""
    cosines = search.profiles(query.vector)
    chosen = _nearest(people, cosines, query, settings)
    reached = _expand(people, cosines, chosen, settings)
    resemblance = search.facts(query.vector)
    return tuple(
        Known(people[one], score, people.profile(one), best_facts(people, one, resemblance, settings.facts), reached.get(one))
        for one, score in chosen.items()
    )


def best_facts(people: People, entity: EntityId, scores: Mapping[FactId, float], most: int) -> tuple[Fact, ...]:
    """An entity's own current facts, best first: one who is much spoken of takes no room from another."""
    return tuple(sorted(people.facts(entity), key=lambda fact: -scores.get(fact.id, 0.0))[:most])


def _nearest(
    people: People, cosines: Mapping[EntityId, float], query: Query, settings: PeopleReadSettings
) -> dict[EntityId, float]:
    """Stage 1: the first M by cosine, with the boost for a name."""
    named = people.mentions(query.text)
    scores = {one: cosines.get(one, 0.0) + settings.name_boost * (one in named) for one in {*cosines, *named}}
    best = sorted(scores, key=lambda one: (-scores[one], one))[: settings.profiles]
    return {one: scores[one] for one in best}


def _expand(
    people: People, cosines: Mapping[EntityId, float], chosen: dict[EntityId, float], settings: PeopleReadSettings
) -> dict[EntityId, EntityId]:
    """Stage 2: add to `chosen`, round by round, whoever is named in a chosen profile and resembles the query; who led to whom."""
    reached: dict[EntityId, EntityId] = {}
    frontier = list(chosen)
    for _ in range(settings.rounds):
        found: list[EntityId] = []
        for one in frontier:
            for other in people.links(one):
                if other not in chosen and cosines.get(other, 0.0) > settings.expand_above:
                    chosen[other] = cosines[other]
                    reached[other] = one
                    found.append(other)
        if not found:
            break
        frontier = found
    return reached


def people_notes(chosen: Sequence[Known], graph: PersonaGraph, budget: int, count: Callable[[str], int]) -> Serialised:
    """Entity by entity the profile, then the facts, as numbered notes within a budget; who was found first comes first."""
    sections = [section for known in chosen for section in _sections(known, graph)]
    return write_sections(sections, budget, count).serialised


def _sections(known: Known, graph: PersonaGraph) -> list[Section]:
    name = known.entity.name
    return [
        Section(f"Profile of {name}:", tuple(profile_lines(known.profile, graph))),
        Section(f"Verified facts about {name} (they win over the profile):", tuple(map(fact_line, known.facts))),
    ]
