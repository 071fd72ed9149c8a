"""The part of a merge that is about others. What the owner merged, split or renamed here stays as it is."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import count

from pgmem_local.contents import Contents, StoredEntity
from pgmem_local.conversation import Moment
from pgmem_local.graph.names import fold
from pgmem_local.graph.nodes import NodeId
from pgmem_local.graph.people import Entity, EntityId, Fact, FactId, Naming, Profile, entity_from, is_nameless
from pgmem_local.graph.relations import compatible, is_the_only
from pgmem_local.lesson import PeopleLesson

Ids = Mapping[NodeId, NodeId]
Who = Mapping[EntityId, EntityId]
Heard = tuple[NodeId, str | None, str | None]
"""A line, and by which name and relation it speaks of somebody."""


def merge_people(here: Contents, incoming: Contents, ids: Ids) -> tuple[PeopleLesson | None, dict[EntityId, str]]:
    """What comes in about others, and what their owner calls them; None where nothing does."""
    same = _same_entities(here, incoming, ids)
    numbers = count(here.numbers.entity + 1)
    fresh = {one.id: EntityId(f"p{next(numbers)}") for one in incoming.entities if one.id not in same}
    who = same | fresh
    namings = _new_namings(here, incoming, ids, who)
    lesson = replace(
        _facts(here, incoming, ids, who),
        kinds={who[one.id]: one.kind for one in incoming.entities if one.id in fresh},
        namings=namings,
        profiles=_newer_profiles(here, incoming, ids, who, {naming.entity for naming in namings}),
    )
    return (lesson if lesson != PeopleLesson() else None), _own_names(here, incoming, who)


# ------------------------------------------------------------------ who is who


def _same_entities(here: Contents, incoming: Contents, ids: Ids) -> dict[EntityId, EntityId]:
    found = _by_lines(here, incoming, ids)
    others = [one for one in incoming.entities if one.id not in found]
    return found | _by_names(here, incoming, others, taken=set(found.values()))


def _by_lines(here: Contents, incoming: Contents, ids: Ids) -> dict[EntityId, EntityId]:
    """Those of whom the same lines speak by the same names: of several here, the one with most of these lines."""
    speaks_of: defaultdict[Heard, list[EntityId]] = defaultdict(list)
    for one in here.entities:
        for naming in one.namings:
            speaks_of[_heard(naming)].append(one.id)
    found = {}
    for one in incoming.entities:
        votes = Counter(who for naming in one.namings for who in speaks_of[_heard(naming, ids)])
        if votes:
            found[one.id] = votes.most_common(1)[0][0]
    return found


def _heard(naming: Naming, ids: Ids | None = None) -> Heard:
    return (ids[naming.context] if ids is not None else naming.context, naming.name, naming.relation)


def _by_names(here: Contents, incoming: Contents, others: Iterable[StoredEntity], taken: set[EntityId]) -> dict[EntityId, EntityId]:
    """Those of one full name and of kinds and relations that go together; where two fit, here or there, they stay apart."""
    known = [one for one in _told(here, here.entities) if one.id not in taken]
    fitting = {one.id: [other.id for other in known if _fits(one, other)] for one in _told(incoming, others)}
    claims = Counter(who for candidates in fitting.values() for who in candidates)
    return {one: who[0] for one, who in fitting.items() if len(who) == 1 and claims[who[0]] == 1}


def _told(contents: Contents, entities: Iterable[StoredEntity]) -> list[Entity]:
    moments = {one.node.id: one.node.moment for one in contents.contexts}
    return [entity_from(one.id, one.kind, one.namings, moments, one.own_name) for one in entities]


def _fits(one: Entity, other: Entity) -> bool:
    if one.kind is not other.kind or not compatible(one.relation, other.relation):
        return False
    if is_nameless(one.name) or is_nameless(other.name):
        return one.relation is not None and one.relation == other.relation and is_the_only(one.relation)
    return fold(one.name) == fold(other.name)


# ------------------------------------------------------------------ what is known of them


def _new_namings(here: Contents, incoming: Contents, ids: Ids, who: Who) -> tuple[Naming, ...]:
    """Without those that are heard here as somebody's already, be it another's since a split."""
    known = {_heard(naming) for one in here.entities for naming in one.namings}
    return tuple(
        Naming(who[naming.entity], ids[naming.context], naming.name, naming.relation)
        for one in incoming.entities
        for naming in one.namings
        if _heard(naming, ids) not in known
    )


def _newer_profiles(here: Contents, incoming: Contents, ids: Ids, who: Who, spoken_of: set[EntityId]) -> tuple[Profile, ...]:
    """Profiles of whom there is none, and of whom lines come in that were not known. A profile is written anew each time somebody is
    spoken of, so the one that rests on the later line is the later one."""
    present = {profile.entity: profile for profile in here.profiles}
    moments = {one.node.id: one.node.moment for one in here.contexts} | {
        ids[one.node.id]: one.node.moment for one in incoming.contexts
    }
    found: dict[EntityId, Profile] = {}
    for profile in incoming.profiles:
        told = _translated(profile, ids, who)
        rival = found.get(told.entity) or present.get(told.entity)
        if rival is None or (told.entity in spoken_of and _latest(told, moments) > _latest(rival, moments)):
            found[told.entity] = told
    return tuple(found.values())


def _translated(profile: Profile, ids: Ids, who: Who) -> Profile:
    sentences = tuple(replace(one, sources=tuple(ids[source] for source in one.sources)) for one in profile.sentences)
    return Profile(who[profile.entity], sentences)


def _latest(profile: Profile, moments: Mapping[NodeId, Moment | None]) -> float:
    dated = (moment.utc.timestamp() for one in profile.sentences for source in one.sources if (moment := moments[source]))
    return max(dated, default=float("-inf"))


def _own_names(here: Contents, incoming: Contents, who: Who) -> dict[EntityId, str]:
    named = {one.id for one in here.entities if one.own_name is not None}
    return {who[one.id]: one.own_name for one in incoming.entities if one.own_name is not None and who[one.id] not in named}


def _facts(here: Contents, incoming: Contents, ids: Ids, who: Who) -> PeopleLesson:
    """Facts that are new, further sources of known ones, and known ones that another replaces."""
    same = _same_facts(here, incoming, who)
    numbers = count(here.numbers.fact + 1)
    at = {one.id: same[one.id].id if one.id in same else FactId(f"f{next(numbers)}") for one in incoming.facts}
    fresh, further, replaced = [], [], {}
    for fact in incoming.facts:
        sources = tuple(ids[one] for one in fact.sources)
        later = at[fact.replaced_by] if fact.replaced_by is not None else None
        present = same.get(fact.id)
        if present is None:
            fresh.append(replace(fact, id=at[fact.id], entity=who[fact.entity], sources=sources, replaced_by=later))
            continue
        further += [(present.id, one) for one in sources if one not in present.sources]
        if later is not None and present.current:
            replaced[present.id] = later
    return PeopleLesson(facts=tuple(fresh), said_again=tuple(further), replaced=replaced)


def _same_facts(here: Contents, incoming: Contents, who: Who) -> dict[FactId, Fact]:
    """Incoming fact -> the one here that says the same, first of the same entity, then of whom it was moved to by a split or a merge."""
    alike: defaultdict[tuple[object, ...], list[Fact]] = defaultdict(list)
    for fact in here.facts:
        alike[_statement(fact)].append(fact)
    found: dict[FactId, Fact] = {}
    for moved in (False, True):
        for fact in incoming.facts:
            rest = alike[_statement(fact)]
            same = next((one for one in rest if moved or one.entity == who[fact.entity]), None)
            if fact.id not in found and same is not None:
                found[fact.id] = same
                rest.remove(same)
    return found


def _statement(fact: Fact) -> tuple[object, ...]:
    return (fact.kind, fact.text, fact.said)
