"""The hidden truth of a scenario: four or five people, typed relationships between them and the narrator, and what is true of each."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from pgmem_local.bench.generation.vocabulary import Family, Tie, vocabulary

NARRATOR = "user"
OBSERVATIONS = 88
"""About as many as the paper has a scenario (92), with those that a transition adds."""
CHANGES = 0.5
"""Share of what can change that does."""


@dataclass(frozen=True)
class Person:
    short: str
    surname: str

    @property
    def name(self) -> str:
        return f"{self.short} {self.surname}"


@dataclass(frozen=True)
class Relationship:
    """`other` is the TYPE of `one`, and `one` the inverse of `other`."""

    id: str
    one: str
    tie: Tie
    other: str

    def steps(self) -> Iterator[tuple[str, str, str]]:
        """(from, type, to), both ways."""
        yield self.one, self.tie.type, self.other
        yield self.other, self.tie.inverse, self.one


@dataclass(frozen=True)
class Observation:
    """One fact. was: what held before it. ended: whether another took its place."""

    id: str
    subject: str
    family: Family
    value: str
    was: str | None = None
    ended: bool = False


@dataclass(frozen=True)
class Step:
    """One step of a chain along a relationship."""

    relationship: Relationship
    start: str
    type: str
    end: str


@dataclass(frozen=True)
class Network:
    people: tuple[Person, ...]
    relationships: tuple[Relationship, ...]
    observations: tuple[Observation, ...]

    def steps_from(self, entity: str) -> list[Step]:
        return [
            Step(relationship, start, kind, end)
            for relationship in self.relationships
            for start, kind, end in relationship.steps()
            if start == entity
        ]

    def current(self, subject: str) -> list[Observation]:
        return [seen for seen in self.observations if seen.subject == subject and not seen.ended]


def draw_network(dice: random.Random) -> Network:
    words, count = vocabulary(), dice.choice((4, 5, 5))
    names = zip(dice.sample(words.first_names, count), dice.sample(words.surnames, count), strict=True)
    people = tuple(Person(short, surname) for short, surname in names)
    shorts = [person.short for person in people]
    return Network(people, tuple(_relationships(shorts, dice)), tuple(_observations(shorts, dice)))


def _relationships(people: list[str], dice: random.Random) -> list[Relationship]:
    """A line through everybody, so that the longest chains exist, and further ties up to six to ten."""
    line = [NARRATOR, *dice.sample(people, len(people))]
    pairs = list(pairwise(line))
    others = [(one, other) for place, one in enumerate(line) for other in line[place + 2 :]]
    pairs += dice.sample(others, dice.randint(6, 2 * len(people)) - len(pairs))
    own, between = (dice.sample(ties, len(ties)) for ties in (vocabulary().own_ties, vocabulary().ties))
    return [
        Relationship(f"r{number}", one, own.pop() if one == NARRATOR else between.pop(), other)
        for number, (one, other) in enumerate(pairs, 1)
    ]


def _observations(people: list[str], dice: random.Random) -> list[Observation]:
    """Each person has most of the families, no two the same value of one."""
    families = vocabulary().families
    left = {family.name: dice.sample(family.values, len(family.values)) for family in families}
    found: list[Observation] = []
    for person in people:
        for family in dice.sample(families, min(len(families), round(OBSERVATIONS / len(people)))):
            was = left[family.name].pop() if family.changed and dice.random() < CHANGES else None
            if was is not None:
                found.append(Observation(f"o{len(found) + 1}", person, family, was, ended=True))
            found.append(Observation(f"o{len(found) + 1}", person, family, left[family.name].pop(), was))
    return found
