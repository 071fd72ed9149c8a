"""Questions at K = 1 to 5: a chain of people is sampled from the network, and the question asks for a fact about its last.

Decomposition and evidence are derived from the chain, so that they are exact.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pgmem_local.bench.generation.network import NARRATOR, Network, Observation, Step
from pgmem_local.bench.generation.sessions import Chats
from pgmem_local.bench.generation.vocabulary import Family, vocabulary

_MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905


@dataclass(frozen=True)
class Chain:
    """Steps along relationships, and the fact at their end; `seen` is None where the end has no such fact."""

    start: str
    steps: tuple[Step, ...]
    family: Family
    seen: Observation | None

    @property
    def hops(self) -> int:
        return len(self.steps) + 1

    @property
    def end(self) -> str:
        return self.steps[-1].end if self.steps else self.start


def chains(network: Network, hops: int, dice: random.Random) -> Iterator[Chain]:
    """Chains of K steps in random order, those that end in a fact not used yet first."""
    found = [
        Chain(start, steps, seen.family, seen) for start, steps in _paths(network, hops - 1) for seen in network.current(_end(start, steps))
    ]
    yield from _fresh_first(dice.sample(found, len(found)))


def broken_chains(network: Network, dice: random.Random) -> Iterator[Chain]:
    """Chains to a person of whom nothing of that family is told, though it is of others."""
    told = {(seen.subject, seen.family.name) for seen in network.observations}
    found = [
        Chain(start, steps, family, None)
        for hops in (1, 2, 3)
        for start, steps in _paths(network, hops - 1)
        for family in vocabulary().families
        if (_end(start, steps), family.name) not in told and any(name == family.name for _, name in told)
    ]
    yield from _fresh_first(dice.sample(found, len(found)))


def _paths(network: Network, length: int) -> list[tuple[str, tuple[Step, ...]]]:
    """Every path of this many steps that meets nobody twice; the narrator may only begin one."""
    starts = [NARRATOR, *(person.short for person in network.people)]
    paths: list[tuple[str, tuple[Step, ...]]] = [(start, ()) for start in starts]
    for _ in range(length):
        paths = [(start, (*steps, step)) for start, steps in paths for step in _onward(network, start, steps)]
    return [(start, steps) for start, steps in paths if _end(start, steps) != NARRATOR]


def _onward(network: Network, start: str, steps: tuple[Step, ...]) -> list[Step]:
    met = {NARRATOR, start, *(step.end for step in steps)}
    return [step for step in network.steps_from(_end(start, steps)) if step.end not in met]


def _end(start: str, steps: tuple[Step, ...]) -> str:
    return steps[-1].end if steps else start


def _fresh_first(found: list[Chain]) -> Iterator[Chain]:
    """Each (person, family) once before any of them comes again."""
    rounds: dict[tuple[str, str], int] = {}
    ranked: list[tuple[int, Chain]] = []
    for chain in found:
        key = chain.end, chain.family.name
        rounds[key] = rounds.get(key, 0) + 1
        ranked.append((rounds[key], chain))
    yield from (chain for _, chain in sorted(ranked, key=lambda entry: entry[0]))


def question_of(chain: Chain, chats: Chats, dice: random.Random) -> dict[str, Any]:
    """The record, without its id."""
    seen = chain.seen
    told = [chats.places[step.relationship.id] for step in chain.steps] + ([chats.places[seen.id]] if seen else [])
    ends = [f"{step.type}->{step.end}" for step in chain.steps]
    decomposition = [{"q": f"Who is {_possessive(step.start)} {step.type}?", "a": step.end} for step in chain.steps]
    common = {
        "question": _wording(chain, dice),
        "answer": seen.value if seen else None,
        "aliases": _date_forms(seen.value) if seen else [],
        "chain": [chain.start, *ends, f"{chain.family.predicate}->{seen.value if seen else '?'}"],
    }
    if seen is None:
        return {"k": 0, "answerable": False, "would_be_k": chain.hops, **common, "decomposition": decomposition, "evidence": []}
    decomposition.append({"q": chain.family.asked.format(who=chain.end), "a": seen.value})
    first = [list(places[0]) for places in told]
    return {
        "k": chain.hops,
        "answerable": True,
        **common,
        "decomposition": decomposition,
        "evidence": [place for number, place in enumerate(first) if place not in first[:number]],
        "evidence_by_step": [[list(place) for place in places] for places in told],
    }


def _wording(chain: Chain, dice: random.Random) -> str:
    """The composite question. A long chain may be told in two sentences."""
    kinds = [step.type for step in chain.steps]
    if len(kinds) >= 3 and dice.random() < 0.4:
        half = len(kinds) // 2
        who = _described("that person", kinds[half:], dice)
        return f"Think of {_described(chain.start, kinds[:half], dice)}. {chain.family.asked.format(who=who)}"
    return chain.family.asked.format(who=_described(chain.start, kinds, dice))


def _described(start: str, kinds: list[str], dice: random.Random) -> str:
    """my boss's cousin, or the cousin of my boss."""
    if not kinds:
        return start
    phrase = f"{_possessive(start)} {kinds[0]}"
    for kind in kinds[1:]:
        phrase = f"{phrase}'s {kind}" if dice.random() < 0.5 else f"the {kind} of {phrase}"
    return phrase


def _possessive(entity: str) -> str:
    return "my" if entity == NARRATOR else f"{entity}'s"


def _date_forms(value: str) -> list[str]:
    """Other spellings of `9 May`."""
    day, _, month = value.partition(" ")
    if month not in _MONTHS:
        return []
    ending = "th" if 10 < int(day) < 14 else {"1": "st", "2": "nd", "3": "rd"}.get(day[-1], "th")
    return [f"{month} {day}", f"{day}{ending} of {month}", f"{day}{ending} {month}", f"{month} {day}{ending}"]
