"""Numbered notes that are no persona evidence: what is known of others, and exchanges as they were, a section each, within a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pgmem_local.graph.nodes import Context, NodeId
from pgmem_local.graph.people import Fact, Profile, Sentence
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.retrieval.passages import Passage, as_read
from pgmem_local.retrieval.serialise import Serialised, day, day_told, on_one_line

LABEL_TOKENS = 5
"""What a label and a line end add to a line."""


@dataclass(frozen=True)
class Line:
    """One note, and the node that answers cite it by: for a fact or a profile sentence the Context it rests on."""

    text: str
    node: NodeId


@dataclass(frozen=True)
class Section:
    """Notes under a heading, the one to keep first in front."""

    heading: str
    lines: tuple[Line, ...]


def fact_line(fact: Fact) -> Line:
    return Line(f"{day_told(fact.text, fact.said)}: {on_one_line(fact.text)}", fact.sources[0])


def sentence_line(sentence: Sentence, graph: PersonaGraph) -> Line:
    """A profile has no dates; its sentences have those of what they rest on."""
    return Line(f"{day(graph[sentence.sources[0]])}: {on_one_line(sentence.text)}", sentence.sources[0])


def passages_line(graph: PersonaGraph, context: NodeId, passages: Sequence[Passage]) -> Line:
    """Passages of one exchange in the order said, with a mark where some are left out between them."""
    node = graph[context]
    said = sorted(passages, key=lambda one: one.place)
    text = as_read(said[0], graph)
    for before, one in pairwise(said):
        text = f"{text}{' ' if one.place == before.place + 1 else ' … '}{as_read(one, graph)}"
    author = f"{node.author}: " if isinstance(node, Context) and node.author else ""
    when = day_told(text, node.moment) if len(said) == 1 else day(node)
    return Line(f"{when}: {on_one_line(author + text)}", node.id)


def profile_lines(profile: Profile, graph: PersonaGraph) -> list[Line]:
    return [sentence_line(sentence, graph) for sentence in profile.sentences if sentence.sources]


@dataclass(frozen=True)
class Written:
    """Numbered notes, the lines they were made of, and what is left of the budget."""

    serialised: Serialised
    lines: tuple[Line, ...]
    left: int


def write_sections(sections: Sequence[Section], budget: int, count: Callable[[str], int], first: int = 1) -> Written:
    """The sections within a budget, numbered from `first` on. A note that does not fit is passed over for the next."""
    left = budget
    text: list[str] = []
    lines: list[Line] = []
    for section in sections:
        kept, left = _fitting(section, left, count)
        text += [section.heading] if kept else []
        text += [f"[{number}] {line.text}" for number, line in enumerate(kept, first + len(lines))]
        lines += kept
    labels = {number: line.node for number, line in enumerate(lines, first)}
    return Written(Serialised("\n".join(text), labels), tuple(lines), left)


def _fitting(section: Section, budget: int, count: Callable[[str], int]) -> tuple[list[Line], int]:
    left = budget - count(section.heading) - LABEL_TOKENS
    kept: list[Line] = []
    for line in section.lines:
        size = count(line.text) + LABEL_TOKENS
        if size <= left:
            kept.append(line)
            left -= size
    return kept, left if kept else budget
