"""Entries that were edited after they had been ingested (not in the paper): told from new ones, and put in the place of the old.

An entry may be a new version of a stored one where both are of one speaker and one instant, neither is part of a chat, and at least half
of its words stood in the stored one. It is one where nothing else could be meant, the stored one came from the same file or from one
whose entries stand in this file too, and it is not in what was read. That is known at the end, so such entries wait until then.
What the owner has pinned, corrected or stated rests on lines that stay.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from itertools import groupby
from pathlib import Path

from pgmem_local.control import erasing
from pgmem_local.control.opened import Opened
from pgmem_local.conversation import Exchange
from pgmem_local.erasure import Erasure
from pgmem_local.graph.acts import Act
from pgmem_local.graph.nodes import Context, Kind, NodeId
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.store.sqlite import Added, Arrival
from pgmem_local.words import keywords

SHARED = 0.5
"""How much of a new version its earlier one must hold."""
_MIDNIGHT = time()


@dataclass(frozen=True)
class Edit:
    """A new version of a stored entry, and the file it was read from."""

    exchange: Exchange
    file: Path
    earlier: Context


@dataclass(frozen=True)
class Settled:
    """What became of the entries that waited: new versions, and those that are entries of their own, with their files."""

    edits: tuple[Edit, ...]
    others: tuple[tuple[Exchange, Path], ...]


@dataclass(frozen=True)
class _Waiting:
    exchange: Exchange
    file: Path
    resembled: tuple[Context, ...]


class EditedEntries:
    """The entries of one run that may be new versions of what was stored before it."""

    def __init__(self, graph: PersonaGraph, files: Mapping[NodeId, frozenset[str]], acts: Iterable[Act]) -> None:
        self._files = files
        self._stay = _decided_on(graph, acts)
        self._stored: dict[datetime, list[Context]] = defaultdict(list)
        for node in graph.of_kind(Kind.CONTEXT):
            if isinstance(node, Context) and node.moment is not None:
                self._stored[node.moment.utc].append(node)
        self._origins: dict[Path, set[str]] = defaultdict(set)
        self._waiting: list[_Waiting] = []

    def hold_back(self, exchanges: Iterable[Exchange], file: Path) -> list[Exchange]:
        """Those of the exchanges that can be stored at once; the others wait."""
        return [exchange for exchange in exchanges if not self._must_wait(exchange, file)]

    def _must_wait(self, exchange: Exchange, file: Path) -> bool:
        moment = exchange.said.moment
        stored = self._stored.get(moment.utc, ()) if moment else ()
        known = next((one for one in stored if one.key == exchange.key), None)
        if known is not None:
            self._stay.add(known.id)
            self._origins[file] |= self._files.get(known.id, frozenset())
            return False
        resembled = tuple(one for one in stored if _resembles(exchange, one))
        if resembled:
            self._waiting.append(_Waiting(exchange, file, resembled))
        return bool(resembled)

    def settled(self, cut_short: Collection[Path] = ()) -> Settled:
        """What became of those that waited, once all is read. Of files that were cut short nobody knows what else they hold."""
        claims = Counter(one for _, one in {(waiting.exchange.key, one.id) for waiting in self._waiting for one in waiting.resembled})
        edits: dict[str, Edit] = {}
        others: list[tuple[Exchange, Path]] = []
        for one in self._waiting:
            if one.exchange.key in edits or one.file in cut_short or not self._is_edit(one, claims):
                others.append((one.exchange, one.file))
            else:
                edits[one.exchange.key] = Edit(one.exchange, one.file, one.resembled[0])
        return Settled(tuple(edits.values()), tuple(others))

    def _is_edit(self, waiting: _Waiting, claims: Mapping[NodeId, int]) -> bool:
        """Whether it is the one entry for the one stored entry that may be meant, which may go and is of the same diary."""
        if len(waiting.resembled) > 1:
            return False
        earlier = waiting.resembled[0].id
        origins = {str(waiting.file)} | self._origins[waiting.file]
        return claims[earlier] == 1 and earlier not in self._stay and not origins.isdisjoint(self._files.get(earlier, ()))


def _decided_on(graph: PersonaGraph, acts: Iterable[Act]) -> set[NodeId]:
    """The lines behind everything the owner pinned, corrected or stated."""
    named = {*graph.pinned, *(one for act in acts for one in (act.node, act.context, act.target) if one is not None)}
    return {line for one in named if one in graph for line in graph.contexts_behind(one)}


def _resembles(exchange: Exchange, stored: Context) -> bool:
    """Whether two entries of one instant may be versions of one. Midnight is how a bare date is stored: a day has many entries."""
    said = exchange.said
    if said.moment is None or said.moment.local.time() == _MIDNIGHT or said.author != stored.author:
        return False
    if any(part is not None for part in (said.session, stored.session, exchange.reply, stored.reply)):
        return False
    words = keywords(said.text)
    return bool(words) and len(words & keywords(stored.text)) >= SHARED * len(words)


def replace_earlier(memory: Opened, edits: Sequence[Edit]) -> Added:
    """Put new versions in the place of what was stored, file by file: the old line goes with what rests on it alone, the new one waits to
    be learned. Raises StoreBusy while something is being learned."""
    changed: list[NodeId] = []
    with memory.store.learning():
        for file, group in groupby(edits, key=lambda edit: edit.file):
            changed += _replace(memory, list(group), file)
    return Added(changed=tuple(changed), known=len(edits) - len(changed))


def _replace(memory: Opened, edits: Sequence[Edit], file: Path) -> tuple[NodeId, ...]:
    memory.refresh()
    earlier = tuple(edit.earlier.id for edit in edits if edit.earlier.id in memory.graph)
    erasure = erasing.lines_going(memory, earlier) if earlier else Erasure()
    notes = memory.annotator.annotate([edit.exchange.said.text for edit in edits])
    arrivals = [
        Arrival(edit.exchange, note.keywords, note.domains, note.vector) for edit, note in zip(edits, notes, strict=True)
    ]
    added = memory.store.replace(erasure, arrivals, str(file))
    memory.refresh()
    return added.new
