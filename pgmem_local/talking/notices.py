"""What was learned just now, in one quiet line: "noted: drinks jasmine tea; now past: drinks espresso"."""

from __future__ import annotations

from collections.abc import Callable

from pgmem_local.graph.edges import Relation
from pgmem_local.graph.nodes import Kind, Node, NodeId
from pgmem_local.lesson import Lesson

_SUBJECT = "User "


def notice(lesson: Lesson, node: Callable[[NodeId], Node]) -> str | None:
    """What a lesson changed about the user; None where it changed nothing that they would want to hear of."""
    new = [_plainly(one) for one in lesson.nodes if one.kind in (Kind.STATE, Kind.TRAIT)]
    past = [_plainly(node(one.source)) for one in lesson.judgements if one.relation is Relation.SHIFT_TO]
    parts = [f"{what}: {', '.join(dict.fromkeys(texts))}" for what, texts in (("noted", new), ("now past", past)) if texts]
    return "; ".join(parts) or None


def _plainly(node: Node) -> str:
    """A note without the subject that all of them have."""
    return " ".join(node.text.removeprefix(_SUBJECT).split()).rstrip(".")
