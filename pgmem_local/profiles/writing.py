"""Profile and residuals in one call an entity and session (ProGraph, section 3.1, step 2). Short lines are written, each with the number
of the sentence it rests on, and each is checked by code before it is kept: it names its entity, its numbers and names stand in the
source, a denial stays one.

Departure: a profile is not written anew each time, which a small model does at the price of what it held. Its sentences stay, new ones
join them, and the oldest go when it grows too long, but never the last that names somebody: the read path walks along those names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from pgmem_local.graph.names import words_of
from pgmem_local.graph.people import Entity, People, Profile, Sentence, is_nameless
from pgmem_local.ports import Prompt
from pgmem_local.profiles.about import About
from pgmem_local.profiles.desk import PeopleDesk
from pgmem_local.profiles.lines import LONGEST, Line, listing
from pgmem_local.prompts import load, one_line
from pgmem_local.words import content_words, keywords

SUPPORTED_SHARE = 0.6
"""Share of a written sentence's words that must stand in its source."""
SAME_SHARE = 0.8
"""Share of a sentence's words that a sentence of the profile must hold for it to be left out."""
LONGEST_SENTENCE = 30
KNOWN_ROOM = 60
"""Tokens kept free for the first sentence of the profile. The rest of it is not shown: a small model writes it down once more."""
PREDICATE_WORDS = 4

_LINE = re.compile(r"^\W*(?:(?P<number>\d{1,3})[.):]\s+)?(?P<text>.+)$")
_DENIES = re.compile(r"\b(not|no|never|nobody|nothing|without|cannot|hardly)\b|n['’]t\b", re.IGNORECASE)
_MY = re.compile(r"\bmy\b")
_FIRST_PERSON = re.compile(r"\b(I|[Mm]e|[Mm]y|[Mm]ine|[Ww]e|[Oo]ur|us)\b")


def prompt_for(desk: PeopleDesk, about: About) -> Prompt:
    """The one question about one entity. Lines are shown as statements, so that one that is merely copied stands alone as well."""
    known = desk.people.profile(about.entity.id).sentences if about.entity.id in desk.people else ()
    return load("people_profile").ask(
        {
            "name": about.entity.name,
            "known": next((one_line(one.text) for one in known if _introduces(one)), "nothing yet"),
            "lines": listing(about.sure.get(line, line.shown) for line in _shown(desk, about)),
        }
    )


def _shown(desk: PeopleDesk, about: About) -> list[Line]:
    """The lines of one call: as many as were asked for and the context window has room for."""
    room = desk.model.room(load("people_profile").head, desk.settings.profile_tokens) - KNOWN_ROOM
    shown: list[Line] = []
    for line in about.lines[: desk.settings.lines_a_call]:
        room -= desk.model.count(line.shown) + 6
        if room < 0:
            break
        shown.append(line)
    return shown


def read_lines(desk: PeopleDesk, written: str, about: About) -> list[tuple[Line, str]]:
    """What the model wrote, sentence by sentence with its source, without what no source bears out.

    A missing or wrong number is no harm: the words tell which line a sentence rests on.
    """
    shown = _shown(desk, about)
    found = []
    for match in map(_LINE.match, written.splitlines()):
        if match is not None and (text := _MY.sub("the user's", one_line(match["text"]))):
            place = int(match["number"] or 0) - 1
            likely = [*shown[max(place, 0) : place + 1], *shown]
            found += [(line, text) for line in likely if is_borne_out(text, line, about)][:1]
    return found


def is_borne_out(text: str, line: Line, about: About) -> bool:
    """Whether a written sentence names its entity and says nothing that its source and what stands just before it do not."""
    own = {word.folded for name in about.entity.names for word in words_of(name)}
    if not own & {word.folded for word in words_of(text)} or _FIRST_PERSON.search(text):
        return False
    source = line.text
    claimed = {w for w in keywords(text) if w not in keywords(" ".join(about.entity.names))} - keywords("user")
    said = keywords(source)
    if not claimed or any(any(map(str.isdigit, word)) for word in claimed - said):
        return False
    names = {word.folded for word in words_of(text)[1:] if word.capital} - own
    if names - {word.folded for other in about.lines for word in words_of(other.text)} - {"user"}:
        return False
    denial_kept = bool(_DENIES.search(text)) == bool(_DENIES.search(source))
    return denial_kept and len(claimed & said) >= SUPPORTED_SHARE * len(claimed) and _does_the_same(text, about.sure.get(line), own)


def _does_the_same(text: str, statement: str | None, own: Collection[str]) -> bool:
    """Whether what is said of the name is what its source says of it: "Saw a physio, Delphine" is not "Delphine saw a physio"."""
    if statement is None:
        return True
    told = _words_after(statement, own)[:PREDICATE_WORDS]
    return not told or not (claimed := _words_after(text, own)[:1]) or claimed[0] in told


def _words_after(text: str, own: Collection[str]) -> list[str]:
    """The stems of what stands behind a name in a text."""
    name = next((word for word in words_of(text) if word.folded in own), None)
    rest = content_words(text[name.end :]) if name is not None else ()
    return [stem for word in rest for stem in keywords(word) if word not in own]


def new_profile(people: People, about: About, written: Sequence[tuple[Line, str]], words: int) -> Profile:
    """The profile with what is new, cut to its budget."""
    entity = about.entity
    before = list(people.profile(entity.id).sentences) if entity.id in people else []
    sentences = before + [Sentence(text, (line.context.id,)) for line, text in _introduced(about, before)]
    by_line = dict(written)
    for line in about.lines:
        text = by_line.get(line) or _short_enough(about.sure.get(line), entity, people)
        if text and not any(_says(sentence.text, text) for sentence in sentences):
            sentences.append(Sentence(_ended(text), (line.context.id,)))
    return Profile(entity.id, tuple(shortened(sentences, entity, people, words)))


def _short_enough(text: str | None, entity: Entity, people: People) -> str | None:
    """The user's own sentence where it is short, or where it names somebody the read path may walk to."""
    if text is None or len(text.split()) <= LONGEST_SENTENCE:
        return text
    return " ".join(text.split()[:LONGEST]) if set(people.mentions(text)) - {entity.id} else None


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…", "。")) else f"{text}."


def _introduced(about: About, before: Sequence[Sentence]) -> list[tuple[Line, str]]:
    """What an entity is to the user, as the first sentence of its profile."""
    entity = about.entity
    if entity.relation is None or is_nameless(entity.name):
        return []
    text = f"{entity.name} is the user's {entity.relation}."
    if any(f"the user's {entity.relation}" in sentence.text for sentence in before):
        return []
    stated = next((line for line in about.lines if keywords(entity.relation) & keywords(line.text)), None)
    return [(stated, text)] if stated else []


def _says(known: str, text: str) -> bool:
    return len(keywords(text) & keywords(known)) >= SAME_SHARE * max(len(keywords(text)), 1)


def shortened(sentences: Sequence[Sentence], entity: Entity, people: People, words: int) -> list[Sentence]:
    """Without the oldest sentences that the budget has no room for, except the last that names somebody else."""
    kept = list(sentences)
    for sentence in sentences:
        if sum(len(one.text.split()) for one in kept) <= words:
            break
        others = [one for one in kept if one is not sentence]
        if _named(sentence, entity, people) <= set().union(*(_named(one, entity, people) for one in others)) and not _introduces(sentence):
            kept = others
    return kept


def _named(sentence: Sentence, entity: Entity, people: People) -> set[str]:
    return {one for one in people.mentions(sentence.text) if one != entity.id}


def _introduces(sentence: Sentence) -> bool:
    return " is the user's " in sentence.text
