"""Residuals: exact statements about one entity (ProGraph, section 3.1), which of the seven kinds each is, and what replaces what.

Departures: the kind is told by code from the words, not asked for. A fact is the user's own sentence with the name put in, so no number
or name in it can be wrong. A later fact on a single-valued matter (where somebody lives, works, what they no longer do) takes the place
of the earlier one, in the order of what was said, not of what was read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pgmem_local.dates import Grain, day_moment, find_dates, with_dates
from pgmem_local.graph.names import words_of
from pgmem_local.graph.nodes import NodeId
from pgmem_local.graph.people import Entity, Fact, FactId, FactKind, People
from pgmem_local.ports import Vectors
from pgmem_local.profiles.desk import PeopleDesk
from pgmem_local.profiles.lines import Line
from pgmem_local.words import keywords

RELATED_COSINE = 0.5
"""Below this a statement that something ended is about something else."""
ENDED_SHARE = 0.5
"""Share of an older fact's words that the statement of its end must hold."""

_CHANGE = re.compile(
    r"\b(no longer|not any ?more|any ?more|used to|stopped|quit|gave up|given up|switched|moved|instead of|has become|became|left"
    r"|started|retired|sold|these days|from now on|has changed|broke up|got (?:engaged|married|divorced))\b",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"\b(no longer|not any ?more|n['’]t .*any ?more|stopped|quit|gave up|given up|switched from|instead of|used to|broke up|sold)\b",
    re.IGNORECASE,
)
_MATTERS = {
    "home": re.compile(r"\b(liv(?:es?|ing)|moved?|moving|relocated) (?:back |over |up |down |out )?(?:in|to|into)\b", re.IGNORECASE),
    "work": re.compile(r"\b(works?|working|started|job|employed) (?:now )?(?:at|for|as)\b", re.IGNORECASE),
    "birthday": re.compile(r"\b(birthday is|birthday['’]s|was born on)\b", re.IGNORECASE),
    "age": re.compile(r"\b(?:is|turned|turns|just) (?:\d{1,3}|now \d{1,3})(?: years old| now|$|[.,!])", re.IGNORECASE),
    "partner": re.compile(r"\b(?:is|got) (?:now )?(?:married to|engaged to|dating|divorced|single|going out with)\b", re.IGNORECASE),
    "car": re.compile(r"\b(?:drives|now drives)\b", re.IGNORECASE),
}
"""Matters on which only the latest statement holds."""
_BIRTHDAY = re.compile(r"\b(birthday|born)\b", re.IGNORECASE)
_CLOCK = re.compile(r"\b\d{1,2}(?::\d\d| ?(?:am|pm))\b|\b(?:noon|midnight)\b", re.IGNORECASE)
_NUMBER = re.compile(
    r"\d|\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|hundred|thousand|half|twice)\b",
    re.IGNORECASE,
)
_LIST = re.compile(r"\b[\w'’ -]+, [\w'’ -]+,? and [\w'’-]+")
_TITLE = re.compile(r"[\"“][^\"”]+[\"”]")


@dataclass(frozen=True)
class Statement:
    """A sentence that stands alone, the line it was made from, and its vector."""

    text: str
    line: Line
    vector: Vectors


@dataclass(frozen=True)
class NewFacts:
    """What the statements of a chunk add to one entity's facts."""

    facts: tuple[Fact, ...]
    said_again: tuple[tuple[FactId, NodeId], ...]
    replaced: dict[FactId, FactId]
    vectors: dict[FactId, Vectors]


def take_facts(desk: PeopleDesk, entity: Entity, statements: Sequence[Statement]) -> NewFacts:
    """New facts, further sources of known ones, and the older ones they replace."""
    known = list(desk.people.facts(entity.id, current=False)) if entity.id in desk.people else []
    vectors = {fact.id: row for fact in known if (row := desk.fact_vector(fact.id)) is not None}
    new: list[Fact] = []
    again: list[tuple[FactId, NodeId]] = []
    for one in statements:
        same = _the_same(one, [*known, *new], vectors, desk.settings.same_fact)
        if same is not None:
            if _rests_on(same, one.line):
                again.append((same.id, one.line.context.id))
            continue
        fact = fact_from(desk.ids.next_fact(), entity, one, desk.people)
        new.append(fact)
        vectors[fact.id] = one.vector
    replaced = replacements([*known, *new], {fact.id for fact in new}, vectors)
    facts = tuple(replace(fact, replaced_by=replaced.get(fact.id)) for fact in new)
    old = {older: newer for older, newer in replaced.items() if older not in {fact.id for fact in new}}
    return NewFacts(facts, tuple(again), old, {fact.id: vectors[fact.id] for fact in new})


def fact_from(identifier: FactId, entity: Entity, statement: Statement, people: People) -> Fact:
    """A statement as a fact: its kind, and the date of what it tells of, with the words that said so."""
    said = statement.line.context.moment
    dates = [] if _BIRTHDAY.search(statement.text) else find_dates(statement.text, said)
    first = dates[0] if dates else None
    return Fact(
        identifier,
        entity.id,
        kind_of_fact(statement.text, entity, people, dated=first is not None),
        with_dates(statement.text, said),
        (statement.line.context.id,),
        said,
        day_moment(first.day, said) if first and said else None,
        first.words if first else None,
        grain=first.grain if first else Grain.DAY,
        doubtful=first.doubtful if first else False,
    )


def kind_of_fact(text: str, entity: Entity, people: People, dated: bool) -> FactKind:
    """The first of the paper's seven kinds that the words show; what shows none of the others is a marker of identity."""
    if _CHANGE.search(text):
        return FactKind.CHANGE
    if dated or _BIRTHDAY.search(text) or _CLOCK.search(text):
        return FactKind.DATE
    if any(other != entity.id for other in people.mentions(text)):
        return FactKind.LINK
    if _LIST.search(text):
        return FactKind.LIST
    if _NUMBER.search(text):
        return FactKind.NUMBER
    own = {word.folded for name in entity.names for word in words_of(name)}
    named = any(word.capital and word.folded not in own for word in words_of(text)[1:])
    return FactKind.NAME if named or _TITLE.search(text) else FactKind.IDENTITY


def _the_same(one: Statement, facts: Sequence[Fact], vectors: dict[FactId, Vectors], threshold: float) -> Fact | None:
    """A fact that says this already: as near as the paper asks, and with the same numbers and names."""
    for fact in facts:
        row = vectors.get(fact.id)
        if (
            row is not None
            and float(row @ one.vector) > threshold
            and _exact_words(fact.text) == _exact_words(with_dates(one.text, one.line.context.moment))
        ):
            return fact
    return None


def _exact_words(text: str) -> frozenset[str]:
    """The words that tell two nearly equal statements apart: numbers, names and denials."""
    words = words_of(text)
    denied = {"not"} if re.search(r"\b(not|no|never)\b|n['’]t\b", text, re.IGNORECASE) else set()
    return frozenset({w.folded for w in words if any(map(str.isdigit, w.folded))} | {w.folded for w in words[1:] if w.capital} | denied)


def _rests_on(fact: Fact, line: Line) -> bool:
    """Whether a line holds all the words of a fact, so that the fact may outlive its first source."""
    return keywords(fact.text) <= keywords(with_dates(line.text, line.context.moment))


# ------------------------------------------------------------------ what replaces what


def replacements(facts: Sequence[Fact], new: set[FactId], vectors: dict[FactId, Vectors]) -> dict[FactId, FactId]:
    """Older fact -> the later one on the same matter, wherever at least one of the two is new. Undated facts replace nothing."""
    found: dict[FactId, FactId] = {}
    dated = sorted(((fact.said.utc, place, fact) for place, fact in enumerate(facts) if fact.said is not None), key=lambda one: one[:2])
    in_order = [fact for _, _, fact in dated]
    for place, later in enumerate(in_order):
        for earlier in in_order[:place]:
            if {earlier.id, later.id} & new and earlier.replaced_by is None and _replaces(later, earlier, vectors):
                found.setdefault(earlier.id, later.id)
    return found


def _replaces(later: Fact, earlier: Fact, vectors: dict[FactId, Vectors]) -> bool:
    if earlier.said == later.said or keywords(earlier.text) == keywords(later.text):
        return False
    if matters(earlier.text) & matters(later.text):
        return True
    return bool(_ENDS.search(later.text)) and _ended_by(later, earlier, vectors)


def matters(text: str) -> frozenset[str]:
    """The single-valued matters a statement is about."""
    return frozenset(name for name, pattern in _MATTERS.items() if pattern.search(text))


def _ended_by(later: Fact, earlier: Fact, vectors: dict[FactId, Vectors]) -> bool:
    """Whether a statement that something ended is about what an earlier one says."""
    one, other = vectors.get(earlier.id), vectors.get(later.id)
    if one is None or other is None or float(one @ other) < RELATED_COSINE:
        return False
    words = keywords(earlier.text)
    return len(words & keywords(later.text)) >= ENDED_SHARE * len(words) > 0
