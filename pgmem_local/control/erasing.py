"""Forgetting done: rows in one transaction, then the indexes, the files beside the database, free pages and the log.

From that transaction on a note in the database says that the sweep is due, with the words to look for. Whoever opens the memory after a
crash finishes it. Before that transaction nothing has changed.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from pgmem_local.construction.extract import verbatim_episode
from pgmem_local.control import traces
from pgmem_local.control.forgetting import ForgetPlan, Selection, plan_forgetting
from pgmem_local.control.opened import Opened
from pgmem_local.conversation import Moment
from pgmem_local.erasure import Erased, Erasure
from pgmem_local.errors import StoreBusy, StoreError
from pgmem_local.graph.acts import Act, Deed
from pgmem_local.graph.edges import SourceEdge
from pgmem_local.graph.nodes import Context, Episode, Kind, NodeId
from pgmem_local.lesson import Lesson
from pgmem_local.store import MemoryStore, Place
from pgmem_local.store.sqlite import Sweep


@dataclass(frozen=True)
class Swept:
    """What went from the files beside the database: records of the rejects and the chat's history, and whole files."""

    reject_lines: int = 0
    history_lines: int = 0
    files: int = 0


@dataclass(frozen=True)
class Receipt:
    """What a forgetting removed, row by row and file by file.

    entities, facts, sentences, names: what was known of others, and what the owner called them. rewritten: Episodes told anew from what
    stays. to_rebuild: those that the next learning tells anew. read_again: lines that the next learning reads again. files: derived
    files, which are made again.
    """

    contexts: int
    states: int
    episodes: int
    traits: int
    judgements: int
    vectors: int
    entities: int
    facts: int
    sentences: int
    names: int
    rewritten: int
    to_rebuild: int
    read_again: int
    reject_lines: int
    history_lines: int
    files: int


def plan(memory: Opened, selection: Selection) -> ForgetPlan:
    """What would go. What is known of others is counted by erasing it and taking that back: only the store knows what rests on what."""
    memory.refresh()
    found = _plan(memory, selection)
    erased = memory.store.rehearse_erasing(_erasure(found))
    sweep, place = Sweep(found.traces, selection.everything), memory.store.place
    return replace(
        found,
        entities=erased.entities,
        facts=erased.facts,
        sentences=erased.sentences,
        names=erased.names,
        reject_lines=_lines(place.rejects, traces.without_rejects, sweep),
        history_lines=_lines(place.chat_history, traces.without_history, sweep),
    )


def forget(memory: Opened, selection: Selection, now: Moment) -> Receipt:
    """Plan anew and do it: what came in since the owner looked is meant as well."""
    with memory.store.learning():
        memory.refresh()
        found = _plan(memory, selection)
        erased = memory.store.erase(_erasure(found, _retold(memory, found)), Act(Deed.FORGET, now))
        memory.refresh()
        swept = _sweep(memory.store)
        memory.vectors.rebuild()
        memory.store.finish_sweep()
    return _receipt(found, erased, swept)


def take_back(memory: Opened, context: NodeId) -> None:
    """Undo a statement: its line goes, and its State where nothing else says it."""
    with memory.store.learning():
        memory.store.erase(lines_going(memory, (context,)))
        memory.refresh()


def lines_going(memory: Opened, contexts: Sequence[NodeId]) -> Erasure:
    """What goes with these lines, and what that does to the rest."""
    found = _plan(memory, Selection(tuple(contexts)))
    return _erasure(found, _retold(memory, found))


def finish(store: MemoryStore) -> None:
    """Finish the sweep that a process did not live to end; not while another is at it, and not while another still reads."""
    if store.sweep_due() is not None:
        with suppress(StoreBusy), store.learning():
            _sweep(store)
            store.finish_sweep()


def _plan(memory: Opened, selection: Selection) -> ForgetPlan:
    settings = memory.settings.construction
    files = memory.store.files() if selection.source else {}
    return plan_forgetting(memory.graph, selection, files, lambda contexts: verbatim_episode(contexts, settings))


def _erasure(found: ForgetPlan, retold: Lesson | None = None) -> Erasure:
    to_rebuild = [retelling for retelling in found.retold if retelling.text is None]
    return Erasure(
        tuple(node.id for node in found.removed),
        retold or Lesson(),
        tuple(context.id for retelling in to_rebuild for context in retelling.contexts[:1]),
        found.pending_again,
        found.redated,
        found.bridges,
        found.traces,
        traces.patterns(found.selection.text, found.selection.entity, ()),
        found.selection.everything,
        found.files,
    )


def _retold(memory: Opened, found: ForgetPlan) -> Lesson:
    """New Episodes under new ids, so that every index notices, from what stays of the old ones."""
    retellings = [retelling for retelling in found.retold if retelling.text is not None]
    if not retellings:
        return Lesson()
    notes = memory.annotator.annotate([retelling.text or "" for retelling in retellings])
    episodes = [
        Episode(memory.store.next_id(Kind.EPISODE), retelling.text or "", _last(retelling.contexts), note.keywords, note.domains)
        for retelling, note in zip(retellings, notes, strict=True)
    ]
    sources = [
        SourceEdge(context.id, episode.id)
        for episode, retelling in zip(episodes, retellings, strict=True)
        for context in retelling.contexts
    ]
    vectors = {episode.id: note.vector for episode, note in zip(episodes, notes, strict=True)}
    return Lesson(tuple(episodes), vectors, tuple(sources))


def _last(contexts: Sequence[Context]) -> Moment | None:
    return max((context.moment for context in contexts if context.moment), key=lambda moment: moment.utc, default=None)


def _receipt(found: ForgetPlan, erased: Erased, swept: Swept) -> Receipt:
    anew = len(found.retold)
    to_rebuild = sum(retelling.text is None for retelling in found.retold)
    return Receipt(
        erased.contexts,
        erased.states,
        erased.episodes - anew,
        erased.traits,
        erased.judgements,
        erased.vectors,
        erased.entities,
        erased.facts,
        erased.sentences,
        erased.names,
        anew - to_rebuild,
        to_rebuild,
        len(found.pending_again),
        swept.reject_lines,
        swept.history_lines,
        swept.files,
    )


# ------------------------------------------------------------------ files


def _sweep(store: MemoryStore) -> Swept:
    """Take traces out of every file of the profile but the database, whose own pages come last."""
    sweep = store.sweep_due()
    if sweep is None:
        return Swept()
    place = store.place
    return Swept(
        _clear(place.rejects, traces.without_rejects, sweep),
        _clear(place.chat_history, traces.without_history, sweep),
        _discard_derived(place),
    )


def _lines(path: Path, clear: traces.Clearing, sweep: Sweep) -> int:
    return traces.count_all(path, clear) if sweep.everything else traces.count_in(path, clear, sweep.patterns)


def _clear(path: Path, clear: traces.Clearing, sweep: Sweep) -> int:
    if not sweep.everything:
        return traces.clear_from(path, clear, sweep.patterns)
    lines = traces.count_all(path, clear)
    path.unlink(missing_ok=True)
    return lines


def _discard_derived(place: Place) -> int:
    """Remove indexes, evaluated prompts and half-written copies, all of which are made again; how many files."""
    doomed = [path for folder in (place.index_folder, place.model_states) if folder.is_dir() for path in folder.rglob("*")]
    doomed += place.folder.glob("*.tmp")
    files = [path for path in doomed if path.is_file()]
    try:
        for path in files:
            path.unlink(missing_ok=True)
        if place.model_states.is_dir():
            shutil.rmtree(place.model_states)
    except OSError as error:
        raise StoreError(f"cannot remove {error.filename}: {error.strerror}; free it and open the memory again to finish") from error
    return len(files)
