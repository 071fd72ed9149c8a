"""One context for an answer, from both papers' memories (neither joins them): persona, people with verified facts, exchanges as they were.

The kind of question divides one token budget: what the persona does not use goes to the people, what they leave to the exchanges. People
come as chains of statements in the order in which they lead to the answer, facts before profiles. Of the exchanges the passages come that
are nearest to the question and to what each of the best chains left to be answered of whom it led to, in order of time: small facts
that no summary kept come back by them, and an Episode that is its own exchange word for word need not come as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, zip_longest

from pgmem_local.graph.nodes import Kind, Node, NodeId
from pgmem_local.graph.people import EntityId, Fact, People, is_nameless
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.ports import PeopleSearch, VectorSearch
from pgmem_local.retrieval.asked import read_question
from pgmem_local.retrieval.assemble import Evidence
from pgmem_local.retrieval.hops import Path, find_paths
from pgmem_local.retrieval.kind import QuestionKind, kind_of_question
from pgmem_local.retrieval.passages import Passage, Passages, ended, is_pasted
from pgmem_local.retrieval.people import best_facts
from pgmem_local.retrieval.query import Query
from pgmem_local.retrieval.sections import (
    LABEL_TOKENS,
    Line,
    Section,
    fact_line,
    passages_line,
    profile_lines,
    sentence_line,
    write_sections,
)
from pgmem_local.retrieval.serialise import Serialised, serialise
from pgmem_local.retrieval.told import Embed, Statement, Told
from pgmem_local.settings import JoinedSettings, Shares
from pgmem_local.words import keywords

FACTS = "Verified facts about others (they win over profiles):"
PROFILES = "Profiles of others:"
SAID = "What was said:"
COVERED = 0.8
"""Share of a passage's words that other notes made from its exchange hold, from which it need not be shown as well."""
ALONG = 2
"""Passages shown of an exchange that a chain goes along."""


@dataclass(frozen=True)
class Sources:
    """What is read for one question."""

    graph: PersonaGraph
    people: People
    vectors: VectorSearch
    search: PeopleSearch
    embed: Embed
    passages: Passages


@dataclass(frozen=True)
class Company:
    """What the memory holds on a question beside the persona.

    paths: chains of statements, best first. facts: of those the best chains lead through, their own best ones. passages: of exchanges,
    those that the chains go along, then the nearest first. along: those of each exchange that a chain goes along.
    """

    kind: QuestionKind = QuestionKind.OTHER
    paths: tuple[Path, ...] = ()
    facts: tuple[Fact, ...] = ()
    passages: tuple[Passage, ...] = ()
    along: Mapping[NodeId, Sequence[Passage]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.paths or self.facts or self.passages)

    @property
    def people(self) -> tuple[EntityId, ...]:
        """Those the best chain leads through."""
        return self.paths[0].people if self.paths else ()


# ------------------------------------------------------------------ what there is


def find_company(sources: Sources, query: Query, settings: JoinedSettings) -> Company:
    """The chains, facts and exchanges for a question. What the user has pasted says nothing of the user, and gives no advice; what holds
    no longer is no answer to what is."""
    people = sources.people
    told = Told(sources.graph, people, sources.vectors, sources.search, sources.embed, sources.passages)
    kind = kind_of_question(query.text, people)
    concerned = kind is QuestionKind.SOMEONE or bool(people.mentions_in(query.text)) or _is_told_of(told, query.text, settings)
    paths = find_paths(told, query.text, settings.hops) if concerned else ()
    searches = [query.text, *_rewritten(paths, people, settings.rewritten)]
    near = _in_turn([told.near(one, settings.exchanges, query.period) for one in searches])
    along = _along(paths, told, query)
    passages = dict.fromkeys([*chain.from_iterable(along.values()), *near])
    if kind in (QuestionKind.ME, QuestionKind.ADVICE):
        passages = {one: None for one in passages if not is_pasted(one, sources.graph)}
    if query.now:
        passages = {one: None for one in passages if ended(one, sources.graph) is None}
    return Company(kind, paths, _facts_of(paths, sources, query, settings), tuple(passages), along)


def _is_told_of(told: Told, question: str, settings: JoinedSettings) -> bool:
    """Whether a fact speaks of somebody by the very relation that is asked about: "my choir leader"."""
    relations = read_question(question, told.people).relations
    return any(told.resemblance(relation, fact) >= settings.told_of for relation in relations for fact in told.all_facts())


def _facts_of(paths: Sequence[Path], sources: Sources, query: Query, settings: JoinedSettings) -> tuple[Fact, ...]:
    scores = sources.search.facts(query.vector)
    who = dict.fromkeys(one for path in paths[: settings.rewritten] for one in reversed(path.people))
    return tuple(fact for one in who for fact in best_facts(sources.people, one, scores, settings.plain.facts))


def _rewritten(paths: Sequence[Path], people: People, most: int) -> list[str]:
    """What the best chains left to be answered, asked of whom they led to: "Ben instrument play"."""
    found = (f"{people[path.end].name} {path.left}" for path in paths if path.end and path.left and not is_nameless(people[path.end].name))
    return list(dict.fromkeys(found))[:most]


def _along(paths: Sequence[Path], told: Told, query: Query) -> dict[NodeId, list[Passage]]:
    """Of the exchanges that the chains go along, the passages nearest to what was left to be answered."""
    found: dict[NodeId, list[Passage]] = {}
    for path in paths:
        for statement in path.statements:
            if statement.fact is None and statement.sources[0] not in found:
                found[statement.sources[0]] = told.passages_of(statement.sources[0], path.left or query.text)[:ALONG]
    return found


def _in_turn(rankings: Iterable[Sequence[Passage]]) -> Iterator[Passage]:
    """The first of each ranking, then the second of each."""
    return (one for tier in zip_longest(*rankings) for one in tier if one is not None)


# ------------------------------------------------------------------ one text


def of_its_time(evidence: Evidence, query: Query) -> Evidence:
    """The evidence without what cannot be the answer, which a small model takes for one: what held before, where a question asks for what
    holds now, and what was not yet said in the time that it asks about."""
    if query.now:
        return replace(evidence, changed=())
    if query.past and query.period:
        last = query.period[1]
        return replace(evidence, states=tuple(one for one in evidence.states if not one.node.moment or one.node.moment.day <= last))
    return evidence


def write_joined(
    sources: Sources, evidence: Evidence, company: Company, budget: int, count: Callable[[str], int], settings: JoinedSettings
) -> Serialised:
    """Persona, people and exchanges as numbered notes within the budget."""
    shares = shares_of(company.kind, settings)
    persona = serialise(_without_exchanges(evidence, sources.graph), int(budget * shares.persona), count)
    left = budget - count(persona.text)
    for_people = left - int(budget * (1 - shares.persona - shares.people))
    people = write_sections(_people_sections(sources, company), for_people, count, 1 + len(persona.labels))
    left -= for_people - people.left
    shown = _Shown(sources.graph, persona, people.lines)
    passages = [one for one in company.passages if not shown.covers(one)]
    said = write_sections([_said(passages, sources.graph, left, count)], left, count, 1 + len(persona.labels) + len(people.lines))
    parts = (persona, people.serialised, said.serialised)
    return Serialised("\n".join(part.text for part in parts if part.text), {n: node for part in parts for n, node in part.labels.items()})


def about_those_asked(sources: Sources, question: str, company: Company, nodes: Iterable[NodeId]) -> frozenset[NodeId] | None:
    """Of these nodes the ones that rest on lines which speak of somebody whom the question names, or whom its chains lead to: only there
    can its answer stand. None where it names nobody."""
    named = {one for mention in sources.people.mentions_in(question) for one in mention.candidates}
    if not named:
        return None
    asked = named.union(*(path.people for path in company.paths))
    resting = {source for one in asked for fact in sources.people.facts(one, current=False) for source in fact.sources}

    def speaks_of_them(context: NodeId) -> bool:
        return context in resting or bool(asked & _named_in(sources, context))

    return frozenset(node for node in nodes if any(map(speaks_of_them, sources.graph.contexts_behind(node))))


def _named_in(sources: Sources, context: NodeId) -> set[EntityId]:
    mentions = sources.people.mentions_in(sources.graph[context].text)
    return {one for mention in mentions for one in mention.candidates}


def shares_of(kind: QuestionKind, settings: JoinedSettings) -> Shares:
    return {
        QuestionKind.ME: settings.about_user,
        QuestionKind.SOMEONE: settings.about_someone,
        QuestionKind.WHEN: settings.when,
        QuestionKind.ADVICE: settings.advice,
        QuestionKind.OTHER: settings.other,
    }[kind]


def _people_sections(sources: Sources, company: Company) -> list[Section]:
    """The best chain in its order, then further facts, then what only profiles say."""
    seen: set[str] = set()
    best = company.paths[:1]
    chains = [Section(_led_through(path, sources.people), _fresh(_chain(path, company, sources.graph), seen)) for path in best]
    further = [fact_line(one.fact) for path in company.paths[1:] for one in path.statements if one.fact]
    facts = Section(FACTS, _fresh([*further, *map(fact_line, company.facts)], seen))
    profiles = [line for one in company.people for line in profile_lines(sources.people.profile(one), sources.graph)]
    return [*chains, facts, Section(PROFILES, _fresh(profiles, seen))]


def _led_through(path: Path, people: People) -> str:
    return f"Facts that lead from one to the next ({' -> '.join(people[one].name for one in path.people)}):"


def _chain(path: Path, company: Company, graph: PersonaGraph) -> list[Line]:
    introduction = path.introduction
    introduced = [sentence_line(introduction, graph)] if introduction and introduction.sources else []
    return [*introduced, *(_statement_line(one, company, graph) for one in path.statements)]


def _statement_line(statement: Statement, company: Company, graph: PersonaGraph) -> Line:
    source = statement.sources[0]
    return fact_line(statement.fact) if statement.fact else passages_line(graph, source, company.along[source])


def _fresh(lines: Iterable[Line], seen: set[str]) -> tuple[Line, ...]:
    """The lines not seen before, each once."""
    found = []
    for line in lines:
        if line.text not in seen:
            seen.add(line.text)
            found.append(line)
    return tuple(found)


def _without_exchanges(evidence: Evidence, graph: PersonaGraph) -> Evidence:
    """The evidence but for what stands in the exchanges as it is: Contexts, and Episodes in their words."""
    return replace(evidence, episodes=tuple(one for one in evidence.episodes if not _stands_in_exchanges(one.node, graph)))


def _stands_in_exchanges(node: Node, graph: PersonaGraph) -> bool:
    if node.kind is Kind.CONTEXT:
        return True
    told = " ".join(node.text.split())
    return all(" ".join(graph[context].text.split()) in told for context in graph.contexts_behind(node.id))


def _said(passages: Sequence[Passage], graph: PersonaGraph, budget: int, count: Callable[[str], int]) -> Section:
    """The first passages that fit, in order of time, those of one exchange in one line."""
    left = budget - count(SAID) - LABEL_TOKENS
    kept: list[Passage] = []
    for one in passages:
        size = count(passages_line(graph, one.context, [one]).text) + LABEL_TOKENS
        if size <= left:
            kept.append(one)
            left -= size
    kept.sort(key=lambda one: _when(graph[one.context]))
    grouped = groupby(kept, key=lambda one: one.context)
    return Section(SAID, tuple(passages_line(graph, context, list(group)) for context, group in grouped))


def _when(node: Node) -> tuple[float, NodeId]:
    return (node.moment.utc.timestamp() if node.moment else 0.0, node.id)


class _Shown:
    """Which words of an exchange the notes hold already."""

    def __init__(self, graph: PersonaGraph, persona: Serialised, lines: Iterable[Line]) -> None:
        self._graph = graph
        self._words: dict[NodeId, frozenset[str]] = {}
        for line in lines:
            self._add(line.node, keywords(line.text))
        for node in persona.labels.values():
            for context in graph.contexts_behind(node):
                self._add(context, graph[node].keywords)

    def _add(self, context: NodeId, words: frozenset[str]) -> None:
        self._words[context] = self._words.get(context, frozenset()) | words

    def covers(self, passage: Passage) -> bool:
        words = keywords(passage.text)
        return len(words & self._words.get(passage.context, frozenset())) >= COVERED * len(words)
