"""Values out of a JSON file of any size, one at a time, as far as the file is sound. The parsing is ijson's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import ijson

from pgmem_local.ingest.records import Record, RecordReader
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.source import Source, head

UNUSABLE = (ijson.JSONError, ValueError, OverflowError, RecursionError)


def first_byte(head: bytes) -> bytes:
    """What a JSON text begins with: b"[" for a list, b"{" for an object."""
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]


def json_files(source: Source, named: str) -> list[str]:
    """The file that was given, whatever its name; in a folder or archive, the JSON files whose name has `named` in it."""
    if len(source.names) == 1:
        return list(source.names)
    found = [(name, name.rpartition("/")[2].casefold()) for name in source.names]
    return [name for name, short in found if short.endswith(".json") and named in short]


def begins_with_key(source: Source, name: str, *keys: bytes) -> bool:
    """A list or an object, at whose beginning these keys stand."""
    start = head(source, name)
    return first_byte(start) in (b"[", b"{") and all(b'"' + key + b'"' in start for key in keys)


def json_records(reader: RecordReader[Any], name: str, *places: str, start: int = 1) -> Iterator[Record[Any] | Reject]:
    """The values at these places of a file (in ijson's words: "item", "chats.list.item") as records, in the order of the file.

    Where the file breaks off or is damaged, what came before stays and the rest is one reject.
    """
    number = start
    with reader.open(name) as file:
        for found in sound_values(file, *places):
            if isinstance(found, Damage):
                yield cut_off(reader, name, number, found)
            else:
                yield Record(reader.shown(name), number, found[1])
                number += 1


@dataclass(frozen=True)
class Damage:
    """What ends a file that is JSON no further."""

    problem: str


def cut_off(reader: RecordReader[Any], name: str, number: int, damage: Damage) -> Reject:
    """The rest of a file, from this record on."""
    reason = f"not valid JSON after record {number - 1}, so that the rest cannot be read: {damage.problem}; export it again"
    return Reject(reader.shown(name), number, reason, "")


def sound_values(file: BinaryIO, *places: str) -> Iterator[tuple[str, Any] | Damage]:
    """(place, value) for each value at one of these places, and at last the damage, if there is any."""
    try:
        yield from values_at(file, *places)
    except UNUSABLE as error:
        yield Damage(_brief(error))


def values_at(file: BinaryIO, *places: str) -> Iterator[tuple[str, Any]]:
    """(place, value) for each value at one of these places."""
    if len(places) == 1:
        for value in ijson.items(file, places[0], use_float=True):  # all in C
            yield places[0], value
        return
    builder, inside = None, ""
    for place, event, value in ijson.parse(file, use_float=True):
        if builder is None and place in places:
            builder, inside = ijson.ObjectBuilder(), place
        if builder is None:
            continue
        builder.event(event, value)
        if place == inside and event not in ("start_map", "start_array", "map_key"):
            yield inside, builder.value
            builder = None


def _brief(error: Exception) -> str:
    return " ".join(str(error).split())[:120]
