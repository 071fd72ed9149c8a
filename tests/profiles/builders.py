"""A desk in a line: chats of one user, and a model that follows rules about who is who and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone

from pgmem_local.conversation import Moment
from pgmem_local.graph.nodes import Context, NodeId
from pgmem_local.graph.people import Entity, EntityId, EntityKind, Fact, FactId, Naming, People, Profile, entity_from
from pgmem_local.lesson import PeopleLesson
from pgmem_local.ports import Vectors
from pgmem_local.profiles.desk import PeopleDesk
from pgmem_local.profiles.pipeline import learn_people
from pgmem_local.settings import PeopleSettings
from tests.fakes import Answer, Asked, HashEmbedder, RuleChat

NOON = datetime(2026, 3, 7, 12, tzinfo=timezone.utc)  # a Saturday


class PeopleReader(RuleChat):
    """kinds: what each name is, in the words of the prompt; a name that is not there is a person. same: pairs that are one person.
    written: entity -> what is written of it; by default nothing, so that only what code found remains."""

    def __init__(
        self,
        kinds: Mapping[str, str] | None = None,
        same: Sequence[tuple[str, str]] = (),
        written: Mapping[str, str] | None = None,
        context_tokens: int = 4096,
    ) -> None:
        rules = {"people_names": self._names, "people_same": self._same, "people_profile": self._profile}
        super().__init__(rules, context_tokens)
        self.kinds, self.same, self.written = dict(kinds or {}), set(same), dict(written or {})

    def _names(self, asked: Asked) -> Answer:
        names = asked.prompt.text.rpartition("Names: ")[2].split(", ")
        return "\n".join(f"{name}: {self.kinds.get(name, 'person')}" for name in names)

    def _same(self, asked: Asked) -> Answer:
        question = asked.prompt.text.rpartition("Question: Are ")[2]
        one, _, other = question.removesuffix(" the same person?").partition(" and ")
        return " Yes" if (one, other) in self.same else " No"

    def _profile(self, asked: Asked) -> Answer:
        return self.written.get(asked.prompt.text.partition("\n")[0].removeprefix("About: "), "")


@dataclass
class Diary:
    """People as they become known, session by session, without a store."""

    model: RuleChat = field(default_factory=PeopleReader)
    settings: PeopleSettings = field(default_factory=PeopleSettings)
    embedder: HashEmbedder = field(default_factory=HashEmbedder)
    people: People = field(default_factory=People)
    lesson: PeopleLesson | None = None
    _kinds: dict[EntityId, EntityKind] = field(default_factory=dict)
    _namings: list[Naming] = field(default_factory=list)
    _moments: dict[NodeId, Moment | None] = field(default_factory=dict)
    _profiles: dict[EntityId, Profile] = field(default_factory=dict)
    _facts: dict[FactId, Fact] = field(default_factory=dict)
    _vectors: dict[EntityId | FactId, Vectors] = field(default_factory=dict)
    _given: int = 0

    def session(self, *texts: str, day: int = 0, author: str | None = None) -> Diary:
        """A chunk of turns, one each text, learned at once."""
        contexts = [self._context(text, day, author) for text in texts]
        desk = PeopleDesk(self.model, self.embedder.embed, self.people, self._vectors.get, self, self.settings)
        self.lesson = learn_people(desk, contexts)
        if self.lesson is not None:
            self._take(self.lesson)
        return self

    def next_entity(self) -> EntityId:
        self._given += 1
        return EntityId(f"p{self._given}")

    def next_fact(self) -> FactId:
        self._given += 1
        return FactId(f"f{self._given}")

    def facts(self, name: str, current: bool = True) -> list[str]:
        return [fact.text for fact in self.people.facts(self.entity(name).id, current)]

    def entity(self, name: str) -> Entity:
        entity = self.people.resolve(name)
        assert entity is not None, f"nobody, or more than one, is called {name}: {self.names()}"
        return entity

    def names(self) -> list[str]:
        return [entity.name for entity in self.people]

    def _context(self, text: str, day: int, author: str | None) -> Context:
        identifier = NodeId(f"c{len(self._moments) + 1}")
        self._moments[identifier] = moment = Moment(NOON + timedelta(days=day, minutes=len(self._moments)))
        return Context(identifier, text, moment, frozenset(), frozenset(), identifier, author=author)

    def _take(self, lesson: PeopleLesson) -> None:
        self._kinds |= lesson.kinds
        self._namings += lesson.namings
        self._profiles |= {profile.entity: profile for profile in lesson.profiles}
        self._facts |= {fact.id: fact for fact in lesson.facts}
        for older, newer in lesson.replaced.items():
            self._facts[older] = replace(self._facts[older], replaced_by=newer)
        for fact, context in lesson.said_again:
            self._facts[fact] = replace(self._facts[fact], sources=(*self._facts[fact].sources, context))
        self._vectors |= lesson.vectors
        entities = [
            entity_from(one, kind, [naming for naming in self._namings if naming.entity == one], self._moments)
            for one, kind in self._kinds.items()
        ]
        self.people = People(entities, self._profiles.values(), self._facts.values())
