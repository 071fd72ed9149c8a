"""One module a format, behind one protocol; which of them reads a path is told by its content.

A format recognises its own files and says by what. Where two fit, nothing is guessed: the user names one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone, tzinfo
from typing import Protocol

from pgmem_local.errors import IngestError
from pgmem_local.ingest.reader import Reader
from pgmem_local.ingest.source import Source


@dataclass(frozen=True)
class ReadOptions:
    """What the user has said about the files.

    zone: for times without one; None means this computer's. now: times far after it cannot be true.
    me: the name the owner goes by in two-sided chats. day_first: 03/04 is the third of April; None where the files must show it.
    fields: the user's own names of fields, ours -> theirs (text, timestamp, role, session).
    """

    zone: tzinfo | None = None
    now: datetime = field(default_factory=lambda: datetime.now(timezone.utc))
    me: str | None = None
    day_first: bool | None = None
    fields: Mapping[str, str] = field(default_factory=dict)


class Format(Protocol):
    """A kind of export. `name` is what --format takes, `title` what people call it."""

    name: str
    title: str

    def recognise(self, source: Source) -> str | None:
        """By what these files show themselves to be of this format, in a few words; None where they do not. Reads heads only."""
        ...

    def read(self, source: Source, options: ReadOptions) -> Reader: ...


@dataclass(frozen=True)
class Recognised:
    """The format a path was taken for, and why."""

    format: Format
    reason: str


def recognise(source: Source, formats: Sequence[Format], named: str | None = None) -> Recognised:
    """The one format that fits. Raises IngestError where none does or several do, or none has the name that was given."""
    if named is not None:
        chosen = next((one for one in formats if one.name == named), None)
        if chosen is None:
            raise IngestError(f"no format is called {named!r}; there are {', '.join(one.name for one in formats)}")
        return Recognised(chosen, "named by --format")
    found = [Recognised(one, reason) for one in formats if (reason := one.recognise(source)) is not None]
    if len(found) == 1:
        return found[0]
    if not found:
        known = ", ".join(one.name for one in formats)
        raise IngestError(f"{source.path} is of no format this version reads; name one with --format if it is: {known}")
    fitting = "; ".join(f"{one.format.name} ({one.reason})" for one in found)
    raise IngestError(f"{source.path} could be read as more than one format: {fitting}. Name one with --format")
