"""Records with named fields -> turns, generous about the names and never about what a record says: JSON Lines and tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from pgmem_local.conversation import Speaker, Turn
from pgmem_local.errors import IngestError
from pgmem_local.ingest.records import LeftOut, Record, RecordReader, Rejected
from pgmem_local.ingest.untrusted import clean

TEXT_NAMES = ("text", "content", "body", "entry", "message", "note", "notes")
_NAMES = {
    "text": TEXT_NAMES,
    "timestamp": ("timestamp", "ts", "time", "date", "createdat", "datetime"),
    "role": ("role", "speaker", "author", "sender"),
    "session": tuple(name + ending for name in ("session", "conversation", "chat", "thread") for ending in ("", "id")),
}
_SPEAKERS = {
    **dict.fromkeys(("user", "human", "me", "owner"), Speaker.USER),
    **dict.fromkeys(("assistant", "ai", "bot", "model"), Speaker.ASSISTANT),
}
_OTHER_ROLES = ("system", "developer", "tool", "function")

Content = TypeVar("Content")


def names_of_fields(own: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The names of our fields in the file, the user's before the usual ones. Raises IngestError for a field we do not have."""
    unknown = own.keys() - _NAMES.keys()
    if unknown:
        raise IngestError(f"there is no field {min(unknown)!r} to map to; there are {', '.join(_NAMES)}")
    return {field: ((plain(own[field]),) if field in own else ()) + names for field, names in _NAMES.items()}


def turn_of(
    reader: RecordReader[Content], record: Record[Content], fields: dict[str, Any], names: dict[str, tuple[str, ...]]
) -> Turn | LeftOut:
    """What a record with these fields (by their `plain` names) says. Raises Rejected."""
    role = _role(fields, names["role"])
    speaker = _SPEAKERS.get(role)
    if speaker is None:
        return LeftOut(f"{_named(role)} that is neither the user's nor the assistant's")
    text = _text(fields, names["text"])
    if not clean(text).strip():
        return LeftOut("a record whose text is blank")
    moment = reader.moment(record, _time(fields, names["timestamp"]))
    return Turn(text, moment, speaker, _session(fields, names["session"]))


def kind(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    names = {type(None): "null", bool: "true or false", str: "a string", list: "a list", int: "a number", float: "a number"}
    return names[type(value)]


def plain(name: str) -> str:
    """createdAt, created_at and "Created at" are one name."""
    return re.sub(r"[\s_-]", "", name).casefold()


def _first(record: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((record[name] for name in names if record.get(name) not in (None, "")), None)


def _role(record: dict[str, Any], names: tuple[str, ...]) -> str:
    """Who speaks, by the file's own word; the user where nothing is said about it, as in a diary."""
    role = _first(record, names)
    if role is None:
        return "user"
    if not isinstance(role, str):
        raise Rejected(f"the role is {kind(role)}, not a word such as 'user' or 'assistant'")
    return role.strip().casefold()


def _named(role: str) -> str:
    """Known roles by name, all others as one: notes are counted by their wording, which a file must not be able to multiply."""
    return f"role '{role}'" if role in _OTHER_ROLES else "a role"


def _text(record: dict[str, Any], names: tuple[str, ...]) -> str:
    """The first text that holds words, else one that is blank; a record where there is none is not what it should be."""
    texts = [text for name in names if (text := _joined(record.get(name))) is not None]
    if texts:
        return next((text for text in texts if clean(text).strip()), texts[0])
    raise Rejected(f"no text: there is none of {', '.join(names)}")


def _joined(content: object) -> str | None:
    """A text, also where it comes in parts; None where something else than text is among them."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [part.get("text") if isinstance(part, dict) else part for part in content]
    texts = [part for part in parts if isinstance(part, str)]
    return "\n".join(texts) if len(texts) == len(parts) else None


def _time(record: dict[str, Any], names: tuple[str, ...]) -> object:
    day, clock = record.get("date"), record.get("time")
    if isinstance(day, str) and isinstance(clock, str) and re.match(r"\s*[0-9]{1,2}:[0-9]{2}", clock):
        return f"{day.strip()} {clock.strip()}"
    return _first(record, names)


def _session(record: dict[str, Any], names: tuple[str, ...]) -> str | None:
    name = _first(record, names)
    return str(name) if isinstance(name, (str, int)) and not isinstance(name, bool) else None
