"""Who is spoken of in a chunk (ProGraph, section 3.1, step 1): one call says what each name is, the registry says whom it means.

Departures: two people with one first name stay two where what they are to the user tells them apart; a name that may be either is
left unresolved, and nothing is written about it. A nickname finds its owner by a reading (log-odds of Yes) and is never guessed from
its letters alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pgmem_local.graph.names import fold, name_words, words_of
from pgmem_local.graph.people import Entity, EntityId, EntityKind, Naming, People, is_nameless, nameless
from pgmem_local.graph.relations import compatible, is_pet, relation_word
from pgmem_local.ports import Head
from pgmem_local.profiles.candidates import Candidate, find_candidates
from pgmem_local.profiles.desk import PeopleDesk
from pgmem_local.profiles.lines import Line, listing
from pgmem_local.profiles.pronouns import NEIGHBOURS, says_he_or_she
from pgmem_local.prompts import load, one_line

YES_NO = (" Yes", " No")
SHOWN_LINES = 40
NAMES_ROOM = 150
"""Tokens kept free for the list of names."""
SHORTEST_SHARED = 3
"""Letters that a nickname and a name begin with, or four that they end with, before anybody asks whether they are one person."""

ALWAYS_KEPT = (EntityKind.PERSON, EntityKind.PET)
"""Places, organisations and projects are kept once two sentences of a chunk speak of them."""

Answer = tuple["EntityKind | None", "str | None"]
"""What the model takes a name for, None for no entity, and what relation to the user it sees."""

_ANSWER = re.compile(r"^\W*(?P<name>.+?)\s*[:=]\s*(?P<kind>[a-z]+)(?P<rest>.*)$", re.IGNORECASE)
_MY = re.compile(r"\b(?:my|our) ([\w-]+)(?: ([\w-]+))?", re.IGNORECASE)
_USERS = re.compile(r"\b(?:user|my|your)(?:['’]s)?\s+([\w-]+)", re.IGNORECASE)


@dataclass(frozen=True)
class Found:
    """An entity that a chunk speaks of, new or known, in which lines it is named, and what was learned of its names."""

    entity: Entity
    lines: tuple[Line, ...]
    namings: tuple[Naming, ...]
    is_new: bool


@dataclass(frozen=True)
class Cast:
    """Everybody in a chunk. `strangers`: names, folded, that may be somebody's and were not resolved."""

    found: tuple[Found, ...] = ()
    strangers: frozenset[str] = frozenset()


def find_people(desk: PeopleDesk, lines: Sequence[Line]) -> Cast:
    """Whom a chunk speaks of. One call, or none where no name occurs."""
    candidates = find_candidates(lines, desk.people)
    asked = [one for one in candidates if _is_told_of(one, lines)]
    named = [one for one in asked if one.name is not None]
    answers = _asked(desk, named, lines) if named else {}
    registry = _Registry(desk)
    for candidate, kind in _kinds(desk, asked, answers):
        registry.take(candidate, kind)
    registry.recall(lines)
    found = registry.found()
    known = {fold(name) for one in found for name in one.entity.names}
    return Cast(tuple(found), frozenset(_may_be_somebody(candidates, answers) - known))


def _may_be_somebody(candidates: Sequence[Candidate], answers: Mapping[str, Answer]) -> set[str]:
    """Folded names that nobody told to be a place, a group or a work: "she" may mean them."""
    names = {fold(one.name) for one in candidates if one.name is not None and (" " not in one.name or fold(one.name) not in answers)}
    return {name for name in names if answers.get(name, (None, None))[0] in (None, *ALWAYS_KEPT)}


def _is_told_of(candidate: Candidate, lines: Sequence[Line]) -> bool:
    """Whether anything is stated of somebody, and not only asked: they are named in a statement, or one with he or she follows."""
    last = candidate.lines[-1].number
    following = [line for line in lines if last < line.number <= last + NEIGHBOURS and says_he_or_she(line)]
    return any(not line.asks for line in (*candidate.lines, *following))


def _kinds(desk: PeopleDesk, candidates: Sequence[Candidate], answers: Mapping[str, Answer]) -> list[tuple[Candidate, EntityKind]]:
    """The candidates that are somebody or something to keep, with their kind."""
    result = []
    for one in candidates:
        kind, relation = answers.get(fold(one.name or ""), (None, None))
        told = replace(one, relation=one.relation or relation)
        known = desk.people.candidates(one.name) if one.name else []
        kept = _kind(told, known, kind)
        if kept is not None and (known or kept in ALWAYS_KEPT or len(one.lines) > 1):
            result.append((told, kept))
    return result


def _kind(candidate: Candidate, known: Sequence[Entity], said: EntityKind | None) -> EntityKind | None:
    """A stated relation tells the kind, then the registry, then the model; None for what is nobody."""
    if candidate.relation is not None:
        return EntityKind.PET if is_pet(candidate.relation) else EntityKind.PERSON
    return known[0].kind if known else said


def _asked(desk: PeopleDesk, named: Sequence[Candidate], lines: Sequence[Line]) -> dict[str, Answer]:
    """Folded name -> what the model takes it for, and the relation it sees, which must be stated in words like it."""
    wanted = {line.number for one in named for line in one.lines}
    task = load("people_names")
    shown = _fitting(desk, task.head, [line for line in lines if line.number in wanted])
    prompt = task.ask({"lines": listing(line.shown for line in shown), "names": ", ".join(one.label for one in named)})
    written = desk.model.write([prompt], desk.settings.naming_tokens, stop=("\n\n",))[0]
    said = " ".join(line.text for line in lines)
    answers = {}
    for match in filter(None, map(_ANSWER.match, written.text.splitlines())):
        kind = next((one for one in EntityKind if one.value == match["kind"].lower()), None)
        relation = _relation(match["rest"], said)
        taken = relation is not None and any(one.relation == relation for one in desk.people)
        answers[fold(match["name"].strip())] = (kind, None if taken else relation)
    return answers


def _fitting(desk: PeopleDesk, head: Head, lines: Sequence[Line]) -> list[Line]:
    """The first lines that the context window has room for."""
    room = desk.model.room(head, desk.settings.naming_tokens) - NAMES_ROOM
    shown: list[Line] = []
    for line in lines[:SHOWN_LINES]:
        room -= desk.model.count(line.shown) + 6
        if room < 0:
            break
        shown.append(line)
    return shown


def _relation(rest: str, said: str) -> str | None:
    """A relation the model wrote, where the user's words hold "my" and it: the model may join the two, not invent one."""
    match = _USERS.search(rest)
    relation = relation_word(match[1]) if match else None
    stated = {relation_word(word) for pair in _MY.findall(said) for word in pair}
    return relation if relation in stated else None


# ------------------------------------------------------------------ the registry


class _Registry:
    """Names of one chunk matched to entities, new ones made where nobody fits."""

    def __init__(self, desk: PeopleDesk) -> None:
        self._desk = desk
        self._people: People = desk.people
        self._found: dict[EntityId, Found] = {}

    def take(self, candidate: Candidate, kind: EntityKind) -> None:
        """Take in one name; a name that may mean several people is left out."""
        known = self._known(candidate, kind)
        if len(known) > 1:
            return
        entity = _named(known[0], candidate) if known else _new(self._desk.ids.next_entity(), candidate, kind)
        before = self._found.get(entity.id) or Found(entity, (), (), not known)
        lines = sorted({*before.lines, *candidate.lines}, key=lambda line: line.number)
        contexts = dict.fromkeys(line.context.id for line in candidate.lines)
        namings = (Naming(entity.id, context, candidate.name, candidate.relation) for context in contexts)
        self._found[entity.id] = Found(entity, tuple(lines), (*before.namings, *namings), before.is_new)
        self._people = self._people.having([entity])

    def recall(self, lines: Sequence[Line]) -> None:
        """Whom the chunk names besides, and the memory knows: in small letters, or in what somebody is quoted with."""
        for line in lines:
            for identifier in self._desk.people.mentions(line.text):
                if identifier not in self._found and not line.asks:
                    entity = self._desk.people[identifier]
                    self._found[identifier] = Found(entity, (line,), (Naming(identifier, line.context.id),), False)

    def found(self) -> list[Found]:
        return list(self._found.values())

    def _known(self, candidate: Candidate, kind: EntityKind) -> list[Entity]:
        """Whom a candidate may mean of those known by now."""
        if candidate.name is None:
            return self._people.candidates(f"my {candidate.relation}")
        found = [one for one in self._people.candidates(candidate.name) if compatible(one.relation, candidate.relation)]
        if not found and candidate.relation is not None:
            found = [one for one in self._people.candidates(f"my {candidate.relation}") if is_nameless(one.name)]
        if not found and kind in (EntityKind.PERSON, EntityKind.PET):
            found = self._by_nickname(candidate, kind)
        return found

    def _by_nickname(self, candidate: Candidate, kind: EntityKind) -> list[Entity]:
        """The one entity whose name is like this one and who is the same by a reading."""
        name = candidate.name or ""
        possible = [one for one in self._people if one.kind is kind and compatible(one.relation, candidate.relation)]
        alike = [one for one in possible if _may_be_nickname(name, one) and self._is_settled(one) and self._apart(candidate, one)]
        if not alike:
            return []
        task, said = load("people_same"), one_line(" ".join(line.text for line in candidate.lines[:4]))
        prompts = [task.ask({"one": one.name, "about_one": self._about(one), "other": name, "about_other": said}) for one in alike]
        scores = self._desk.model.choose(prompts, YES_NO)
        odds = scores[:, 0] - scores[:, 1]
        best = int(odds.argmax())
        return [alike[best]] if odds[best] >= self._desk.settings.same_person else []

    def _is_settled(self, entity: Entity) -> bool:
        """Whether there is something to compare with: an earlier chunk, a relation to the user, or more than one turn."""
        found = self._found.get(entity.id)
        turns = {naming.context for naming in (found.namings if found else ())}
        return entity.id in self._desk.people or entity.relation is not None or len(turns) > 1

    def _apart(self, candidate: Candidate, entity: Entity) -> bool:
        """Whether no turn speaks of both: who says Kim and Kimberly in one breath means two."""
        mine = {line.context.id for line in candidate.lines}
        found = self._found.get(entity.id)
        return found is None or not mine & {naming.context for naming in found.namings}

    def _about(self, entity: Entity) -> str:
        profile = self._people.profile(entity.id).text
        fresh = self._found.get(entity.id)
        return one_line(f"{profile} {' '.join(line.text for line in fresh.lines[:4]) if fresh else ''}")[:600] or entity.name


def _new(identifier: EntityId, candidate: Candidate, kind: EntityKind) -> Entity:
    return Entity(identifier, candidate.name or nameless(candidate.relation, kind), (), kind, candidate.relation)


def _named(entity: Entity, candidate: Candidate) -> Entity:
    """An entity that goes by one more name; the fullest is its own."""
    names = [name for name in dict.fromkeys((*entity.names, candidate.name)) if name and not (is_nameless(name) and candidate.name)]
    name, *aliases = sorted(names, key=lambda one: -len(name_words(one.split())))
    return replace(entity, name=name, aliases=tuple(aliases), relation=entity.relation or candidate.relation)


def _may_be_nickname(name: str, entity: Entity) -> bool:
    """Whether two first names begin or end alike: Toby and Tobias, Rike and Henrike, Faz and Farouk."""
    mine = name_words([word.folded for word in words_of(name)])[:1]
    return any(_alike(mine[0], name_words([word.folded for word in words_of(other)])[0]) for other in entity.names if mine)


def _alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    shared = next((n for n, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return shared >= SHORTEST_SHARED or (len(short) >= SHORTEST_SHARED + 1 and long.endswith(short)) or (shared == 2 and len(short) == 3)
