"""Which sentences of a chunk are about whom, and each of them as a statement that stands alone.

A sentence that names somebody is about them. One that says he or she is about whoever was named last, where that can be one entity
only (`pronouns.py`); else it is merely shown to the model, whose answer may or may not take it up. A statement is the user's own
sentence with names put in for "she" and "my sister": what is copied cannot be made up.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pgmem_local.graph.people import Entity, EntityId, Mention, People, is_nameless
from pgmem_local.profiles.lines import Line
from pgmem_local.profiles.pronouns import Focus, Meant, genders
from pgmem_local.words import keywords


@dataclass(frozen=True)
class About:
    """What a chunk says of one entity. `sure`: line -> the statement made of it by code. `maybe`: lines that only may be about it."""

    entity: Entity
    sure: dict[Line, str]
    maybe: tuple[Line, ...]

    @property
    def lines(self) -> list[Line]:
        return sorted({*self.sure, *self.maybe}, key=lambda line: line.number)


def sort_out(lines: Sequence[Line], entities: Sequence[Entity], people: People, strangers: Collection[str] = ()) -> list[About]:
    """For each of these entities what the chunk's statements say of it. Questions state nothing, but they name whom "she" means.

    strangers: folded names of others, whom "she" may mean as well.
    """
    sure: dict[EntityId, dict[Line, str]] = {entity.id: {} for entity in entities}
    maybe: dict[EntityId, list[Line]] = {entity.id: [] for entity in entities}
    focus = Focus(people, genders(lines, people), strangers)
    for line in lines:
        meant = focus.meant_in(line)
        spoken = list(dict.fromkeys((*_named(line, people), *((meant.entity.id,) if meant else ()))))
        text = statement(line, meant, people)
        if not line.asks and _says_something(text, people):
            for one in (one for one in spoken if one in sure):
                sure[one][line] = text
            for one in (one for one in focus.may_be_meant_in(line) if one in maybe and one not in spoken):
                maybe[one].append(line)
        focus.follow(spoken, line)
    return [About(entity, sure[entity.id], tuple(maybe[entity.id])) for entity in entities]


def _named(line: Line, people: People) -> list[EntityId]:
    """Who is named in a sentence or said it."""
    author = people.resolve(line.context.author) if line.context.author else None
    return list(dict.fromkeys((*((author.id,) if author else ()), *people.mentions(line.text))))


def _says_something(text: str, people: People) -> bool:
    """Whether a sentence holds a word beside the names in it: "Ana is." does not."""
    return bool(keywords(text) - keywords(" ".join(text[one.start : one.end] for one in people.mentions_in(text))))


def statement(line: Line, meant: Meant | None, people: People) -> str:
    """A sentence with names put in for the pronoun that is clear and for "my sister"; what somebody else said has their name before it."""
    if line.context.author is not None:
        return f"{line.context.author}: {line.text}"
    text = line.text
    mentions = people.mentions_in(text)
    puts = [(one.start, one.end, people[one.candidates[0]].name) for one in mentions if _is_relation_only(one, text, mentions, people)]
    if meant is not None:
        puts.append((meant.start, meant.end, meant.form))
    for start, end, name in sorted(puts, reverse=True):
        text = f"{text[:start]}{name}{text[end:]}"
    return text


def _is_relation_only(mention: Mention, text: str, mentions: Sequence[Mention], people: People) -> bool:
    """Whether a sentence says "my sister" of somebody with a name and does not say the name as well."""
    if len(mention.candidates) != 1 or is_nameless(people[mention.candidates[0]].name):
        return False
    says_relation = text[mention.start : mention.end].lower().startswith(("my ", "our ", "the "))
    alone = sum(one.candidates == mention.candidates for one in mentions) == 1
    return says_relation and alone and len(text[mention.start : mention.end].split()) == 2
