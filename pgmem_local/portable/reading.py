"""An export in JSON Lines read back. Everything is checked before anything is used: a damaged line is named by its number.

Whole memories come in at once, so a file is all or nothing; a line that cannot be read must be put right, or taken out with all that
rests on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pgmem_local.contents import Chunk, Contents, StoredContext, StoredEntity
from pgmem_local.dates import Grain
from pgmem_local.errors import IngestError
from pgmem_local.graph.acts import Act, Deed
from pgmem_local.graph.edges import Judgement, Relation, SourceEdge
from pgmem_local.graph.nodes import Context, Episode, Node, NodeId, Polarity, RecallPriority, Scope, State, Trait
from pgmem_local.graph.people import EntityId, EntityKind, Fact, FactId, FactKind, Naming, Profile, Sentence
from pgmem_local.portable.fields import Damaged, Fields
from pgmem_local.portable.jsonl import FORMAT, VERSION, Record


@dataclass(frozen=True)
class Note:
    """An Episode, State or Trait with what it was made from."""

    node: Node
    sources: tuple[NodeId, ...]


@dataclass
class Found:
    """The records of a file by kind, each with the number of its line."""

    records: dict[Record, list[tuple[int, Any]]] = field(default_factory=lambda: {record: [] for record in Record})

    def of(self, record: Record) -> tuple[Any, ...]:
        return tuple(value for _, value in self.records[record])


def read(lines: Iterable[bytes], name: str) -> Contents:
    """The contents of an export; `name` is what errors call it. Raises IngestError."""
    found, promised, number = Found(), None, 0
    for number, line in enumerate(lines, 1):
        try:
            if promised is None:
                promised = _promised(_fields(line))
            elif line.strip():
                _take(found, number, _fields(line))
        except Damaged as error:
            raise IngestError(f"{name}, line {number}: {error}; nothing was imported") from error
    if promised is None:
        raise IngestError(f"{name} is empty; name a file that `pgmem export` wrote as JSON Lines")
    _check_counts(found, promised, f"{name}, line {number}")
    _check_references(found, name)
    return _contents(found)


def _fields(line: bytes) -> Fields:
    try:
        return Fields(json.loads(line.decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        raise Damaged(f"byte {error.start + 1} is not UTF-8") from error
    except RecursionError as error:
        raise Damaged("this is no JSON that an export wrote") from error
    except Damaged:
        raise
    except ValueError as error:
        raise Damaged(f"this is no JSON ({error})") from error


def _promised(header: Fields) -> Mapping[Record, int]:
    """How many records of each kind the header promises; kinds it does not name have none."""
    try:
        known = header.text("record") == Record.HEADER.value and header.text("format") == FORMAT
    except Damaged:
        known = False
    if not known:
        raise Damaged("an export begins with a header, and this is none; name a file that `pgmem export` wrote as JSON Lines")
    if (version := header.number("version")) > VERSION:
        raise Damaged(
            f"a newer pgmem-local wrote this (format {version}, this one reads {VERSION}); upgrade with `pip install -U pgmem-local`"
        )
    return header.counts("records", Record)


def _take(found: Found, number: int, fields: Fields) -> None:
    record = fields.choice("record", Record)
    if record is Record.HEADER:
        raise Damaged("a second header; two exports are imported one after the other")
    found.records[record].append((number, _READERS[record](fields)))


# ------------------------------------------------------------------ records


def _chunk(fields: Fields) -> Chunk:
    return Chunk(fields.number("id"), fields.text("label"), fields.flag("closed"), fields.flag("consolidated"))


def _context(fields: Fields) -> StoredContext:
    node = Context(
        **_common(fields, "c"),
        key=fields.text("key"),
        session=fields.text_or_none("session"),
        reply=fields.text_or_none("reply"),
        author=fields.text_or_none("author"),
    )
    return StoredContext(node, fields.number("chunk"), fields.flag("learned"), frozenset(fields.texts("files")))


def _episode(fields: Fields) -> Note:
    return _note(fields, Episode(**_common(fields, "e"), scope=fields.choice("scope", Scope)))


def _state(fields: Fields) -> Note:
    node = State(
        **_common(fields, "s"),
        scope=fields.choice("scope", Scope),
        priority=fields.choice("priority", RecallPriority),
        polarity=fields.choice("polarity", Polarity),
        stated=fields.flag("stated"),
    )
    return _note(fields, node)


def _trait(fields: Fields) -> Note:
    return _note(fields, Trait(**_common(fields, "t"), scope=fields.choice("scope", Scope)))


def _note(fields: Fields, node: Node) -> Note:
    sources = tuple(NodeId(one) for one in fields.identifiers("sources", "cest"))
    if node.id in sources:
        raise Damaged(f"{node.id} is its own source")
    return Note(node, sources)


def _common(fields: Fields, letter: str) -> dict[str, Any]:
    return {
        "id": NodeId(fields.identifier("id", letter)),
        "text": fields.text("text"),
        "moment": fields.moment("timestamp"),
        "keywords": frozenset(fields.texts("keywords")),
        "domains": frozenset(fields.texts("domains")),
    }


def _judgement(fields: Fields) -> Judgement:
    source, target = (NodeId(fields.identifier(name, "cest")) for name in ("source", "target"))
    if source == target:
        raise Damaged(f"{source} is judged against itself")
    return Judgement(source, target, fields.choice("relation", Relation), fields.probability("probability"), fields.text("judge"))


def _pin(fields: Fields) -> NodeId:
    return NodeId(fields.identifier("node", "cest"))


def _act(fields: Fields) -> Act:
    moment = fields.moment("timestamp")
    if moment is None:
        raise Damaged("'timestamp' is missing")
    named = {name: fields.identifier_or_none(name, "cest") for name in ("node", "context", "target")}
    return Act(fields.choice("deed", Deed), moment, **{name: None if one is None else NodeId(one) for name, one in named.items()})


def _entity(fields: Fields) -> StoredEntity:
    identifier = EntityId(fields.identifier("id", "p"))
    namings = tuple(
        Naming(identifier, NodeId(one.identifier("context", "c")), one.text_or_none("name"), one.text_or_none("relation"))
        for one in fields.objects("namings")
    )
    return StoredEntity(identifier, fields.choice("kind", EntityKind), namings, fields.text_or_none("own_name"))


def _profile(fields: Fields) -> Profile:
    return Profile(
        EntityId(fields.identifier("entity", "p")),
        tuple(Sentence(one.text("text"), _contexts(one)) for one in fields.objects("sentences")),
    )


def _fact(fields: Fields) -> Fact:
    replaced_by = fields.identifier_or_none("replaced_by", "f")
    return Fact(
        FactId(fields.identifier("id", "f")),
        EntityId(fields.identifier("entity", "p")),
        fields.choice("kind", FactKind),
        fields.text("text"),
        _contexts(fields),
        fields.moment("said"),
        fields.moment("happened"),
        fields.text_or_none("original"),
        None if replaced_by is None else FactId(replaced_by),
        fields.choice("grain", Grain),
        fields.flag("doubtful"),
    )


def _contexts(fields: Fields) -> tuple[NodeId, ...]:
    return tuple(NodeId(one) for one in fields.identifiers("sources", "c"))


_READERS: Mapping[Record, Callable[[Fields], object]] = {
    Record.CHUNK: _chunk,
    Record.CONTEXT: _context,
    Record.EPISODE: _episode,
    Record.STATE: _state,
    Record.TRAIT: _trait,
    Record.JUDGEMENT: _judgement,
    Record.PIN: _pin,
    Record.ACT: _act,
    Record.ENTITY: _entity,
    Record.PROFILE: _profile,
    Record.FACT: _fact,
}


# ------------------------------------------------------------------ the whole


def _check_counts(found: Found, promised: Mapping[Record, int], end: str) -> None:
    """A file that was cut at the end of a line looks whole, line by line."""
    for record, read_in in found.records.items():
        if record is not Record.HEADER and len(read_in) != promised.get(record, 0):
            raise IngestError(
                f"{end}: the file ends with {len(read_in)} records of kind {record.value}, and its header promises "
                f"{promised.get(record, 0)}; export it again. Nothing was imported"
            )


def _check_references(found: Found, name: str) -> None:
    known: set[object] = set()
    for number, value in _all(found):
        for identifier in _identifiers(value):
            if identifier in known:
                raise IngestError(f"{name}, line {number}: a second record with {_told(identifier)}; nothing was imported")
            known.add(identifier)
    for number, value in _all(found):
        for identifier in _references(value):
            if identifier not in known:
                raise IngestError(f"{name}, line {number}: no record has {_told(identifier)}; nothing was imported")


def _all(found: Found) -> Iterator[tuple[int, object]]:
    return ((number, value) for records in found.records.values() for number, value in records)


def _told(identifier: object) -> str:
    return f"the chunk {identifier}" if isinstance(identifier, int) else f"the id {identifier}"


def _identifiers(value: object) -> Iterator[object]:
    """What a record defines; keys and profiles are named so that no id looks like them."""
    if isinstance(value, StoredContext):
        yield from (value.node.id, f"key {value.node.key}")
    elif isinstance(value, Note):
        yield value.node.id
    elif isinstance(value, Profile):
        yield f"profile of {value.entity}"
    elif isinstance(value, (Chunk, StoredEntity, Fact)):
        yield value.id


def _references(value: object) -> Iterator[object]:
    """What a record needs others to define."""
    if isinstance(value, StoredContext):
        yield value.chunk
    elif isinstance(value, Note):
        yield from value.sources
    elif isinstance(value, Judgement):
        yield from (value.source, value.target)
    elif isinstance(value, StoredEntity):
        yield from (naming.context for naming in value.namings)
    elif isinstance(value, Profile):
        yield value.entity
        yield from (source for sentence in value.sentences for source in sentence.sources)
    elif isinstance(value, Fact):
        yield from (value.entity, *value.sources)
        yield from (one for one in (value.replaced_by,) if one is not None)
    elif isinstance(value, Act):
        yield from (one for one in (value.node, value.context, value.target) if one is not None)
    elif isinstance(value, str):
        yield value


def _contents(found: Found) -> Contents:
    notes: list[Note] = [note for record in (Record.EPISODE, Record.STATE, Record.TRAIT) for note in found.of(record)]
    return Contents(
        chunks=found.of(Record.CHUNK),
        contexts=found.of(Record.CONTEXT),
        notes=tuple(note.node for note in notes),
        sources=tuple(SourceEdge(source, note.node.id) for note in notes for source in note.sources),
        judgements=found.of(Record.JUDGEMENT),
        pins=found.of(Record.PIN),
        acts=found.of(Record.ACT),
        entities=found.of(Record.ENTITY),
        profiles=found.of(Record.PROFILE),
        facts=found.of(Record.FACT),
    )
