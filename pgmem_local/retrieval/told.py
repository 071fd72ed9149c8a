"""What is told of whom, as statements that a chain of hops can go along: verified facts, and raw exchanges that speak of somebody.

A fact is sharper, an exchange holds what no fact was made of. Both know whom they speak of and which Contexts they rest on. What was told
in one breath belongs together: "Del has rooms in Mill Lane, guess whose house that is. Gwil's." speaks of Del and Gwil.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import nlargest
from itertools import zip_longest

from pgmem_local.graph.names import words_of
from pgmem_local.graph.nodes import Context, Kind, NodeId, kind_of
from pgmem_local.graph.people import Entity, EntityId, EntityKind, Fact, People, is_nameless
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.ports import PeopleSearch, Vectors, VectorSearch
from pgmem_local.retrieval.passages import Passage, Passages, worth_showing
from pgmem_local.retrieval.past import Period
from pgmem_local.words import keywords

Embed = Callable[[Sequence[str]], Vectors]

IN_PERIOD = 0.15
"""What it is worth, in cosine, that something was said in the period a question asks about."""
SHORTEST_NICKNAME = 3
"""Letters: Del may be Delphine, but Jo is not Joanna."""
STRANGERS = 10
"""Facts with nothing in common with any text that the average counts in: of the few facts of a young memory all may be to the point."""
SHORTEST_ENDING = 4
"""Letters: Rike may be Henrike, but Ana is not Diana."""


@dataclass(frozen=True)
class Statement:
    """A verified fact or an exchange, whom it names, and who else was spoken of in the same breath."""

    id: str
    text: str
    sources: tuple[NodeId, ...]
    names: frozenset[EntityId]
    beside: frozenset[EntityId] = frozenset()
    fact: Fact | None = None


class Told:
    """Statements by entity, and what a text has in common with each. Built for one question; what it found once it keeps."""

    def __init__(
        self, graph: PersonaGraph, people: People, vectors: VectorSearch, search: PeopleSearch, embed: Embed, passages: Passages
    ) -> None:
        self.people = people
        self._graph, self._vectors, self._search, self._embed, self._passages = graph, vectors, search, embed, passages
        self._facts_from: dict[NodeId, list[Fact]] = defaultdict(list)
        for fact in people.all_facts():
            for source in fact.sources:
                self._facts_from[source].append(fact)
        self._of: dict[EntityId, list[Statement]] = {}
        self._exchanges: dict[NodeId, Statement] = {}
        self._resembling: dict[str, dict[str, float]] = {}
        self._rows: dict[str, tuple[Vectors, float]] = {}

    def of(self, entity: EntityId) -> list[Statement]:
        """All that is told of an entity now."""
        if entity not in self._of:
            facts = [self._fact(fact) for fact in self.people.facts(entity)]
            self._of[entity] = [*facts, *map(self._exchange, self._exchanges_of(entity))]
        return self._of[entity]

    def all_facts(self) -> list[Statement]:
        return [self._fact(fact) for fact in self.people.all_facts()]

    def near(self, text: str, most: int, period: Period | None = None) -> list[Passage]:
        """The passages nearest to a text, of the exchanges nearest to it and of those that share most words with it; what was said in the
        period that a question asks about comes nearer."""
        if not text:
            return []
        row = self._row(text)[0]
        alike = [one for one, _ in self._vectors.nearest(Kind.CONTEXT, row, most)]
        then = self._within(period, row, most) if period else []
        likely = (one for tier in zip_longest(alike, self._sharing(text, most), then) for one in tier if one is not None)
        found = self._passages.nearest(row, keywords(text), self._graph, likely)
        within = frozenset(then)
        timely = [(worth + IN_PERIOD * (one.context in within), one) for worth, one in found]
        return worth_showing(sorted(timely, key=lambda scored: -scored[0]), self._graph)

    def passages_of(self, context: NodeId, text: str) -> list[Passage]:
        """The passages of one exchange, the one nearest to a text first."""
        return [one for _, one in self._passages.nearest(self._row(text)[0], keywords(text), self._graph, [context])]

    def _sharing(self, text: str, most: int) -> list[NodeId]:
        """The exchanges that share most words with a text, rare ones first."""
        worth: dict[NodeId, float] = defaultdict(float)
        for word in sorted(keywords(text)):
            holding = [one for one in self._graph.with_keyword([word]) if kind_of(one) is Kind.CONTEXT]
            for one in holding:
                worth[one] += 1 / len(holding)
        return nlargest(most, sorted(worth), key=lambda one: worth[one])

    def _within(self, period: Period, row: Vectors, most: int) -> list[NodeId]:
        """The exchanges of a period nearest to a text."""
        first, last = period
        said = sorted(one.id for one in self._graph.of_kind(Kind.CONTEXT) if one.moment and first <= one.moment.day <= last)
        if not said:
            return []
        cosines: Vectors = self._vectors.vectors(said) @ row
        return [said[place] for place in nlargest(most, range(len(said)), key=lambda place: float(cosines[place]))]

    def resemblance(self, text: str, statement: Statement) -> float:
        """Cosine above that of the average fact: what a short phrase has in common with all says nothing. 0 for no text."""
        if not text:
            return 0.0
        row, mean = self._row(text)
        known = self._resembling[text]
        if statement.id not in known:
            known[statement.id] = float(self._vectors.vectors([NodeId(statement.id)])[0] @ row) if statement.fact is None else mean
        return known[statement.id] - mean

    def _row(self, text: str) -> tuple[Vectors, float]:
        if text not in self._rows:
            row = self._embed([text])[0]
            cosines = self._search.facts(row)
            current = [cosines[fact.id] for fact in self.people.all_facts() if fact.id in cosines]
            self._rows[text] = row, sum(current) / (len(current) + STRANGERS)
            self._resembling[text] = {str(one): cosine for one, cosine in cosines.items()}
        return self._rows[text]

    def _fact(self, fact: Fact) -> Statement:
        names = self.people.spoken_of(fact)
        beside = {other.entity for source in fact.sources for other in self._facts_from[source]} - names
        return Statement(fact.id, fact.text, fact.sources, names, frozenset(beside), fact)

    def _exchange(self, context: NodeId) -> Statement:
        if context not in self._exchanges:
            names = frozenset(self.people.mentions(self._graph[context].text))
            beside = frozenset(fact.entity for fact in self._facts_from.get(context, ())) - names
            self._exchanges[context] = Statement(context, self._graph[context].text, (context,), names, beside)
        return self._exchanges[context]

    def _exchanges_of(self, entity: EntityId) -> list[NodeId]:
        """Contexts that its facts rest on, and those that hold one of its names."""
        resting = {source for fact in self.people.facts(entity) for source in fact.sources}
        words = {word for name in self.people[entity].names if not is_nameless(name) for word in keywords(name)}
        holding = {one for one in self._graph.with_keyword(words) if kind_of(one) is Kind.CONTEXT}
        spoken = {one for one in holding - resting if entity in self._exchange(one).names}
        return sorted(one for one in resting | spoken if isinstance(self._graph[one], Context))


def other_spellings(people: People, entity: EntityId) -> list[EntityId]:
    """Persons of whose first name this one's may be a short form, or the other way: perhaps the same, which no reader can decide."""
    one = people[entity]
    return [other.id for other in people if other.id != entity and _may_be_one(one, other)]


def _may_be_one(one: Entity, other: Entity) -> bool:
    if one.kind is not EntityKind.PERSON or other.kind is not EntityKind.PERSON:
        return False
    return any(_shortens(a, b) or _shortens(b, a) for a in _first_names(one.names) for b in _first_names(other.names))


def _shortens(short: str, long: str) -> bool:
    """Del, Delphine; Toby, Tobias; Rike, Henrike."""
    if len(short) >= len(long):
        return False
    stem = short[:-1] if short.endswith("y") else short.removesuffix("ie")
    return (len(stem) >= SHORTEST_NICKNAME and long.startswith(stem)) or (len(short) >= SHORTEST_ENDING and long.endswith(short))


def _first_names(names: Iterable[str]) -> list[str]:
    return [words[0].folded for name in names if not is_nameless(name) and (words := words_of(name))]
