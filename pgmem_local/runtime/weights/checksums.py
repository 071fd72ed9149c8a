"""What each pulled file must hash to: the pinned hash, or the one its hub published when it was pulled, kept in checksums.json.

Not a step of the paper. The record lies beside the weights, so a models folder can be copied to a machine without a network and
verified there.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path

from pgmem_local.errors import ModelFileError
from pgmem_local.runtime.weights.registry import FileSpec, ModelSpec

RECORD = "checksums.json"
CHUNK = 1 << 20


class Verdict(Enum):
    GOOD = "good"
    WRONG = "wrong"
    UNKNOWN = "no hash known"
    MISSING = "missing"


@dataclass(frozen=True)
class Checksum:
    """What a pulled file is, and where it came from."""

    sha256: str
    size: int
    source: str


@dataclass(frozen=True)
class Verified:
    """The outcome of hashing one file."""

    model: str
    path: Path
    verdict: Verdict


def sha256_of(path: Path, watch: Callable[[int], None] = lambda done: None) -> str:
    """`watch` hears the bytes read so far."""
    digest, done = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            done += len(chunk)
            watch(done)
    return digest.hexdigest()


def recorded(folder: Path) -> dict[str, Checksum]:
    """Path below the folder -> what was pulled. Empty for a folder that nothing was pulled into."""
    try:
        entries = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        return {path: Checksum(**entry) for path, entry in entries.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, AttributeError) as error:
        raise ModelFileError(f"{folder / RECORD}: damaged; delete it and run `pgmem models verify`") from error


def record(folder: Path, path: str, checksum: Checksum) -> None:
    entries = recorded(folder) | {path: checksum}
    text = json.dumps({key: asdict(entry) for key, entry in sorted(entries.items())}, indent=2)
    aside = folder / f"{RECORD}.new"
    aside.write_text(f"{text}\n", encoding="utf-8")
    os.replace(aside, folder / RECORD)


def expected_sha256(folder: Path, file: FileSpec) -> str | None:
    if file.sha256:
        return file.sha256
    known = recorded(folder).get(file.path)
    return known.sha256 if known else None


def verify(spec: ModelSpec, folder: Path) -> Iterator[Verified]:
    """Hashes every file of a model in one folder."""
    for file in spec.files:
        path = folder / file.path
        yield Verified(spec.name, path, _verdict(path, expected_sha256(folder, file)))


def _verdict(path: Path, sha256: str | None) -> Verdict:
    if not path.is_file():
        return Verdict.MISSING
    if sha256 is None:
        return Verdict.UNKNOWN
    return Verdict.GOOD if sha256_of(path) == sha256 else Verdict.WRONG
