"""Whether a memory is sound: its rows, its search index, its models and the quality of its notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pgmem_local.doctor.findings import Finding, Verdict
from pgmem_local.doctor.hygiene import hygiene
from pgmem_local.errors import PGMemError
from pgmem_local.graph.nodes import Kind
from pgmem_local.memory import PersonaMemory
from pgmem_local.runtime.model_files import find_embedder, find_model

SHOWN = 5
"""Ids that stand for all that share a fault."""
PROBED = 50
"""Vectors of a kind that are looked for in the index; the first must find itself."""
FOUND_AGAIN = 0.9999
"""Cosine of a unit vector with itself, within float32."""


def examine(memory: PersonaMemory) -> list[Finding]:
    """Every check, in the order in which a fault of one explains faults of the next."""
    return [_rows(memory), _index(memory), *_models(memory), *_pending(memory), *hygiene(memory.graph)]


def _rows(memory: PersonaMemory) -> Finding:
    problems = memory.store.integrity_check()
    if not problems:
        return Finding("rows", Verdict.GOOD, "the database keeps its promises")
    return Finding("rows", Verdict.BAD, f"{len(problems)} broken; keep a copy of the folder and report it", tuple(problems[:SHOWN]))


def _index(memory: PersonaMemory) -> Finding:
    lost = [identifier for kind in Kind for identifier in _not_found(memory, kind)]
    if not lost:
        return Finding("index", Verdict.GOOD, "every vector looked for was found")
    return Finding(
        "index", Verdict.BAD, f"{len(lost)} vectors are not found; delete {memory.store.place.index_folder}", tuple(lost[:SHOWN])
    )


def _not_found(memory: PersonaMemory, kind: Kind) -> Iterator[str]:
    """Of some nodes spread over a kind, those that their own vector does not find (or one just like it)."""
    identifiers = memory.store.vector_ids(kind)
    probes = identifiers[:: max(1, len(identifiers) // PROBED)]
    for identifier, vector in zip(probes, memory.store.vectors_of(probes), strict=True):
        best = memory.vectors.nearest(kind, vector, 1)
        if not best or best[0][1] < FOUND_AGAIN:
            yield identifier


def _models(memory: PersonaMemory) -> Iterator[Finding]:
    yield _model("embedder", lambda: find_embedder().spec.name)
    yield _model("chat model", lambda: find_model().name)


def _model(name: str, find: Callable[[], str]) -> Finding:
    try:
        return Finding(name, Verdict.GOOD, f"{find()}: its files are whole; `pgmem models verify` also hashes them")
    except PGMemError as error:
        return Finding(name, Verdict.BAD, str(error))


def _pending(memory: PersonaMemory) -> Iterator[Finding]:
    counts = memory.store.counts()
    if counts["pending"]:
        yield Finding("pending", Verdict.NOTE, f"{counts['pending']} of {counts['context']} entries are not learned yet")
