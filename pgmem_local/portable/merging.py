"""Other contents put beside those that are here: what is new comes in under a number of its own, what is known is left as it is.

A Context is known by its key. An Episode is known by the Contexts it tells of, another note by its words, its time and a source that both
have. Who is spoken of is known by a line that speaks of both, else by a name that nobody else here has. Nothing is learned again: a line
that was learned there counts as learned here, with what was made from it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import count

from pgmem_local.contents import Chunk, Contents, Intake
from pgmem_local.graph.acts import Act
from pgmem_local.graph.edges import Judgement, SourceEdge
from pgmem_local.graph.nodes import Episode, Kind, Node, NodeId, node_id
from pgmem_local.lesson import Lesson
from pgmem_local.portable.merging_people import merge_people

Sources = Mapping[NodeId, frozenset[NodeId]]
Words = tuple[object, ...]


def merge(here: Contents, incoming: Contents) -> Intake:
    """What comes in."""
    ids = _contexts(here, incoming)
    known = frozenset(ids)
    ids |= _new_ids(here, Kind.CONTEXT, [one.node for one in incoming.contexts if one.node.id not in ids])
    same = _same_notes(here, incoming, ids)
    ids |= same
    for kind in (Kind.EPISODE, Kind.STATE, Kind.TRAIT):
        ids |= _new_ids(here, kind, [note for note in incoming.notes if note.kind is kind and note.id not in same])
    people, own_names = merge_people(here, incoming, ids)
    lesson = Lesson(
        nodes=tuple(replace(note, id=ids[note.id]) for note in incoming.notes if note.id not in same),
        sources=_new_sources(here, incoming, ids),
        judgements=_new_judgements(here, incoming, ids),
        people=people,
    )
    intake = Intake(ids, lesson=lesson, pins=_new_pins(here, incoming, ids), acts=_new_acts(here, incoming, ids), own_names=own_names)
    return _with_contexts(intake, here, incoming, known)


def _contexts(here: Contents, incoming: Contents) -> dict[NodeId, NodeId]:
    by_key = {one.node.key: one.node.id for one in here.contexts}
    return {one.node.id: by_key[one.node.key] for one in incoming.contexts if one.node.key in by_key}


def _new_ids(here: Contents, kind: Kind, nodes: Iterable[Node]) -> dict[NodeId, NodeId]:
    numbers = count(here.numbers.nodes.get(kind, 0) + 1)
    return {node.id: node_id(kind, number) for node, number in zip(nodes, numbers)}  # noqa: B905 - numbers have no end


# ------------------------------------------------------------------ notes


def _same_notes(here: Contents, incoming: Contents, ids: Mapping[NodeId, NodeId]) -> dict[NodeId, NodeId]:
    """Incoming notes that are here, each under its id here; no note here stands for two."""
    made_from, theirs = _sources(here.sources), _sources(incoming.sources)
    known: defaultdict[Words, list[NodeId]] = defaultdict(list)
    for note in here.notes:
        known[_words(note, made_from[note.id])].append(note.id)
    found: dict[NodeId, NodeId] = {}
    for note in sorted(incoming.notes, key=lambda one: _ORDER[one.kind]):
        sources = frozenset(at for one in theirs[note.id] if (at := ids.get(one) or found.get(one)))
        alike = known[_words(note, sources)]
        shared = {one: len(made_from[one] & sources) for one in alike}
        best = max(shared, key=lambda one: shared[one], default=None)
        if best is not None and shared[best]:
            found[note.id] = best
            alike.remove(best)
    return found


_ORDER = {Kind.CONTEXT: 0, Kind.STATE: 1, Kind.EPISODE: 2, Kind.TRAIT: 3}
"""Sources first: Traits are made from States and Episodes, these from Contexts."""


def _words(note: Node, sources: frozenset[NodeId]) -> Words:
    return (note.kind, sources) if isinstance(note, Episode) else (note.kind, note.text, note.moment)


def _sources(edges: Iterable[SourceEdge]) -> Sources:
    found: defaultdict[NodeId, set[NodeId]] = defaultdict(set)
    for edge in edges:
        found[edge.derived].add(edge.source)
    return defaultdict(frozenset, {derived: frozenset(sources) for derived, sources in found.items()})


# ------------------------------------------------------------------ edges, pins, acts


def _new_sources(here: Contents, incoming: Contents, ids: Mapping[NodeId, NodeId]) -> tuple[SourceEdge, ...]:
    known = set(here.sources)
    edges = (SourceEdge(ids[edge.source], ids[edge.derived]) for edge in incoming.sources)
    return tuple(edge for edge in dict.fromkeys(edges) if edge not in known)


def _new_judgements(here: Contents, incoming: Contents, ids: Mapping[NodeId, NodeId]) -> tuple[Judgement, ...]:
    """A pair that was judged here stays as it was judged."""
    known = {frozenset((one.source, one.target)) for one in here.judgements}
    judgements = (replace(one, source=ids[one.source], target=ids[one.target]) for one in incoming.judgements)
    return tuple(one for one in judgements if frozenset((one.source, one.target)) not in known)


def _new_pins(here: Contents, incoming: Contents, ids: Mapping[NodeId, NodeId]) -> tuple[NodeId, ...]:
    return tuple(at for one in incoming.pins if (at := ids[one]) not in here.pins)


def _new_acts(here: Contents, incoming: Contents, ids: Mapping[NodeId, NodeId]) -> tuple[Act, ...]:
    def at(one: NodeId | None) -> NodeId | None:
        return ids[one] if one is not None else None

    acts = (replace(act, node=at(act.node), context=at(act.context), target=at(act.target)) for act in incoming.acts)
    return tuple(act for act in acts if act not in here.acts)


# ------------------------------------------------------------------ Contexts


def _with_contexts(intake: Intake, here: Contents, incoming: Contents, known: frozenset[NodeId]) -> Intake:
    """The Contexts that are new, in their chunks, and what comes in for those that are known."""
    present = {one.node.id: one for one in here.contexts}
    pairs = [(present[intake.ids[one.node.id]], one) for one in incoming.contexts if one.node.id in known]
    open_here = {chunk.id for chunk in here.chunks if not chunk.closed}
    closed_there = {chunk.id for chunk in incoming.chunks if chunk.closed}
    # a line that still waits here for its Episode goes over to the chunk whose Episode comes in
    moves = [(old.node.id, new.chunk) for old, new in pairs if old.chunk in open_here and new.chunk in closed_there]
    fresh = [replace(one, node=replace(one.node, id=intake.ids[one.node.id])) for one in incoming.contexts if one.node.id not in known]
    chunks = _new_chunks(here, incoming, {*(one.chunk for one in fresh), *(chunk for _, chunk in moves)})
    return replace(
        intake,
        chunks=tuple(chunks.values()),
        contexts=tuple(replace(one, chunk=chunks[one.chunk].id) for one in fresh),
        moved={one: chunks[chunk].id for one, chunk in moves},
        replies={old.node.id: new.node.reply for old, new in pairs if old.node.reply is None and new.node.reply is not None},
        learned=tuple(old.node.id for old, new in pairs if new.learned and not old.learned),
        files={old.node.id: further for old, new in pairs if (further := new.files - old.files)},
    )


def _new_chunks(here: Contents, incoming: Contents, wanted: set[int]) -> dict[int, Chunk]:
    """Incoming chunk -> a new one here, for each that is wanted."""
    numbers = count(here.numbers.chunk + 1)
    return {one.id: replace(one, id=next(numbers)) for one in incoming.chunks if one.id in wanted}
