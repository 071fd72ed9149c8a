"""Index files on disk: one hnswlib file a kind and a side file, index.json, that says what they hold.

The side file is written last and names its files by their hash, so a process may die at any moment: what index.json names is
whole, or is noticed not to be. A file is opened only if its embedder, dimension, count, hash and the hash of the very vectors in
SQLite are as noted; any doubt means that the caller builds the index anew.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from pgmem_local.errors import StoreError
from pgmem_local.graph.nodes import Kind, number_of
from pgmem_local.store.embeddings import VectorRows, VectorSpace
from pgmem_local.store.place import private_file
from pgmem_local.store.searchers import HnswSearcher

_FORMAT = 1
_SIDE_FILE = "index.json"


@dataclass(frozen=True)
class IndexFile:
    """One kind's file: its name, how many vectors it holds, its hash, and the hash of those vectors."""

    name: str
    count: int
    sha256: str
    vectors: str


def load(folder: Path, kind: Kind, space: VectorSpace, rows: VectorRows) -> HnswSearcher | None:
    """The saved index of a kind, if it surely holds vectors of these rows and no others; it may lack the latest."""
    noted = _read_side_file(folder, space).get(kind)
    if noted is None:
        return None
    path = folder / noted.name
    try:
        if _hash_file(path) != noted.sha256:
            return None
        searcher = HnswSearcher.load(path, space.dimension)
    except (OSError, RuntimeError):
        return None
    held = searcher.numbers
    return searcher if len(held) == noted.count and _hash_vectors(rows, held) == noted.vectors else None


def save(folder: Path, space: VectorSpace, revision: int, searchers: Mapping[Kind, tuple[HnswSearcher, VectorRows]]) -> None:
    """Write aside, sync, rename; then forget files of earlier saves. Raises StoreError where the disk refuses."""
    try:
        files = {kind: _save_one(folder, kind, searcher, rows) for kind, (searcher, rows) in searchers.items()}
        _write_side_file(folder, space, revision, files)
        _sync_folder(folder)
        kept = {file.name for file in files.values()} | {_SIDE_FILE}
        for path in folder.iterdir():
            if path.name not in kept:
                path.unlink(missing_ok=True)
    except (OSError, RuntimeError) as error:
        raise StoreError(f"cannot save the search index in {folder}: {error}; it is rebuilt next time, free some space") from error


def discard(folder: Path) -> None:
    """Remove all index files. Raises StoreError where the disk refuses."""
    try:
        for path in folder.iterdir():
            path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"cannot remove the search index in {folder}: {error}; delete what is in there") from error


def _save_one(folder: Path, kind: Kind, searcher: HnswSearcher, rows: VectorRows) -> IndexFile:
    aside = folder / f"{kind.value}.{os.getpid()}.tmp"
    private_file(aside)
    searcher.save(aside)
    _sync(aside)
    digest = _hash_file(aside)
    name = f"{kind.value}.{digest[:12]}.hnsw"
    aside.replace(folder / name)
    return IndexFile(name, len(searcher.numbers), digest, _hash_vectors(rows, searcher.numbers))


def _write_side_file(folder: Path, space: VectorSpace, revision: int, files: Mapping[Kind, IndexFile]) -> None:
    kinds = {kind.value: asdict(file) for kind, file in files.items()}
    content = {"format": _FORMAT, **asdict(space), "revision": revision, "kinds": kinds}
    aside = folder / f"{_SIDE_FILE}.{os.getpid()}.tmp"
    private_file(aside)
    aside.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    _sync(aside)
    aside.replace(folder / _SIDE_FILE)


def _read_side_file(folder: Path, space: VectorSpace) -> dict[Kind, IndexFile]:
    """What the side file notes for this embedder; nothing where it is missing, damaged or another's."""
    try:
        content = json.loads((folder / _SIDE_FILE).read_text(encoding="utf-8"))
        if (content["format"], content["identity"], content["dimension"]) != (_FORMAT, space.identity, space.dimension):
            return {}
        return {Kind(name): IndexFile(**fields) for name, fields in content["kinds"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _hash_file(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _hash_vectors(rows: VectorRows, numbers: set[int]) -> str:
    """Hash of the vectors with these numbers; of something else where one of them has no row."""
    held = [row for row, identifier in enumerate(rows.ids) if number_of(identifier) in numbers]
    labels = np.array([number_of(rows.ids[row]) for row in held], dtype="<i8")
    return hashlib.sha256(labels.tobytes() + rows.matrix[held].astype("<f4").tobytes()).hexdigest()


def _sync(path: Path) -> None:
    with path.open("r+b") as file:
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
