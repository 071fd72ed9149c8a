"""Who is who in chats between people: names as a file gives them -> names fit to keep and to show, and which of them is the owner.

A name is whatever a stranger typed. It becomes one short line without anything that steers a terminal or passes for a role.
Nobody is taken for the owner unless the file itself or the user says so.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field

from pgmem_local.conversation import Moment, Speaker, Turn
from pgmem_local.errors import IngestError
from pgmem_local.ingest.untrusted import printable

NAMELESS = "somebody without a name"
LONGEST_NAME = 60

_NAMES_COUNTED = 5_000
"""Distinct names of one source that are counted. The largest groups have some thousand members."""
_NAMES_LISTED = 20
_JOINS_EMOJI = "\u200d"
_STRUCTURE = re.compile("[:<>|{}\\[\\]]")
_ROLES = frozenset(
    {"user", "assistant", "system", "tool", "function", "developer", "human", "ai", "bot", "model", "owner", "me", "you", "i"}
)


def person_name(given: object) -> str:
    """A name on one line, of sane length; what is no name at all becomes `NAMELESS`."""
    visible = _visible(given)
    if visible.casefold() in _ROLES:
        return f"{visible} (by name)"
    return visible[:LONGEST_NAME].strip() or NAMELESS


def same_name(one: object, other: object) -> bool:
    """Whether two spellings name the same person: case, width, spaces and invisible marks do not count."""
    first, second = (unicodedata.normalize("NFKC", _visible(name)).casefold() for name in (one, other))
    return bool(first) and first == second


def _visible(given: object) -> str:
    """The name without invisible characters, and without those that give a prompt its structure."""
    if not isinstance(given, str):
        return ""
    text = _STRUCTURE.sub(" ", unicodedata.normalize("NFC", printable(given[: 20 * LONGEST_NAME])))
    shown = (
        one
        for one in text
        if one == _JOINS_EMOJI or one.isspace() or unicodedata.category(one) not in ("Cc", "Cf", "Cs", "Co", "Cn")
    )
    return " ".join("".join(shown).split())


@dataclass
class Names:
    """How many messages each name has, from a first pass over the files."""

    counted: Counter[str] = field(default_factory=Counter)

    def add(self, name: str) -> None:
        if name in self.counted or len(self.counted) < _NAMES_COUNTED:
            self.counted[name] += 1

    def update(self, other: Names) -> None:
        for name, times in other.counted.items():
            if name in self.counted or len(self.counted) < _NAMES_COUNTED:
                self.counted[name] += times

    def owner(self, me: str | None, where: object) -> str:
        """The user's own word for the owner, checked against the file. Raises IngestError that lists the names there are."""
        if me is not None and any(same_name(me, name) for name in self.counted):
            return me
        problem = "which of these are you?" if me is None else f"nobody here goes by the name {person_name(me)!r}."
        raise IngestError(f"{where}: {problem} Name yourself with --me: {self._listed()}")

    def _listed(self) -> str:
        most = self.counted.most_common(_NAMES_LISTED)
        shown = ", ".join(f"{person_name(name)!r} ({times})" for name, times in most)
        rest = len(self.counted) - len(most)
        return f"{shown} and {rest} more" if rest else shown or "no message has a name"


def own_or_others(text: str, name: object, is_owner: bool, chat: str, moment: Moment | None) -> Turn:
    """A message of the owner as the user's turn, of anybody else under their name. A chat is one session a day.

    So an Episode tells of a day, and a longer export of the same chat later changes nothing in the days before.
    """
    session = person_name(chat) if moment is None else f"{person_name(chat)} {moment.day.isoformat()}"
    if is_owner:
        return Turn(text, moment, Speaker.USER, session)
    return Turn(text, moment, Speaker.OTHER, session, person_name(name))
