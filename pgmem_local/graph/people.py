"""Entity profiles and verified facts in memory (ProGraph, "person profiles" and "residuals"): derived from the store, never the truth.

Pure: no database, no clock, no model. `People` answers who a name means, whom a text mentions and what is known of them. Departures
from the paper: facts that a later one replaced stay as history, a name that fits two entities fits none, and every sentence and
fact knows the Contexts it rests on.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NewType

from pgmem_local.conversation import Moment
from pgmem_local.dates import Grain, written
from pgmem_local.errors import UnknownEntity
from pgmem_local.graph.names import Word, is_surname, name_words, ordinary, words_of
from pgmem_local.graph.nodes import NodeId
from pgmem_local.graph.relations import is_said_with_the, relation_word

EntityId = NewType("EntityId", str)
"""`p` and a number that is never used twice: p1."""
FactId = NewType("FactId", str)
"""`f` and a number that is never used twice: f1."""


class EntityKind(str, Enum):
    """What the user speaks of. The user is not an entity."""

    PERSON = "person"
    PET = "pet"
    PLACE = "place"
    ORGANISATION = "organisation"
    PROJECT = "project"


class FactKind(str, Enum):
    """The paper's seven kinds of residual: what a narrative blurs."""

    DATE = "date"
    NUMBER = "number"
    NAME = "name"
    IDENTITY = "identity"
    LIST = "list"
    LINK = "link"
    CHANGE = "change"


@dataclass(frozen=True)
class Entity:
    """Somebody or something the user speaks of. `name` is the fullest name in use, `aliases` all the others.

    relation: what it is to the user, one lower-case word such as "sister". first, last: when it was spoken of, None where undated.
    """

    id: EntityId
    name: str
    aliases: tuple[str, ...] = ()
    kind: EntityKind = EntityKind.PERSON
    relation: str | None = None
    first: Moment | None = None
    last: Moment | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)


@dataclass(frozen=True)
class Naming:
    """A Context that speaks of an entity: by which name, and as what relation to the user where it says so. Names, relation and
    times of an entity follow from these, so that they go when their last Context is forgotten."""

    entity: EntityId
    context: NodeId
    name: str | None = None
    relation: str | None = None


@dataclass(frozen=True)
class Sentence:
    """One sentence of a profile, with the Contexts it rests on."""

    text: str
    sources: tuple[NodeId, ...]


@dataclass(frozen=True)
class Profile:
    """What is known of an entity as a narrative of a few sentences."""

    entity: EntityId
    sentences: tuple[Sentence, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(sentence.text for sentence in self.sentences)


@dataclass(frozen=True)
class Fact:
    """A residual: one exact statement that names its entity and stands alone.

    said: when it was said. happened: when the event it tells of was or will be, to within `grain`, resolved from `original`, the words
    of the text; `doubtful` where those words allow another reading. replaced_by: the later fact that holds in its place.
    """

    id: FactId
    entity: EntityId
    kind: FactKind
    text: str
    sources: tuple[NodeId, ...]
    said: Moment | None = None
    happened: Moment | None = None
    original: str | None = None
    replaced_by: FactId | None = None
    grain: Grain = Grain.DAY
    doubtful: bool = False

    @property
    def current(self) -> bool:
        return self.replaced_by is None

    @property
    def when(self) -> str | None:
        """The time of the event as a reader sees it; None where the words name none."""
        if self.happened is None:
            return None
        return f"{written(self.happened.day, self.grain)}{' (uncertain)' if self.doubtful else ''}"


@dataclass(frozen=True)
class Mention:
    """Where a text names somebody: the words from `start` to `end`, and who may be meant; one candidate means it is clear."""

    start: int
    end: int
    candidates: tuple[EntityId, ...]


class People:
    """Entities by id with their profiles and facts, and the names they go by."""

    def __init__(self, entities: Iterable[Entity] = (), profiles: Iterable[Profile] = (), facts: Iterable[Fact] = ()) -> None:
        self._entities = {entity.id: entity for entity in entities}
        self._profiles = {profile.entity: profile for profile in profiles}
        self._facts = {fact.id: fact for fact in facts}
        self._facts_of: dict[EntityId, list[FactId]] = defaultdict(list)
        for fact in self._facts.values():
            self._facts_of[fact.entity].append(fact.id)
        self._names: dict[tuple[str, ...], list[EntityId]] = defaultdict(list)
        for entity in self._entities.values():
            for form in _forms(entity):
                self._names[form].append(entity.id)
        self._longest = max(map(len, self._names), default=0)
        self._spoken_of: dict[FactId, frozenset[EntityId]] = {}

    def having(self, entities: Iterable[Entity] = (), profiles: Iterable[Profile] = (), facts: Iterable[Fact] = ()) -> People:
        """The same with these added, each in place of the one with its id."""
        return People(
            (self._entities | {entity.id: entity for entity in entities}).values(),
            (self._profiles | {profile.entity: profile for profile in profiles}).values(),
            (self._facts | {fact.id: fact for fact in facts}).values(),
        )

    def __len__(self) -> int:
        return len(self._entities)

    def __iter__(self) -> Iterator[Entity]:
        return iter(self._entities.values())

    def __contains__(self, identifier: object) -> bool:
        return identifier in self._entities

    def __getitem__(self, identifier: EntityId) -> Entity:
        try:
            return self._entities[identifier]
        except KeyError:
            raise UnknownEntity(f"the memory knows nobody with the id {identifier!r}; `pgmem people` lists all") from None

    def profile(self, identifier: EntityId) -> Profile:
        """An empty profile where nothing is written yet."""
        return self._profiles.get(self[identifier].id) or Profile(identifier)

    def fact(self, identifier: FactId) -> Fact:
        try:
            return self._facts[identifier]
        except KeyError:
            raise UnknownEntity(f"the memory holds no fact {identifier!r}; `pgmem people show NAME` shows ids") from None

    def facts(self, identifier: EntityId, current: bool = True) -> list[Fact]:
        """The facts of an entity in the order learned; with `current` false also those that a later one replaced."""
        known = (self._facts[one] for one in self._facts_of.get(self[identifier].id, ()))
        return [fact for fact in known if fact.current or not current]

    def all_facts(self, current: bool = True) -> list[Fact]:
        return [fact for fact in self._facts.values() if fact.current or not current]

    # ---------------------------------------------------------------- names

    def candidates(self, name: str) -> list[Entity]:
        """All that a name may mean: a full name or alias, a first name, or "my sister" by relation, with or without a name."""
        words = [word.folded for word in words_of(name)]
        relation, called = _relation_in(words)
        found = [self._entities[one] for one in self._names.get(tuple(name_words(called)), ())]
        if relation is None:
            return found or self._shorter(called)
        if not called:
            return [entity for entity in self if entity.relation == relation]
        return [entity for entity in found if entity.relation == relation] or [e for e in found if e.relation is None]

    def resolve(self, name: str) -> Entity | None:
        """The one entity a name means; None where there is none, or where it could be several."""
        found = self.candidates(name)
        return found[0] if len(found) == 1 else None

    def mentions(self, text: str) -> list[EntityId]:
        """The entities a text clearly names, in the order of their first mention."""
        clear = (mention.candidates[0] for mention in self.mentions_in(text) if len(mention.candidates) == 1)
        return list(dict.fromkeys(clear))

    def mentions_in(self, text: str) -> list[Mention]:
        """Every place where a text names somebody, also where it is unclear whom."""
        words, place, found = words_of(text), 0, []
        while place < len(words):
            length, who = self._named_at(words, place)
            if who:
                found.append(Mention(words[place].start, words[place + length - 1].end, tuple(who)))
            place += max(length, 1)
        return found

    def links(self, identifier: EntityId) -> list[EntityId]:
        """The other entities that its profile names."""
        return [other for other in self.mentions(self.profile(identifier).text) if other != identifier]

    def spoken_of(self, fact: Fact) -> frozenset[EntityId]:
        """Everybody a fact is about: its entity and whom its text names."""
        if fact.id not in self._spoken_of:
            self._spoken_of[fact.id] = frozenset((fact.entity, *self.mentions(fact.text)))
        return self._spoken_of[fact.id]

    def _named_at(self, words: Sequence[Word], place: int) -> tuple[int, list[EntityId]]:
        """The longest name that begins here, in words, and whom it may mean."""
        if words[place].folded in ("my", "our", "the") and (found := self._related_at(words, place)) is not None:
            return found
        for length in range(min(self._longest, len(words) - place), 0, -1):
            run = words[place : place + length]
            if any(word.follows_stop for word in run[1:]) or (length == 1 and not run[0].capital and ordinary(run[0].folded)):
                continue
            who = self._names.get(tuple(word.folded for word in run), [])
            following = words[place + length] if place + length < len(words) else None
            who = [one for one in who if not self._has_another_surname(one, length, following)]
            if who:
                return length, who
        return 0, []

    def _related_at(self, words: Sequence[Word], place: int) -> tuple[int, list[EntityId]] | None:
        """ "my sister", "my sister Ana": whom the relation means; a name that follows decides."""
        if place + 1 >= len(words):
            return None
        relation = relation_word(words[place + 1].folded)
        if words[place].folded == "the" and not is_said_with_the(relation):
            return None
        related = [entity.id for entity in self if relation is not None and entity.relation == relation]
        length, named = self._named_at(words, place + 2) if place + 2 < len(words) and words[place + 2].capital else (0, [])
        if named:
            return 2 + length, [one for one in named if one in related] or named
        return (2, related) if related else None

    def _has_another_surname(self, identifier: EntityId, length: int, following: Word | None) -> bool:
        """Whether a first name is followed by a surname that is not this entity's: Ana Silva is not Ana Reyes."""
        if length > 1 or following is None or not is_surname(following) or self[identifier].kind is not EntityKind.PERSON:
            return False
        known = [name_words(word.folded for word in words_of(name)) for name in self[identifier].names]
        surnames = {word for name in known for word in name[1:]}
        return bool(surnames) and following.folded not in surnames

    def _shorter(self, called: Sequence[str]) -> list[Entity]:
        """Those known only by the first name of a longer one: Ana, when Ana Reyes is asked for."""
        wanted = name_words(called)
        if len(wanted) < 2:
            return []
        known = (self._entities[one] for one in self._names.get((wanted[0],), ()))
        return [entity for entity in known if all(len(words_of(name)) == 1 for name in entity.names)]


def entity_from(
    identifier: EntityId,
    kind: EntityKind,
    namings: Sequence[Naming],
    moments: Mapping[NodeId, Moment | None],
    own_name: str | None = None,
) -> Entity:
    """An entity as its namings tell, in the order they were said; `own_name` is what the owner calls it."""
    uses = Counter(naming.name for naming in namings if naming.name)
    ranked = sorted(uses, key=lambda name: (-len(name_words(name.split())), -uses[name]))
    relation = next((naming.relation for naming in reversed(namings) if naming.relation), None)
    names = [own_name, *ranked] if own_name else ranked or [nameless(relation, kind)]
    times = [moment for naming in namings if (moment := moments.get(naming.context)) is not None]
    first, last = min(times, default=None), max(times, default=None)
    return Entity(identifier, names[0], tuple(dict.fromkeys(name for name in names[1:] if name != names[0])), kind, relation, first, last)


def nameless(relation: str | None, kind: EntityKind) -> str:
    """What somebody is called whose name nobody said."""
    return f"the user's {relation or kind.value}"


def is_nameless(name: str) -> bool:
    return name.startswith("the user's ")


def number_of(identifier: EntityId | FactId) -> int:
    return int(identifier[1:])


def _forms(entity: Entity) -> set[tuple[str, ...]]:
    """The word sequences that name an entity: its names with and without a title, and a person's first name."""
    forms: set[tuple[str, ...]] = set()
    for name in filter(lambda one: not is_nameless(one), entity.names):
        words = [word.folded for word in words_of(name)]
        bare = name_words(words)
        forms |= {tuple(words), tuple(bare)}
        if entity.kind in (EntityKind.PERSON, EntityKind.PET):
            forms.add(tuple(bare[:1]))
    return forms - {()}


def _relation_in(words: Sequence[str]) -> tuple[str | None, list[str]]:
    """ "my sister ana" -> sister, [ana]."""
    if len(words) > 1 and words[0] in ("my", "our"):
        return relation_word(words[1]) or words[1], list(words[2:])
    return None, list(words)
