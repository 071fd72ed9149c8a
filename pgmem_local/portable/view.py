"""A memory as it is shown to people and other programs: things, and links between them. Status comes from retrieval, all else from here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from pgmem_local.contents import Contents
from pgmem_local.conversation import Moment
from pgmem_local.graph.edges import Relation
from pgmem_local.graph.nodes import Context, NodeId, State
from pgmem_local.graph.people import Entity, People, entity_from
from pgmem_local.graph.persona_graph import PersonaGraph


class Standing(str, Enum):
    """How a thing stands; facts hold now or are changed, and who is spoken of just is."""

    NOW = "now"
    LASTING = "lasting"
    CHALLENGED = "challenged"
    CHANGED = "changed"
    HAPPENED = "happened"
    SAID = "said"
    KNOWN = "known"


class LinkKind(str, Enum):
    """What a link says of its two ends: provenance, evidence, or whom a line or fact is about."""

    SOURCE = "source"
    SUPPORT = "support"
    CONTRADICT = "contradict"
    SHIFT_TO = "shift_to"
    ABOUT = "about"


@dataclass(frozen=True)
class Thing:
    """A node, somebody or something spoken of, or a fact. `text` is verbatim, and nothing in it can be trusted."""

    id: str
    kind: str
    text: str
    moment: Moment | None
    standing: Standing
    pinned: bool = False
    stated: bool = False
    session: str | None = None
    author: str | None = None
    reply: str | None = None


@dataclass(frozen=True)
class Link:
    """From a source to what was made from it, from the older to the newer, from what is said to whom it is about."""

    source: str
    target: str
    kind: LinkKind
    probability: float | None = None
    judge: str | None = None


@dataclass(frozen=True)
class View:
    """Contents with the graph and the people in them, and how Traits, States and Episodes stand."""

    contents: Contents
    graph: PersonaGraph
    people: People
    standing: Mapping[NodeId, Standing]

    def things(self) -> Iterator[Thing]:
        for node in self.contents.nodes:
            pinned, stated = node.id in self.graph.pinned, isinstance(node, State) and node.stated
            if isinstance(node, Context):
                yield Thing(
                    node.id, node.kind.value, node.text, node.moment, Standing.SAID,
                    session=node.session, author=node.author, reply=node.reply,
                )  # fmt: skip
            else:
                standing = self.standing.get(node.id, Standing.CHANGED)
                yield Thing(node.id, node.kind.value, node.text, node.moment, standing, pinned, stated)
        for one in self.people:
            yield Thing(one.id, one.kind.value, self._told(one), one.first, Standing.KNOWN)
        for fact in self.people.all_facts(current=False):
            standing = Standing.NOW if fact.current else Standing.CHANGED
            yield Thing(fact.id, "fact", fact.text, fact.happened or fact.said, standing)

    def _told(self, one: Entity) -> str:
        """Names and relation, then the profile."""
        relation = f" (your {one.relation})" if one.relation else ""
        profile = self.people.profile(one.id).text
        return f"{', '.join(one.names)}{relation}{f': {profile}' if profile else ''}"

    def links(self) -> Iterator[Link]:
        yield from (Link(edge.source, edge.derived, LinkKind.SOURCE) for edge in self.contents.sources)
        for one in self.contents.judgements:
            if one.relation is not Relation.IRRELEVANT:
                yield Link(one.source, one.target, LinkKind(one.relation.value), one.probability, one.judge)
        for entity in self.contents.entities:
            lines = dict.fromkeys(naming.context for naming in entity.namings)
            yield from (Link(line, entity.id, LinkKind.ABOUT) for line in lines)
        for fact in self.contents.facts:
            yield Link(fact.id, fact.entity, LinkKind.ABOUT)
            yield from (Link(source, fact.id, LinkKind.SOURCE) for source in fact.sources)
            if fact.replaced_by is not None:
                yield Link(fact.id, fact.replaced_by, LinkKind.SHIFT_TO)


def graph_of(contents: Contents) -> PersonaGraph:
    graph = PersonaGraph()
    graph.add(contents.nodes, contents.sources, contents.judgements, contents.pins)
    return graph


def people_of(contents: Contents) -> People:
    moments = {one.node.id: one.node.moment for one in contents.contexts}
    entities = [entity_from(one.id, one.kind, one.namings, moments, one.own_name) for one in contents.entities]
    return People(entities, contents.profiles, contents.facts)
