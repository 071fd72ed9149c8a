"""What happened when: dated facts, States, Episodes and the user's own sentences that name a day, in one order. Pure.

A fact or sentence stands at the day it tells of, resolved from its words; everything else at the time it was said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from pgmem_local.conversation import Moment
from pgmem_local.dates import Grain, day_moment, find_dates, with_dates, written
from pgmem_local.graph.nodes import Context, Kind, NodeId
from pgmem_local.graph.people import EntityId, Fact, FactId, People
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.sentences import sentences


class EventKind(str, Enum):
    """What an entry of the timeline is."""

    FACT = "fact"
    STATE = "state"
    EPISODE = "episode"
    SAID = "said"


@dataclass(frozen=True)
class Event:
    """One entry. `who`: the entity it is about, None for the user. `ended`: since when it no longer holds."""

    kind: EventKind
    id: NodeId | FactId
    text: str
    moment: Moment
    grain: Grain = Grain.DAY
    doubtful: bool = False
    who: EntityId | None = None
    ended: Moment | None = None

    @property
    def when(self) -> str:
        return written(self.moment.day, self.grain)


def timeline(graph: PersonaGraph, people: People, entity: EntityId | None = None) -> list[Event]:
    """All entries, or those about one entity, oldest first, of one moment in the order learned. What has no time has no place here."""
    found = [*_facts(people, entity), *_sentences(graph, people, entity)]
    if entity is None:
        found += [*_states(graph), *_episodes(graph)]
    return sorted(found, key=lambda event: (event.moment.utc, event.id[0], int(event.id[1:])))


def _facts(people: People, entity: EntityId | None) -> Iterator[Event]:
    for fact in people.all_facts(current=False) if entity is None else people.facts(entity, current=False):
        moment = fact.happened or fact.said
        if moment is not None:
            grain = fact.grain if fact.happened else Grain.DAY
            yield Event(EventKind.FACT, fact.id, fact.text, moment, grain, fact.doubtful, fact.entity, _ended(fact, people))


def _ended(fact: Fact, people: People) -> Moment | None:
    later = people.fact(fact.replaced_by) if fact.replaced_by else None
    return (later.happened or later.said) if later else None


def _states(graph: PersonaGraph) -> Iterator[Event]:
    for state in graph.of_kind(Kind.STATE):
        if state.moment is not None:
            newer = [moment for one in graph.replaced_by(state.id) if (moment := graph[one].moment)]
            yield Event(EventKind.STATE, state.id, state.text, state.moment, ended=min(newer, default=None))


def _episodes(graph: PersonaGraph) -> Iterator[Event]:
    for episode in graph.of_kind(Kind.EPISODE):
        if episode.moment is not None:
            yield Event(EventKind.EPISODE, episode.id, with_dates(episode.text, episode.moment), episode.moment)


def _sentences(graph: PersonaGraph, people: People, entity: EntityId | None) -> Iterator[Event]:
    """The user's own sentences that name a day and became nobody's fact."""
    told = {source for fact in people.all_facts(current=False) for source in fact.sources}
    for context in graph.of_kind(Kind.CONTEXT):
        if isinstance(context, Context) and context.moment is not None and context.author is None and context.id not in told:
            for sentence in sentences(context.text):
                mine = entity is None or entity in people.mentions(sentence)
                for dated in find_dates(sentence, context.moment)[:1] if mine else ():
                    text = with_dates(sentence, context.moment)
                    yield Event(EventKind.SAID, context.id, text, day_moment(dated.day, context.moment), dated.grain, dated.doubtful)
