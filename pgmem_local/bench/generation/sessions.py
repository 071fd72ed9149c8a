"""The network as it comes out in chats: every fact in a turn of the narrator's, scattered over some twenty sessions of half a year.

What changed is told before what it changed to. A relationship is told once more where there is room, under the full name.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil

from pgmem_local.bench.generation.network import NARRATOR, Network, Observation, Relationship
from pgmem_local.bench.generation.vocabulary import vocabulary

USER_TURNS = 6
"""A session of twelve turns, as in the paper."""
SPARE_TURNS = 8
DAYS = 180

Place = tuple[str, int]
"""Session and turn."""


@dataclass(frozen=True)
class Told:
    """A fact in the narrator's words. anchors: what its turn must hold."""

    fact: str
    sentence: str
    anchors: tuple[str, ...]


@dataclass(frozen=True)
class Session:
    id: str
    day: date
    turns: tuple[tuple[str, str], ...]
    """(role, content)"""


@dataclass(frozen=True)
class Chats:
    """places: where each fact is told, first telling first."""

    sessions: tuple[Session, ...]
    places: dict[str, list[Place]]
    anchors: dict[str, tuple[str, ...]]

    def text(self, place: Place) -> str:
        session = next(one for one in self.sessions if one.id == place[0])
        return session.turns[place[1]][1]


def write_chats(network: Network, dice: random.Random) -> Chats:
    told = _in_order(network, dice)
    count = ceil((len(told) + SPARE_TURNS) / USER_TURNS)
    slots = [(f"s{number:02}", 2 * turn) for number in range(1, count + 1) for turn in range(USER_TURNS)]
    told += [_told_again(network, one, dice) for one in dice.sample(network.relationships, min(4, len(network.relationships)))]
    chosen = sorted(dice.sample(range(len(slots)), len(told)))
    by_slot = {slots[slot]: one for slot, one in zip(chosen, told, strict=True)}
    places: dict[str, list[Place]] = {}
    for place, one in by_slot.items():
        places.setdefault(one.fact, []).append(place)
    first = date(2025, 1, 6) + timedelta(days=dice.randrange(200))
    days = sorted(dice.sample(range(DAYS), count))
    style: Style = dice.choice((_plain, _lower, _terse))
    sessions = [_session(f"s{n:02}", first + timedelta(days=day), by_slot, style, dice) for n, day in enumerate(days, 1)]
    return Chats(tuple(sessions), places, {one.fact: one.anchors for one in told})


def _in_order(network: Network, dice: random.Random) -> list[Told]:
    """All facts; those that end are told in the first half, those that replace them in the second."""
    early: list[Told] = []
    late: list[Told] = []
    facts = [*(_relationship(one, dice) for one in network.relationships), *(_observation(one, dice) for one in network.observations)]
    ended = {one.id for one in network.observations if one.ended}
    replacing = {one.id for one in network.observations if one.was is not None}
    for one in facts:
        half = early if one.fact in ended else late if one.fact in replacing else dice.choice((early, late))
        half.append(one)
    return [*dice.sample(early, len(early)), *dice.sample(late, len(late))]


def _relationship(one: Relationship, dice: random.Random) -> Told:
    sentence = dice.choice(one.tie.said).format(one=one.one, other=one.other)
    names = (one.other,) if one.one == NARRATOR else (one.one, one.other)
    return Told(one.id, sentence, names)


def _told_again(network: Network, one: Relationship, dice: random.Random) -> Told:
    full = {person.short: person.name for person in network.people}
    sentence = dice.choice(one.tie.said).format(one=one.one, other=full[one.other])
    return Told(one.id, sentence, _relationship(one, dice).anchors)


def _observation(one: Observation, dice: random.Random) -> Told:
    family = one.family
    forms = family.before if one.ended else family.changed if one.was is not None else family.said
    return Told(one.id, dice.choice(forms).format(who=one.subject, value=one.value), (one.subject, one.value))


# ------------------------------------------------------------------ words around a fact


def _session(name: str, day: date, by_slot: dict[Place, Told], style: Style, dice: random.Random) -> Session:
    """Six exchanges, none of whose frames comes twice."""
    words = vocabulary()
    pools = (words.replies, words.fillers, words.openers, words.tails)
    frames = zip(*(dice.sample(pool, USER_TURNS) for pool in pools), strict=True)
    turns: list[tuple[str, str]] = []
    for turn, (reply, filler, opener, tail) in enumerate(frames):
        told = by_slot.get((name, 2 * turn))
        turns += [("user", style(told.sentence, opener, tail) if told else filler), ("assistant", reply)]
    return Session(name, day, tuple(turns))


def _plain(sentence: str, opener: str, tail: str) -> str:
    return _joined([opener, f"{_begun(sentence, opener)}.", tail])


def _lower(sentence: str, opener: str, tail: str) -> str:
    """Somebody who types without capitals, names apart."""
    return _joined([opener.lower(), sentence + ("," if tail else ""), tail.lower().rstrip(".")])


def _terse(sentence: str, opener: str, tail: str) -> str:
    return _joined([f"{_begun(sentence, '')}.", "" if opener.endswith(":") else tail])


Style = Callable[[str, str, str], str]


def _begun(sentence: str, opener: str) -> str:
    """With a capital where a sentence begins."""
    return sentence[0].upper() + sentence[1:] if not opener or opener[-1] in ".!?" else sentence


def _joined(parts: Sequence[str]) -> str:
    return " ".join(part for part in parts if part)
