"""`/why`: what the last answer rested on: the persona with how it stands and by which path it was found, others by name, and the lines
all that was made from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console

from pgmem_local.answering import Quote, cite
from pgmem_local.cli import show
from pgmem_local.cli.ask import path_text, path_to
from pgmem_local.cli.values import Entry, Status, entries
from pgmem_local.conversation import written_day
from pgmem_local.graph.nodes import Context, NodeId
from pgmem_local.graph.people import Entity, People
from pgmem_local.memory import PersonaMemory
from pgmem_local.retrieval.serialise import on_one_line
from pgmem_local.talking.talk import Answered
from pgmem_local.words import keywords

_USED = "*"


def show_grounds(console: Console, memory: PersonaMemory, answered: Answered) -> None:
    """The notes that were shown to the model; a star marks those the reply has words in common with."""
    shown = frozenset(answered.grounds.notes.labels.values())
    always = [node for node in answered.grounds.core.nodes if node.id not in shown]
    if not shown and not always:
        show.line(console, "The memory held nothing on it: the answer is the model's own.", "dim")
        return
    _show_persona(console, memory, answered, shown)
    told = told_of_others(memory.people, answered)
    _show_others(console, memory, answered, told)
    _show_exchanges(console, memory, answered, shown - {one.context for one in told})
    if always:
        show.line(console, "In any case", "bold")
    for node in always:
        show.line(console, f"{_mark(answered, node.keywords)} {show.node_line(node)}")
    show.line(
        console, f"{_USED} has words in common with the answer; S/C: notes for it and against it; `/why ID` tells more", "dim"
    )


def _show_persona(console: Console, memory: PersonaMemory, answered: Answered, shown: frozenset[NodeId]) -> None:
    heading: Status | None = None
    for entry in entries(answered.grounds.retrieval.evidence):
        if entry.node.id not in shown:
            continue
        if entry.status is not heading:
            heading = entry.status
            show.line(console, show.HEADINGS[heading], "bold")
        for line in _lines(memory, answered, entry):
            show.line(console, line)


def _lines(memory: PersonaMemory, answered: Answered, entry: Entry) -> Iterator[str]:
    ranked, node = entry.ranked, entry.node
    path = path_text(path_to(memory, answered.grounds.retrieval, node.id))
    standing = f"S/C +{len(ranked.supporters)} -{len(ranked.challengers)}, validity {ranked.validity:.2f}"
    changed = "".join(f", until {written_day(newer.moment)} ({newer.id})" for newer in entry.replaced_by)
    yield f"{_mark(answered, node.keywords)} {show.node_line(node)}"
    yield f"      {path}, {standing}{changed}"
    about = f"{answered.message} {answered.reply}"
    for quote in cite(memory.graph, node.id, about).quotes[: show.QUOTES_SHOWN]:
        yield f"      {show.quote_line(quote)}"


@dataclass(frozen=True)
class ToldOf:
    """A fact or a sentence of a profile that was shown: whom it is about, and the line that it is cited by."""

    entity: Entity
    label: str
    text: str
    context: NodeId


def told_of_others(people: People, answered: Answered) -> list[ToldOf]:
    """What was shown of others, in the order of the notes. What names several people stands with the first of them."""
    notes = answered.grounds.notes
    cited = frozenset(notes.labels.values())
    known: dict[str, ToldOf] = {}
    for one in _known_of(people):
        if one.context in cited:
            known.setdefault(on_one_line(one.text), one)
    shown = {notes.text.index(text): one for text, one in known.items() if text in notes.text}
    return [shown[place] for place in sorted(shown)]


def _known_of(people: People) -> Iterator[ToldOf]:
    for entity in people:
        for fact in people.facts(entity.id, current=False):
            yield ToldOf(entity, fact.id, fact.text, fact.sources[0])
        for sentence in people.profile(entity.id).sentences:
            if sentence.sources:
                yield ToldOf(entity, "profile", sentence.text, sentence.sources[0])


def _show_others(console: Console, memory: PersonaMemory, answered: Answered, told: list[ToldOf]) -> None:
    if not told:
        return
    names = [memory.people[one].name for one in answered.grounds.retrieval.company.people]
    show.line(console, f"Of others ({' -> '.join(names)})" if len(names) > 1 else "Of others", "bold")
    for entity in dict.fromkeys(one.entity for one in told):
        of_them = [one for one in told if one.entity == entity]
        relation = f", your {entity.relation}" if entity.relation else ""
        show.line(console, f"{_mark(answered, keywords(' '.join(one.text for one in of_them)))} {entity.id}  {entity.name}{relation}")
        for one in of_them:
            show.line(console, f"      {one.label}  {show.flat(one.text)}")
            show.line(console, f"        {show.quote_line(_quote(memory, one.context))}")


def _show_exchanges(console: Console, memory: PersonaMemory, answered: Answered, shown: frozenset[NodeId]) -> None:
    """The lines that were shown as they are."""
    said = [node for node in map(memory.graph.__getitem__, shown) if isinstance(node, Context)]
    if said:
        show.line(console, "What was said", "bold")
    for node in sorted(said, key=lambda one: (one.moment is None, one.moment, one.id)):
        show.line(console, f"{_mark(answered, node.keywords)} {show.node_line(node)}")


def _quote(memory: PersonaMemory, context: NodeId) -> Quote:
    node = memory.graph[context]
    return Quote(node.id, node.moment, node.text)


def _mark(answered: Answered, words: frozenset[str]) -> str:
    fresh = keywords(answered.reply) - keywords(answered.message)
    return _USED if words & fresh else " "
