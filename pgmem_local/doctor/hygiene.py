"""Whether the notes are worth keeping: copies, notes that their sources do not bear out, lost dates, foreign languages, loops.

Every share has a bound beyond which something is wrong with the model or with us; they are set so that a memory of real entries
passes and the failures known of other memories (hundreds of copies, invented facts, most facts retired) do not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property

from pgmem_local.construction.extract import SUPPORTED_SHARE, TRAIT_WITNESSES
from pgmem_local.doctor.findings import Share
from pgmem_local.doctor.language import language_of
from pgmem_local.graph.nodes import Context, Kind, Node, NodeId, State
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.words import keywords

DUPLICATES, UNSUPPORTED, UNDATED, LOST_DATES, WRONG_LANGUAGE, DEGENERATE, INVALIDATED = 0.10, 0.02, 0.50, 0.0, 0.05, 0.01, 0.50

_SUBJECT = re.compile(r"^(The )?[Uu]ser('s)?\b")
_LOOP = re.compile(r"(.{2,80}?)\1{3,}", re.DOTALL)
"""The same two to eighty characters four times in a row."""
_DEBRIS = re.compile(r"<\|[^|]{1,40}\|>|</?think>|�|[\x00-\x08\x0b-\x1f]")


def hygiene(graph: PersonaGraph) -> tuple[Share, ...]:
    """The seven shares of a memory."""
    notes = _Notes(graph)
    held, told, written = len(notes.current), len(notes.all), len(notes.written)
    return (
        Share.measured("duplicates", notes.where(notes.repeats), held, DUPLICATES, "current notes say what another says"),
        Share.measured("unsupported", notes.where(notes.unsupported), told, UNSUPPORTED, "notes do not rest on their sources"),
        Share.measured("undated", notes.where(notes.is_undated), told, UNDATED, "notes have no date"),
        Share.measured("lost dates", notes.where(notes.lost_its_date), told, LOST_DATES, "notes have none, but their sources do"),
        Share.measured("wrong language", notes.where(notes.is_foreign), told, WRONG_LANGUAGE, "notes are not in their sources' language"),
        Share.measured("degenerate", notes.where(notes.is_degenerate), written, DEGENERATE, "texts loop or hold a model's debris"),
        Share.measured("invalidated", notes.where(notes.is_replaced), len(notes.states), INVALIDATED, "states were replaced by newer ones"),
    )


class _Notes:
    """States and Traits of a graph with what they rest on; Episodes where the model may have written them."""

    def __init__(self, graph: PersonaGraph) -> None:
        self._graph = graph
        self.states = [node for node in graph.of_kind(Kind.STATE) if isinstance(node, State)]
        self.all: list[Node] = [*self.states, *graph.of_kind(Kind.TRAIT)]
        self.written: list[Node] = [*self.all, *graph.of_kind(Kind.EPISODE)]
        self.current = [node for node in self.all if not graph.replaced_by(node.id)]
        self._replies = _replies_by_session(graph)

    def where(self, fault: Callable[[Node], bool]) -> list[NodeId]:
        return [node.id for node in self.written if fault(node)]

    @cached_property
    def _copies(self) -> frozenset[NodeId]:
        """Of notes that hold now with the same words and polarity, all but the first."""
        seen: set[tuple[object, ...]] = set()
        copies = []
        for node in self.current:
            said = (node.kind, keywords(_told(node)), node.polarity if isinstance(node, State) else None)
            copies += [node.id] if said in seen else []
            seen.add(said)
        return frozenset(copies)

    def repeats(self, node: Node) -> bool:
        return node.id in self._copies

    def unsupported(self, node: Node) -> bool:
        """A State needs words of its Contexts or of what they answered, a Trait two witnesses; a summary may choose its words."""
        if node.kind is Kind.TRAIT:
            return len(self._graph.sources(node.id)) < TRAIT_WITNESSES
        claimed = keywords(_told(node))
        if node.kind is not Kind.STATE or not claimed:
            return False
        said = keywords(" ".join(self._said(node)))
        return any(word.isdigit() for word in claimed - said) or len(claimed & said) < SUPPORTED_SHARE * len(claimed)

    def is_replaced(self, node: Node) -> bool:
        return node.kind is Kind.STATE and bool(self._graph.replaced_by(node.id))

    def is_undated(self, node: Node) -> bool:
        return node.kind is not Kind.EPISODE and node.moment is None

    def lost_its_date(self, node: Node) -> bool:
        return self.is_undated(node) and any(context.moment for context in self._contexts(node))

    def is_foreign(self, node: Node) -> bool:
        if node.kind is Kind.EPISODE:
            return False
        here, there = language_of(_told(node)), language_of(" ".join(context.text for context in self._contexts(node)))
        return None not in (here, there) and here != there

    def is_degenerate(self, node: Node) -> bool:
        """Loops and debris that the owner did not write himself."""
        own_words = "".join(context.text for context in self._contexts(node)).casefold()
        text = node.text.casefold()
        loops = (found.group(1) * 4 for found in _LOOP.finditer(text))
        return any(fault.strip() and fault not in own_words for fault in (*loops, *_DEBRIS.findall(text)))

    def _contexts(self, node: Node) -> Iterator[Context]:
        found = (self._graph[identifier] for identifier in self._graph.contexts_behind(node.id))
        return (context for context in found if isinstance(context, Context))

    def _said(self, node: Node) -> Iterator[str]:
        for context in self._contexts(node):
            yield context.text
            if context.session is not None:
                yield from self._replies.get(context.session, ())


def _replies_by_session(graph: PersonaGraph) -> dict[str, list[str]]:
    replies: dict[str, list[str]] = {}
    for node in graph.of_kind(Kind.CONTEXT):
        if isinstance(node, Context) and node.session is not None and node.reply:
            replies.setdefault(node.session, []).append(node.reply)
    return replies


def _told(node: Node) -> str:
    """A note without "User", which we write before it in any language."""
    return _SUBJECT.sub("", node.text)
