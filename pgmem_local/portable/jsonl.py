"""JSON Lines: a memory as one record a line, which `portable.reading` reads back. The first line says how many of each kind follow.

Every record is ASCII, so that no terminal, editor or pipe can spoil it. Vectors are left out: any embedder makes them anew.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from pgmem_local.contents import Chunk, Contents, StoredContext, StoredEntity
from pgmem_local.conversation import Moment
from pgmem_local.graph.acts import Act
from pgmem_local.graph.edges import Judgement
from pgmem_local.graph.nodes import Node, NodeId, State
from pgmem_local.graph.people import Fact, Naming, Profile, Sentence, entity_from

VERSION = 1
FORMAT = "pgmem-memory"

Value = dict[str, Any]


class Record(str, Enum):
    """What a line may be. The header is the first and says nothing of what is remembered."""

    HEADER = "header"
    CHUNK = "chunk"
    CONTEXT = "context"
    EPISODE = "episode"
    STATE = "state"
    TRAIT = "trait"
    JUDGEMENT = "judgement"
    PIN = "pin"
    ACT = "act"
    ENTITY = "entity"
    PROFILE = "profile"
    FACT = "fact"


def counts(contents: Contents) -> dict[str, int]:
    """How many records of each kind an export has."""
    kinds = {one.value: sum(note.kind.value == one.value for note in contents.notes) for one in Record}
    lists = {
        Record.CHUNK: contents.chunks,
        Record.CONTEXT: contents.contexts,
        Record.JUDGEMENT: contents.judgements,
        Record.PIN: contents.pins,
        Record.ACT: contents.acts,
        Record.ENTITY: contents.entities,
        Record.PROFILE: contents.profiles,
        Record.FACT: contents.facts,
    }
    kinds |= {record.value: len(listed) for record, listed in lists.items()}
    return {record.value: kinds[record.value] for record in Record if record is not Record.HEADER}


def lines(contents: Contents) -> Iterator[str]:
    """The export, line by line."""
    yield _line(Record.HEADER, {"format": FORMAT, "version": VERSION, "records": counts(contents)})
    for record, value in _records(contents):
        yield _line(record, value)


def _line(record: Record, value: Value) -> str:
    return json.dumps({"record": record.value, **value}) + "\n"


def _records(contents: Contents) -> Iterator[tuple[Record, Value]]:
    sources: defaultdict[NodeId, list[NodeId]] = defaultdict(list)
    for edge in contents.sources:
        sources[edge.derived].append(edge.source)
    yield from ((Record.CHUNK, _chunk(one)) for one in contents.chunks)
    yield from ((Record.CONTEXT, _context(one)) for one in contents.contexts)
    yield from ((Record(note.kind.value), _note(note, sources)) for note in contents.notes)
    yield from ((Record.JUDGEMENT, _judgement(one)) for one in contents.judgements)
    yield from ((Record.PIN, {"node": one}) for one in contents.pins)
    moments = {one.node.id: one.node.moment for one in contents.contexts}
    yield from ((Record.ENTITY, _entity(one, moments)) for one in contents.entities)
    yield from ((Record.PROFILE, _profile(one)) for one in contents.profiles)
    yield from ((Record.FACT, _fact(one)) for one in contents.facts)
    yield from ((Record.ACT, _act(one)) for one in contents.acts)


def _chunk(one: Chunk) -> Value:
    return {"id": one.id, "label": one.label, "closed": one.closed, "consolidated": one.consolidated}


def _context(one: StoredContext) -> Value:
    node = one.node
    return {
        **_common(node),
        "reply": node.reply,
        "session": node.session,
        "author": node.author,
        "key": node.key,
        "chunk": one.chunk,
        "learned": one.learned,
        "files": sorted(one.files),
        **_words(node),
    }


def _note(node: Node, sources: Mapping[NodeId, list[NodeId]]) -> Value:
    value = {**_common(node), "sources": sources[node.id], "scope": node.scope.value}
    if isinstance(node, State):
        value |= {"priority": node.priority.value, "polarity": node.polarity.value, "stated": node.stated}
    return value | _words(node)


def _common(node: Node) -> Value:
    return {"id": node.id, "timestamp": _timestamp(node.moment), "text": node.text}


def _words(node: Node) -> Value:
    return {"keywords": sorted(node.keywords), "domains": sorted(node.domains)}


def _judgement(one: Judgement) -> Value:
    return {
        "source": one.source,
        "target": one.target,
        "relation": one.relation.value,
        "probability": one.probability,
        "judge": one.judge,
    }


def _act(one: Act) -> Value:
    return {
        "deed": one.deed.value,
        "timestamp": _timestamp(one.moment),
        "node": one.node,
        "context": one.context,
        "target": one.target,
    }


def _entity(one: StoredEntity, moments: Mapping[NodeId, Moment | None]) -> Value:
    """Name, aliases and relation are for whoever reads the file: they follow from the namings, which are read back."""
    told = entity_from(one.id, one.kind, one.namings, moments, one.own_name)
    return {
        "id": one.id,
        "kind": one.kind.value,
        "name": told.name,
        "aliases": list(told.aliases),
        "relation": told.relation,
        "own_name": one.own_name,
        "namings": [_naming(naming) for naming in one.namings],
    }


def _naming(one: Naming) -> Value:
    return {"context": one.context, "name": one.name, "relation": one.relation}


def _profile(one: Profile) -> Value:
    return {"entity": one.entity, "sentences": [_sentence(sentence) for sentence in one.sentences]}


def _sentence(one: Sentence) -> Value:
    return {"text": one.text, "sources": list(one.sources)}


def _fact(one: Fact) -> Value:
    return {
        "id": one.id,
        "entity": one.entity,
        "kind": one.kind.value,
        "text": one.text,
        "sources": list(one.sources),
        "said": _timestamp(one.said),
        "happened": _timestamp(one.happened),
        "grain": one.grain.value,
        "doubtful": one.doubtful,
        "original": one.original,
        "replaced_by": one.replaced_by,
    }


def _timestamp(moment: Moment | None) -> str | None:
    return moment.isoformat() if moment else None
