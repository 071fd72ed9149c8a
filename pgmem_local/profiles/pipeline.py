"""The write path of entity profiles (ProGraph, section 3.1): a closed chunk comes in, what it taught about others comes out.

find people (1 call) -> what is said of whom (code) -> profile and residuals (E calls, decoded together) -> facts, what replaces what.
Nothing here raises because a model wrote nonsense: lines that do not hold are dropped, and the user's own words remain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgmem_local.graph.nodes import Context
from pgmem_local.graph.people import EntityId, FactId, Profile
from pgmem_local.lesson import PeopleLesson
from pgmem_local.ports import Vectors
from pgmem_local.profiles.about import About, sort_out
from pgmem_local.profiles.desk import PeopleDesk
from pgmem_local.profiles.facts import NewFacts, Statement, take_facts
from pgmem_local.profiles.lines import Line, lines_of
from pgmem_local.profiles.naming import find_people
from pgmem_local.profiles.writing import new_profile, prompt_for, read_lines

Written = list[tuple[Line, str]]


def learn_people(desk: PeopleDesk, contexts: Sequence[Context]) -> PeopleLesson | None:
    """What a chunk taught about others; None where it speaks of nobody."""
    lines = lines_of(contexts)
    cast = find_people(desk, lines)
    found = cast.found
    if not found:
        return None
    people = desk.people.having([one.entity for one in found])
    about = _worth_writing(desk, sort_out(lines, [one.entity for one in found], people, cast.strangers))
    written = _write(desk, about)
    profiles = [new_profile(people, one, lines, desk.settings.profile_words) for one, lines in zip(about, written, strict=True)]
    facts = _facts(desk, about, written)
    kept = {one.entity.id for one in about}
    return PeopleLesson(
        kinds={one.entity.id: one.entity.kind for one in found if one.is_new and one.entity.id in kept},
        namings=tuple(naming for one in found if one.entity.id in kept or not one.is_new for naming in one.namings),
        profiles=tuple(profiles),
        facts=tuple(fact for new in facts for fact in new.facts),
        said_again=tuple(pair for new in facts for pair in new.said_again),
        replaced={older: newer for new in facts for older, newer in new.replaced.items()},
        vectors=_vectors(desk, profiles, facts),
    )


def _worth_writing(desk: PeopleDesk, about: Sequence[About]) -> list[About]:
    """Those of whom something is stated, the most spoken of first, as many as a session may cost."""
    stated = [one for one in about if one.sure]
    return sorted(stated, key=lambda one: -len(one.sure))[: desk.settings.entities_a_session]


def _write(desk: PeopleDesk, about: Sequence[About]) -> list[Written]:
    prompts = [prompt_for(desk, one) for one in about]
    completions = desk.model.write(prompts, desk.settings.profile_tokens, stop=("\n\n", "\nAbout:")) if prompts else []
    return [read_lines(desk, completion.text, one) for completion, one in zip(completions, about, strict=True)]


def _facts(desk: PeopleDesk, about: Sequence[About], written: Sequence[Written]) -> list[NewFacts]:
    """Facts are the user's own sentences where code is sure of whom they speak, else what the model wrote of them."""
    drafts = [(one.entity, _drafts(one, lines)) for one, lines in zip(about, written, strict=True)]
    texts = [text for _, group in drafts for _, text in group]
    vectors = iter(desk.embed(texts)) if texts else iter(())
    told = replace(desk, people=desk.people.having([one.entity for one in about]))
    return [take_facts(told, entity, [Statement(text, line, next(vectors)) for line, text in group]) for entity, group in drafts]


def _drafts(about: About, written: Written) -> Written:
    doubtful = [(line, text) for line, text in written if line not in about.sure]
    return sorted([*about.sure.items(), *doubtful], key=lambda pair: pair[0].number)


def _vectors(desk: PeopleDesk, profiles: Sequence[Profile], facts: Sequence[NewFacts]) -> dict[EntityId | FactId, Vectors]:
    filled = [profile for profile in profiles if profile.sentences]
    rows = iter(desk.embed([profile.text for profile in filled]) if filled else ())
    vectors: dict[EntityId | FactId, Vectors] = {profile.entity: next(rows) for profile in filled}
    return vectors | {identifier: row for new in facts for identifier, row in new.vectors.items()}
