"""One context for an answer, from both papers' memories (neither joins them): persona, people with verified facts, exchanges as they were.

The kind of question divides one token budget: what the persona does not use goes to the people, what they leave to the exchanges. People
come as chains of statements in the order in which they lead to the answer, facts before profiles. The exchanges are those nearest to the
question and to what each of the best chains left to be answered of whom it led to: small facts that no summary kept come back by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from pgmem_local.graph.nodes import NodeId
from pgmem_local.graph.people import EntityId, Fact, People, is_nameless
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.ports import PeopleSearch, VectorSearch
from pgmem_local.retrieval.asked import read_question
from pgmem_local.retrieval.assemble import Evidence
from pgmem_local.retrieval.hops import Path, find_paths
from pgmem_local.retrieval.kind import QuestionKind, kind_of_question
from pgmem_local.retrieval.people import best_facts
from pgmem_local.retrieval.query import Query
from pgmem_local.retrieval.sections import Line, Section, exchange_line, fact_line, profile_lines, sentence_line, write_sections
from pgmem_local.retrieval.serialise import Serialised, serialise
from pgmem_local.retrieval.told import Embed, Statement, Told
from pgmem_local.settings import JoinedSettings, Shares
from pgmem_local.words import keywords

FACTS = "Verified facts about others (they win over profiles):"
PROFILES = "Profiles of others:"
SAID = "What was said:"
COVERED = 0.8
"""Share of an exchange's words that other notes made from it hold, from which it need not be shown as well."""


@dataclass(frozen=True)
class Sources:
    """What is read for one question."""

    graph: PersonaGraph
    people: People
    vectors: VectorSearch
    search: PeopleSearch
    embed: Embed


@dataclass(frozen=True)
class Company:
    """What the memory holds on a question beside the persona.

    paths: chains of statements, best first. facts: of those the best chains lead through, their own best ones. exchanges: nearest first.
    """

    kind: QuestionKind = QuestionKind.OTHER
    paths: tuple[Path, ...] = ()
    facts: tuple[Fact, ...] = ()
    exchanges: tuple[NodeId, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.paths or self.facts or self.exchanges)

    @property
    def people(self) -> tuple[EntityId, ...]:
        """Those the best chain leads through."""
        return self.paths[0].people if self.paths else ()


# ------------------------------------------------------------------ what there is


def find_company(sources: Sources, query: Query, settings: JoinedSettings) -> Company:
    """The chains, facts and exchanges for a question; nothing where the memory knows nobody."""
    if not len(sources.people):
        return Company()
    people = sources.people
    told = Told(sources.graph, people, sources.vectors, sources.search, sources.embed)
    kind = kind_of_question(query.text, people)
    concerned = kind is QuestionKind.SOMEONE or bool(people.mentions_in(query.text)) or _is_told_of(told, query.text, settings)
    paths = find_paths(told, query.text, settings.hops) if concerned else ()
    searches = [query.text, *_rewritten(paths, people, settings.rewritten)]
    exchanges = _in_turn([told.near(one, settings.exchanges) for one in searches])
    return Company(kind, paths, _facts_of(paths, sources, query, settings), tuple(exchanges))


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


def _in_turn(rankings: Iterable[Sequence[NodeId]]) -> Iterator[NodeId]:
    """The first of each ranking, then the second of each."""
    return iter(dict.fromkeys(one for tier in zip_longest(*rankings) for one in tier if one is not None))


# ------------------------------------------------------------------ one text


def write_joined(
    sources: Sources, evidence: Evidence, company: Company, budget: int, count: Callable[[str], int], settings: JoinedSettings
) -> Serialised:
    """Persona, people and exchanges as numbered notes within the budget."""
    shares = shares_of(company.kind, settings)
    persona = serialise(evidence, int(budget * shares.persona), count)
    left = budget - count(persona.text)
    for_people = left - int(budget * (1 - shares.persona - shares.people))
    people = write_sections(_people_sections(sources, company), for_people, count, 1 + len(persona.labels))
    left -= for_people - people.left
    shown = _Shown(sources.graph, persona, people.lines)
    exchanges = Section(SAID, tuple(exchange_line(sources.graph[one]) for one in _exchanges(company) if not shown.covers(one)))
    said = write_sections([exchanges], left, count, 1 + len(persona.labels) + len(people.lines))
    parts = (persona, people.serialised, said.serialised)
    return Serialised("\n".join(part.text for part in parts if part.text), {n: node for part in parts for n, node in part.labels.items()})


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
    chains = [Section(_led_through(path, sources.people), _fresh(_chain(path, sources.graph), seen)) for path in best]
    further = [fact_line(one.fact) for path in company.paths[1:] for one in path.statements if one.fact]
    facts = Section(FACTS, _fresh([*further, *map(fact_line, company.facts)], seen))
    profiles = [line for one in company.people for line in profile_lines(sources.people.profile(one), sources.graph)]
    return [*chains, facts, Section(PROFILES, _fresh(profiles, seen))]


def _led_through(path: Path, people: People) -> str:
    return f"Facts that lead from one to the next ({' -> '.join(people[one].name for one in path.people)}):"


def _chain(path: Path, graph: PersonaGraph) -> list[Line]:
    introduction = path.introduction
    introduced = [sentence_line(introduction, graph)] if introduction and introduction.sources else []
    return [*introduced, *(_statement_line(one, graph) for one in path.statements)]


def _statement_line(statement: Statement, graph: PersonaGraph) -> Line:
    return fact_line(statement.fact) if statement.fact else exchange_line(graph[statement.sources[0]])


def _fresh(lines: Iterable[Line], seen: set[str]) -> tuple[Line, ...]:
    """The lines not seen before, each once."""
    found = []
    for line in lines:
        if line.text not in seen:
            seen.add(line.text)
            found.append(line)
    return tuple(found)


def _exchanges(company: Company) -> Iterator[NodeId]:
    """Those that the chains go along, then those that were searched for."""
    along = (source for path in company.paths for one in path.statements if one.fact is None for source in one.sources)
    return iter(dict.fromkeys([*along, *company.exchanges]))


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

    def covers(self, context: NodeId) -> bool:
        words = self._graph[context].keywords
        return len(words & self._words.get(context, frozenset())) >= COVERED * len(words)
