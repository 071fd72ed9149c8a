"""Export and import: a memory written in forms that other programs read, and what one of them holds put beside what is here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pgmem_local.contents import Contents, Intake
from pgmem_local.control.opened import Opened
from pgmem_local.errors import IngestError, StoreError
from pgmem_local.graph.nodes import NodeId
from pgmem_local.portable import jsonl
from pgmem_local.portable.formats import Format, format_of, write
from pgmem_local.portable.merging import merge
from pgmem_local.portable.reading import read
from pgmem_local.portable.view import Standing, View, graph_of, people_of
from pgmem_local.ports import Vectors
from pgmem_local.retrieval.assemble import Evidence
from pgmem_local.retrieval.portrait import portrait
from pgmem_local.store.place import private_file

BATCH = 64
"""Texts embedded between two reports."""

Report = Callable[[int, int], None]
"""Hears how many of how many texts are embedded."""


@dataclass(frozen=True)
class Exported:
    """A file that was written: its form, its size in bytes, and the records of each kind that it tells of."""

    path: Path
    format: Format
    size: int
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Imported:
    """What an import read, and what of it was new: records by kind. `pending`: lines that wait for the next learning."""

    path: Path
    read: Mapping[str, int]
    new: Mapping[str, int]
    pending: int


def export(memory: Opened, path: Path, wanted: Format | None) -> Exported:
    """Write a new file that only its owner reads. Raises StoreError where one is there already or its ending names no format."""
    path = path.expanduser().absolute()
    form = wanted or format_of(path)
    if path.exists():
        raise StoreError(f"{path} is there already and is not overwritten; name another file")
    view = _view(memory)
    aside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    private_file(aside)
    try:
        with aside.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(write(view, form))
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}; make room, or name another file") from error
    finally:
        aside.unlink(missing_ok=True)
    return Exported(path, form, path.stat().st_size, jsonl.counts(view.contents))


def export_text(memory: Opened, form: Format) -> Iterator[str]:
    """The same, piece by piece."""
    return write(_view(memory), form)


def _view(memory: Opened) -> View:
    """All there is, read at one moment, with the status that `pgmem me` shows."""
    contents = memory.store.contents()
    graph = graph_of(contents)
    return View(contents, graph, people_of(contents), _standing(portrait(graph, memory.settings.retrieval)))


def _standing(evidence: Evidence) -> dict[NodeId, Standing]:
    return {
        **{one.node.id: Standing.LASTING for one in evidence.traits},
        **{one.trait.node.id: Standing.CHALLENGED for one in evidence.challenged},
        **{one.node.id: Standing.NOW for one in evidence.states},
        **{one.state.node.id: Standing.CHANGED for one in evidence.changed},
        **{one.node.id: Standing.HAPPENED for one in evidence.episodes},
    }


def import_(memory: Opened, path: Path, report: Report) -> Imported:
    """Take in what an export holds and is not here, at once. Raises IngestError on a file that no export wrote, that is damaged or that a
    newer release wrote, and StoreBusy while something is being learned; nothing has changed then."""
    path = path.expanduser().absolute()
    incoming = _read(path)
    with memory.store.learning():
        memory.refresh()
        vectors = _embed(memory, merge(memory.store.contents(), incoming), incoming, report)
        intake = memory.store.take_in(lambda here: merge(here, incoming), vectors)
        memory.refresh()
    return Imported(path, jsonl.counts(incoming), _counts(intake), len(memory.store.pending()))


def _read(path: Path) -> Contents:
    try:
        with path.open("rb") as file:
            return read(file, path.name)
    except OSError as error:
        raise IngestError(f"cannot read {path}: {error.strerror}; name a file that `pgmem export` wrote as JSON Lines") from error


def _embed(memory: Opened, intake: Intake, incoming: Contents, report: Report) -> dict[NodeId, Vectors]:
    """Vectors of the nodes that are new, by the ids they come with."""
    fresh = {one.node.id for one in intake.contexts} | {note.id for note in intake.lesson.nodes}
    nodes = [node for node in incoming.nodes if intake.ids[node.id] in fresh]
    found: dict[NodeId, Vectors] = {}
    for start in range(0, len(nodes), BATCH):
        batch = nodes[start : start + BATCH]
        notes = memory.annotator.annotate([node.text for node in batch])
        found |= {node.id: note.vector for node, note in zip(batch, notes, strict=True)}
        report(len(found), len(nodes))
    return found


def _counts(intake: Intake) -> dict[str, int]:
    """What came in, in the words of an export's header."""
    lesson, people = intake.lesson, intake.lesson.people
    kinds = [note.kind.value for note in lesson.nodes]
    return {
        "context": len(intake.contexts),
        **{kind: kinds.count(kind) for kind in ("episode", "state", "trait")},
        "judgement": len(lesson.judgements),
        "pin": len(intake.pins),
        "act": len(intake.acts),
        "entity": len(people.kinds) if people else 0,
        "profile": len(people.profiles) if people else 0,
        "fact": len(people.facts) if people else 0,
    }
