"""The last line of Algorithm 2: Evidence comes in, the text a model reads comes out, by kind and status, dated and labelled.

Each entry is one line that begins with a small integer in brackets, the label an answer cites it by. Stored text is data:
it stays on its line and its brackets become round, so that it can forge neither a heading nor a label. Where the token
budget is too small, whole lines go, lowest φ first: ψ has chosen what is evidence, and what is left out then is what bears least on
the question.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pgmem_local.conversation import Moment, written_day
from pgmem_local.dates import WEEKDAYS
from pgmem_local.graph.nodes import Context, Node, NodeId
from pgmem_local.retrieval.assemble import ChallengedTrait, ChangedState, Evidence, Ranked
from pgmem_local.retrieval.seed import precedence
from pgmem_local.sentences import sentences

_NOW = "Now:"
_EARLIER = "Earlier, since changed:"
_LASTING = "Lasting traits:"
_CHALLENGED = "Challenged traits:"
_HAPPENED = "What happened:"

_REFERENCES_SHOWN = 3
_ROUND = str.maketrans("[]［］⁅⁆〚〛【】", "()()()()()")
_SPELLED = re.compile(r"(?P<words>\w*) \((?:(?P<named>[^()]*), )?(?P<day>\d{4}-\d\d-\d\d)\)")
_WEEKDAYS = tuple(WEEKDAYS)
_INVISIBLE = frozenset({"Cc", "Cs"})
"""Control characters and halves of surrogate pairs. Format characters stay: scripts and emoji need their joiners."""


@dataclass(frozen=True)
class Serialised:
    """The lines as one text, and which node each label stands for."""

    text: str = ""
    labels: Mapping[int, NodeId] = field(default_factory=dict)


@dataclass(frozen=True)
class _Line:
    """An entry under its heading, when it held, and which other nodes bear on it in which way."""

    heading: str
    entry: Ranked
    dates: str
    bearing: tuple[tuple[str, tuple[Node, ...]], ...] = ()


def serialise(evidence: Evidence, budget: int, count: Callable[[str], int], first: int = 1) -> Serialised:
    """The evidence within `budget` tokens, as `count` counts them, numbered from `first` on. Nothing at all where no line fits."""
    lines = _lines(evidence)
    strongest_first = sorted(range(len(lines)), key=lambda at: _strength(lines[at].entry))
    for kept in range(len(lines), 0, -1):
        written = _write([lines[at] for at in sorted(strongest_first[:kept])], first)
        if count(written.text) <= budget:
            return written
    return Serialised()


def _strength(entry: Ranked) -> tuple[bool, float, float, float, str, int]:
    return (not entry.pinned, -entry.phi, -entry.psi, *precedence(entry.node))


def _lines(evidence: Evidence) -> list[_Line]:
    """All lines in reading order: what holds comes before what no longer does."""
    return [
        *(_Line(_NOW, entry, day_told(entry.node.text, entry.node.moment)) for entry in evidence.states),
        *(_Line(_LASTING, entry, day(entry.node)) for entry in evidence.traits),
        *map(_challenged_line, evidence.challenged),
        *map(_changed_line, evidence.changed),
        *(_Line(_HAPPENED, entry, day(entry.node)) for entry in evidence.episodes),
    ]


def _challenged_line(one: ChallengedTrait) -> _Line:
    bearing = ("against it", one.contradicted_by), ("replaced by", one.replaced_by)
    return _Line(_CHALLENGED, one.trait, day(one.trait.node), tuple((how, nodes) for how, nodes in bearing if nodes))


def _changed_line(one: ChangedState) -> _Line:
    dates = f"{day(one.state.node)} until {day(one.replaced_by)}"
    return _Line(_EARLIER, one.state, dates, (("then", (one.replaced_by,)),))


def _write(lines: Sequence[_Line], first: int) -> Serialised:
    labels = {number: line.entry.node.id for number, line in enumerate(lines, start=first)}
    label_of = {identifier: number for number, identifier in labels.items()}
    written: list[str] = []
    heading = ""
    for number, line in enumerate(lines, start=first):
        if line.heading != heading:
            heading = line.heading
            written.append(heading)
        remarks = "".join(f" ({how}: {_refer(nodes, label_of)})" for how, nodes in line.bearing)
        written.append(f"[{number}] {line.dates}{remarks}: {on_one_line(told(line.entry.node))}")
    return Serialised("\n".join(written), labels)


def _refer(nodes: Sequence[Node], label_of: Mapping[NodeId, int]) -> str:
    """Other nodes by their labels; the words of the first where none of them has a line of its own."""
    labels = [f"[{label_of[node.id]}]" for node in nodes if node.id in label_of]
    return ", ".join(labels[:_REFERENCES_SHOWN]) or on_one_line(nodes[0].text)


def told(node: Node) -> str:
    """The text of a node; what somebody else said is said by them, not by the user."""
    author = node.author if isinstance(node, Context) else None
    return node.text if author is None else f"{author}: {node.text}"


def day(node: Node) -> str:
    return written_day(node.moment)


def day_told(text: str, said: Moment | None) -> str:
    """The day a note is of: the one day before it was said that its one sentence spells out, else the day it was said. A small model
    takes the day in front of a line for that of what it tells. A weekday may be the one before or the one to come, and decides nothing."""
    spelled = list(_SPELLED.finditer(text))
    said_on = written_day(said)
    if len(spelled) != 1 or len(sentences(text)) != 1 or (spelled[0]["named"] or spelled[0]["words"]).lower().endswith(_WEEKDAYS):
        return said_on
    return min(spelled[0]["day"], said_on)


def on_one_line(text: str) -> str:
    """Stored text without line ends, control characters and square brackets."""
    flat = " ".join(text.split())
    visible = "".join(character for character in flat if unicodedata.category(character) not in _INVISIBLE)
    return visible.translate(_ROUND)
