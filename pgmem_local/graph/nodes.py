"""The four node kinds of the persona-memory graph (PGMem, section 4.1.1)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NewType

from pgmem_local.conversation import Moment

NodeId = NewType("NodeId", str)
"""A kind's letter and a number that is never used twice: c12, e3, s40, t2."""


class Kind(str, Enum):
    """Node kinds; events are Context and Episode, persona are State and Trait."""

    CONTEXT = "context"
    EPISODE = "episode"
    STATE = "state"
    TRAIT = "trait"


class Scope(str, Enum):
    """How wide a topic a node covers; broad nodes lean less on shared words (equation 6)."""

    NARROW = "narrow"
    BROAD = "broad"


class RecallPriority(str, Enum):
    """Whether a State should stay in view even when a question does not resemble it."""

    HIGH = "high"
    LOW = "low"


class Polarity(str, Enum):
    """Whether a State affirms or denies; merging and judging never ignore it (not in the paper)."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    NEUTRAL = "neutral"


@dataclass(frozen=True)
class Context:
    """[c] One raw exchange, verbatim. `text` is the user's words, `reply` what the assistant answered.

    author: who said it, where it was not the user: it tells of that person and reveals no State of the user.
    """

    id: NodeId
    text: str
    moment: Moment | None
    keywords: frozenset[str]
    domains: frozenset[str]
    key: str
    session: str | None = None
    reply: str | None = None
    author: str | None = None
    kind = Kind.CONTEXT
    scope = Scope.NARROW


@dataclass(frozen=True)
class Episode:
    """[e] What happened in one chunk: a session, or a day of a diary. `moment` is that of its last exchange."""

    id: NodeId
    text: str
    moment: Moment | None
    keywords: frozenset[str]
    domains: frozenset[str]
    scope: Scope = Scope.NARROW
    kind = Kind.EPISODE


@dataclass(frozen=True)
class State:
    """[s] A time-bounded signal about the user: preference, constraint, goal, stance or situation.

    stated: the owner said so outright, in these words; it outranks what was inferred (not in the paper).
    """

    id: NodeId
    text: str
    moment: Moment | None
    keywords: frozenset[str]
    domains: frozenset[str]
    scope: Scope = Scope.NARROW
    priority: RecallPriority = RecallPriority.LOW
    polarity: Polarity = Polarity.NEUTRAL
    stated: bool = False
    kind = Kind.STATE


@dataclass(frozen=True)
class Trait:
    """[t] A persistent disposition inferred from several contexts, states and episodes."""

    id: NodeId
    text: str
    moment: Moment | None
    keywords: frozenset[str]
    domains: frozenset[str]
    scope: Scope = Scope.BROAD
    kind = Kind.TRAIT


Node = Context | Episode | State | Trait

_LETTER = {Kind.CONTEXT: "c", Kind.EPISODE: "e", Kind.STATE: "s", Kind.TRAIT: "t"}
_KIND = {letter: kind for kind, letter in _LETTER.items()}


def node_id(kind: Kind, number: int) -> NodeId:
    """The id of the `number`-th node of a kind."""
    return NodeId(f"{_LETTER[kind]}{number}")


def kind_of(identifier: NodeId) -> Kind:
    """The kind an id names; raises KeyError on an id of no kind."""
    return _KIND[identifier[:1]]


def number_of(identifier: NodeId) -> int:
    """The number within its kind: the label a vector index knows the node by."""
    return int(identifier[1:])
