"""Which sentences of a chunk are about whom, and each of them as a statement that stands alone.

A sentence that names somebody is about them. One that says he or she is about whoever was named last, where that can be one entity
only; else it is merely shown to the model, whose answer may or may not take it up. A statement is the user's own sentence with names
put in for "she" and "my sister": what is copied cannot be made up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pgmem_local.graph.people import Entity, EntityId, EntityKind, People, is_nameless
from pgmem_local.profiles.lines import Line

NEIGHBOURS = 2
"""Sentences without a name after which nobody is meant by "she" any more."""

_PRONOUN = re.compile(r"\b(?P<word>he|she|him|his|her)\b(?P<short>['’](?:s|d|ll)\b)?", re.IGNORECASE)
_ITS = re.compile(r"^(?:(?:and|but|so|oh|well|also|then)[, ]+)*(?P<word>it|its)\b(?P<short>['’]s\b)?", re.IGNORECASE)
_OBJECT = re.compile(
    r"^\s*(?:$|[.,;:!?)]|(?:to|in|on|at|a|an|the|and|or|but|for|from|of|off|with|about|into|by|if|when|that|this|up|out|is|was|my|so|as)\b)",
    re.IGNORECASE,
)
_OTHER_GENDER = {
    "he": frozenset("mother sister daughter grandma aunt niece stepmother stepsister half-sister wife girlfriend landlady".split()),  # noqa: SIM905
    "she": frozenset("father brother son grandpa uncle nephew stepfather stepbrother half-brother husband boyfriend landlord".split()),  # noqa: SIM905
}
"""Relations a pronoun cannot mean."""


@dataclass(frozen=True)
class About:
    """What a chunk says of one entity. `sure`: line -> the statement made of it by code. `maybe`: lines that only may be about it."""

    entity: Entity
    sure: dict[Line, str]
    maybe: tuple[Line, ...]

    @property
    def lines(self) -> list[Line]:
        return sorted({*self.sure, *self.maybe}, key=lambda line: line.number)


@dataclass(frozen=True)
class _Meant:
    """A pronoun of a sentence and the one entity it can mean."""

    pronoun: re.Match[str]
    entity: Entity


def sort_out(lines: Sequence[Line], entities: Sequence[Entity], people: People) -> list[About]:
    """For each of these entities what the chunk's statements say of it. Questions state nothing, but they name whom "she" means."""
    sure: dict[EntityId, dict[Line, str]] = {entity.id: {} for entity in entities}
    maybe: dict[EntityId, list[Line]] = {entity.id: [] for entity in entities}
    focus = _Focus()
    for line in lines:
        named, meant = _named(line, people), focus.meant_in(line, people)
        spoken = list(dict.fromkeys((*named, *((meant.entity.id,) if meant else ()))))
        if not line.asks:
            text = statement(line, meant, people)
            for one in (one for one in spoken if one in sure):
                sure[one][line] = text
            for one in (one for one in focus.recent if one in maybe and one not in spoken and says_he_or_she(line)):
                maybe[one].append(line)
        focus.follow(spoken, people)
    return [About(entity, sure[entity.id], tuple(maybe[entity.id])) for entity in entities]


class _Focus:
    """Whom he, she or it means: the entity named last, while the sentences go on about it."""

    def __init__(self) -> None:
        self.recent: list[EntityId] = []
        self._age = 0

    def meant_in(self, line: Line, people: People) -> _Meant | None:
        """The first pronoun of a sentence, where nobody is named before it and only one of those named last can be meant."""
        pronoun = _PRONOUN.search(line.text) or _ITS.match(line.text)
        if pronoun is None or line.context.author is not None:
            return None
        if any(mention.start < pronoun.start("word") for mention in people.mentions_in(line.text)):
            return None
        fitting = [one for one in self.recent if _fits(pronoun["word"].lower(), people[one])]
        return _Meant(pronoun, people[fitting[0]]) if len(fitting) == 1 else None

    def follow(self, spoken: Sequence[EntityId], people: People) -> None:
        """Go on to the next sentence: whoever is spoken of takes over, others fade."""
        somebody = [one for one in spoken if people[one].kind in (EntityKind.PERSON, EntityKind.PET)]
        if somebody:
            self.recent, self._age = somebody, 0
            return
        self._age += 1
        if self._age > NEIGHBOURS:
            self.recent = []


def _fits(word: str, entity: Entity) -> bool:
    if word in ("it", "its"):
        return entity.kind is not EntityKind.PERSON
    return entity.relation not in _OTHER_GENDER["she" if word in ("she", "her") else "he"]


def _named(line: Line, people: People) -> list[EntityId]:
    """Who is named in a sentence or said it."""
    author = people.resolve(line.context.author) if line.context.author else None
    return list(dict.fromkeys((*((author.id,) if author else ()), *people.mentions(line.text))))


def says_he_or_she(line: Line) -> bool:
    return line.context.author is None and bool(_PRONOUN.search(line.text))


def statement(line: Line, meant: _Meant | None, people: People) -> str:
    """A sentence with names put in for the pronoun that is clear and for "my sister"; what somebody else said has their name before it."""
    if line.context.author is not None:
        return f"{line.context.author}: {line.text}"
    text = line.text
    puts = [(m.start, m.end, people[m.candidates[0]].name) for m in people.mentions_in(text) if _is_relation_only(text, m.start, m.end)
            and len(m.candidates) == 1 and not is_nameless(people[m.candidates[0]].name)]  # fmt: skip
    if meant is not None:
        puts.append((meant.pronoun.start("word"), meant.pronoun.end("word"), _in_place_of(meant, text)))
    for start, end, name in sorted(puts, reverse=True):
        text = f"{text[:start]}{name}{text[end:]}"
    return text


def _is_relation_only(text: str, start: int, end: int) -> bool:
    return text[start:end].lower().startswith(("my ", "our ")) and len(text[start:end].split()) == 2


def _in_place_of(meant: _Meant, text: str) -> str:
    """The name in the form of the pronoun: her book is Ana's book, I saw her is I saw Ana."""
    word = meant.pronoun["word"].lower()
    owns = word in ("his", "its") or (word == "her" and not _OBJECT.match(text[meant.pronoun.end() :]))
    return f"{meant.entity.name}'s" if owns else meant.entity.name
