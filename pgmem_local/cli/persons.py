"""`pgmem people` and `pgmem timeline`: who is spoken of, what is known of them, and what happened when. No language model is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import typer

from pgmem_local.cli import show
from pgmem_local.cli.opening import open_to_look
from pgmem_local.cli.options import Where
from pgmem_local.cli.values import print_json, timestamp
from pgmem_local.conversation import written_day
from pgmem_local.graph.nodes import NodeId
from pgmem_local.graph.people import Entity, EntityId, Fact, People
from pgmem_local.graph.timeline import Event
from pgmem_local.memory import PersonaMemory

COLUMNS = ("id", "name", "kind", "to you", "also called", "facts", "first", "last")


def list_people(where: Where, as_json: bool) -> None:
    """Print everybody, who was spoken of last first."""
    with open_to_look(where) as memory:
        people = memory.people
    if as_json:
        print_json({"people": [entity_value(one, people) for one in _latest_first(people)]})
    else:
        print_people(people)


def _latest_first(people: People) -> list[Entity]:
    return sorted(people, key=lambda one: one.last.utc.timestamp() if one.last else 0.0, reverse=True)


def print_people(people: People) -> None:
    if listed := _latest_first(people):
        show.table(show.terminal(), COLUMNS, [_row(one, people) for one in listed], right=("facts",))
    else:
        typer.echo("Nobody yet. People are found when something is learned: pgmem learn")


def _row(one: Entity, people: People) -> tuple[object, ...]:
    facts = len(people.facts(one.id))
    return (one.id, one.name, one.kind.value, one.relation or "", ", ".join(one.aliases), facts, *map(written_day, (one.first, one.last)))


def show_person(name: str, where: Where, as_json: bool) -> None:
    """Print the card of one entity. Raises UnknownEntity."""
    with open_to_look(where) as memory:
        entity, people = memory.person(name), memory.people
    if as_json:
        print_json(card_value(entity, people))
    else:
        print_card(entity, people)


def print_card(entity: Entity, people: People) -> None:
    console = show.terminal()
    what = ", ".join(part for part in (entity.kind.value, entity.relation and f"your {entity.relation}") if part)
    show.line(console, f"{entity.id}  {entity.name}  ({what})", "bold")
    if entity.aliases:
        show.line(console, f"  also called   {', '.join(entity.aliases)}")
    show.line(console, f"  spoken of     {written_day(entity.first)} to {written_day(entity.last)}")
    if links := [people[one].name for one in people.links(entity.id)]:
        show.line(console, f"  linked to     {', '.join(links)}")
    if text := people.profile(entity.id).text:
        show.line(console, f"  profile       {text}")
    for fact in people.facts(entity.id):
        show.line(console, f"  {fact.id:<5} {_dated(fact)}  {fact.text}  [{', '.join(fact.sources)}]")
    for fact in people.facts(entity.id, current=False):
        if not fact.current:
            show.line(console, f"  {fact.id:<5} {_dated(fact)}  earlier: {fact.text}  -> {fact.replaced_by}", "dim")


def _dated(fact: Fact) -> str:
    return fact.when or written_day(fact.said)


def merge_people(kept: str, other: str, where: Where, as_json: bool) -> None:
    _correct(where, as_json, lambda memory: memory.merge_people(kept, other), "one now")


def split_person(name: str, lines: Sequence[str], called: str | None, where: Where, as_json: bool) -> None:
    ids = [NodeId(one.strip().lower()) for one in lines]
    _correct(where, as_json, lambda memory: memory.split_person(name, ids, called), "somebody else now")


def rename_person(name: str, called: str | None, where: Where, as_json: bool) -> None:
    _correct(where, as_json, lambda memory: memory.rename_person(name, called), "called so now")


def _correct(where: Where, as_json: bool, correct: Callable[[PersonaMemory], Entity], said: str) -> None:
    with open_to_look(where) as memory:
        entity = correct(memory)
        people = memory.people
    if as_json:
        print_json(entity_value(entity, people))
    else:
        typer.echo(f"{entity.id} {entity.name}: {said}. `pgmem people undo` takes it back.")


def undo_correction(where: Where, as_json: bool) -> None:
    with open_to_look(where) as memory:
        undone = memory.undo_people()
    if as_json:
        print_json({"undone": undone.action.value if undone else None, "entity": undone.entity if undone else None})
    else:
        typer.echo(f"The {undone.action.value} of {undone.entity} is taken back." if undone else "Nothing to take back.")


def show_timeline(name: str | None, where: Where, as_json: bool) -> None:
    """Print what happened when. Raises UnknownEntity."""
    with open_to_look(where) as memory:
        events, people = memory.timeline(name), memory.people
    if as_json:
        print_json({"events": [event_value(one) for one in events]})
    else:
        print_events(events, people)


def print_events(events: Sequence[Event], people: People) -> None:
    rows = [(_when(one), one.kind.value, one.id, _whose(one.who, people), show.flat(one.text)) for one in events]
    show.table(show.terminal(), ("when", "what", "id", "who", ""), rows)


def _when(event: Event) -> str:
    return f"{event.when}{'?' if event.doubtful else ''}{f' until {written_day(event.ended)}' if event.ended else ''}"


def _whose(who: EntityId | None, people: People) -> str:
    return people[who].name if who else "you"


# ------------------------------------------------------------------ as JSON


def entity_value(one: Entity, people: People) -> dict[str, Any]:
    return {
        "id": one.id,
        "name": one.name,
        "aliases": list(one.aliases),
        "kind": one.kind.value,
        "relation": one.relation,
        "first": timestamp(one.first),
        "last": timestamp(one.last),
        "facts": len(people.facts(one.id)),
    }


def card_value(one: Entity, people: People) -> dict[str, Any]:
    sentences = [{"text": sentence.text, "sources": list(sentence.sources)} for sentence in people.profile(one.id).sentences]
    return {
        **entity_value(one, people),
        "linked_to": [{"id": other, "name": people[other].name} for other in people.links(one.id)],
        "profile": sentences,
        "facts": [fact_value(fact) for fact in people.facts(one.id, current=False)],
    }


def fact_value(fact: Fact) -> dict[str, Any]:
    return {
        "id": fact.id,
        "kind": fact.kind.value,
        "text": fact.text,
        "sources": list(fact.sources),
        "said": timestamp(fact.said),
        "happened": fact.when,
        "doubtful": fact.doubtful,
        "words": fact.original,
        "replaced_by": fact.replaced_by,
    }


def event_value(event: Event) -> dict[str, Any]:
    return {
        "when": event.when,
        "doubtful": event.doubtful,
        "kind": event.kind.value,
        "id": event.id,
        "who": event.who,
        "text": event.text,
        "until": timestamp(event.ended),
    }
