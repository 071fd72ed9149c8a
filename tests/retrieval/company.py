"""People with facts in a line or two, each fact from an exchange of its own, and all that is read for one question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pgmem_local.graph.nodes import Kind, NodeId
from pgmem_local.graph.people import Entity, EntityId, EntityKind, Fact, FactId, FactKind, People, Profile, Sentence
from pgmem_local.retrieval.assemble import Evidence
from pgmem_local.retrieval.hops import Path, find_paths
from pgmem_local.retrieval.joined import Company, Sources, about_those_asked, find_company, write_joined
from pgmem_local.retrieval.passages import Passages
from pgmem_local.retrieval.people import Known, choose_people
from pgmem_local.retrieval.pipeline import retrieve
from pgmem_local.retrieval.query import Query, ask_query
from pgmem_local.retrieval.serialise import Serialised
from pgmem_local.retrieval.told import Told
from pgmem_local.settings import HopSettings, JoinedSettings, PeopleReadSettings, RetrievalSettings
from tests.builders import Sketch, on_day
from tests.fakes import EmbeddedPeople, HashEmbedder

AKIN: Mapping[str, str] = {"instrument": "play", "piano": "play", "flat": "flatmat"}


def words(text: str) -> int:
    return len(text.split())


@dataclass
class Circle:
    """People being drawn: each fact is filed under everybody it names, as the write path does."""

    embedder: HashEmbedder = field(default_factory=lambda: HashEmbedder(256, AKIN))
    entities: list[Entity] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    profiles: dict[EntityId, list[Sentence]] = field(default_factory=dict)
    sketch: Sketch = field(init=False)

    def __post_init__(self) -> None:
        self.sketch = Sketch(self.embedder)

    def person(self, name: str, *aliases: str, relation: str | None = None, kind: EntityKind = EntityKind.PERSON) -> EntityId:
        identifier = EntityId(f"p{len(self.entities) + 1}")
        self.entities.append(Entity(identifier, name, aliases, kind, relation))
        return identifier

    def fact(self, text: str, *who: EntityId, day: int = 0, replaced_by: FactId | None = None, said: str | None = None) -> FactId:
        context = self.sketch.context(said or text, day)
        for one in who:
            identifier = FactId(f"f{len(self.facts) + 1}")
            self.facts.append(Fact(identifier, one, FactKind.LINK, text, (context,), on_day(day), replaced_by=replaced_by))
        return identifier

    def profile(self, entity: EntityId, *sentences: str, day: int = 0) -> list[NodeId]:
        contexts = [self.sketch.context(one, day) for one in sentences]
        self.profiles[entity] = [Sentence(text, (context,)) for text, context in zip(sentences, contexts, strict=True)]
        return contexts

    @property
    def people(self) -> People:
        return People(self.entities, [Profile(one, tuple(told)) for one, told in self.profiles.items()], self.facts)

    @property
    def sources(self) -> Sources:
        people = self.people
        embed = self.embedder.embed
        return Sources(self.sketch.graph, people, self.sketch.search, EmbeddedPeople(people, self.embedder), embed, Passages(embed))

    def query(self, question: str) -> Query:
        return ask_query(question, self.embedder, self.sketch.graph.newest)

    def paths(self, question: str, settings: HopSettings | None = None) -> tuple[Path, ...]:
        sources = self.sources
        told = Told(sources.graph, sources.people, sources.vectors, sources.search, sources.embed, sources.passages)
        return find_paths(told, question, settings or HopSettings())

    def best(self, question: str) -> list[str]:
        """The statements of the best path, in its order."""
        return [one.text for one in self.paths(question)[0].statements]

    def chosen(self, question: str, settings: PeopleReadSettings | None = None) -> tuple[Known, ...]:
        sources = self.sources
        return choose_people(sources.people, sources.search, self.query(question), settings or PeopleReadSettings())

    def company(self, question: str) -> Company:
        return find_company(self.sources, self.query(question), JoinedSettings())

    def about(self, question: str) -> list[str] | None:
        """The lines in which the answer to a question can stand."""
        lines = [one.id for one in self.sketch.graph.of_kind(Kind.CONTEXT)]
        found = about_those_asked(self.sources, question, self.company(question), lines)
        return None if found is None else [self.sketch.graph[one].text for one in sorted(found)]

    def written(self, question: str, budget: int = 400, persona: bool = False) -> Serialised:
        """The context for a question, with the States of the sketch or without."""
        found = retrieve(self.sketch.graph, self.sketch.search, self.query(question), RetrievalSettings()).evidence
        evidence = replace(found, episodes=()) if persona else Evidence()
        return write_joined(self.sources, evidence, self.company(question), budget, words, JoinedSettings())
