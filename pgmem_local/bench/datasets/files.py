"""Where benchmark data lies, and reading JSON and JSON Lines, packed or not."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from pgmem_local.errors import IngestError

One = TypeVar("One")


def shipped(*parts: str) -> Path:
    """A file or folder of the data that comes with the package."""
    return Path(str(resources.files("pgmem_local.bench"))).joinpath("data", *parts)


def chosen(path: Path, pattern: str) -> list[Path]:
    """A file itself, or the files of a folder that match. Raises IngestError where there are none."""
    if path.is_file():
        return [path]
    found = sorted(path.glob(pattern)) if path.is_dir() else []
    if not found:
        raise IngestError(f"{path} holds no {pattern}; give --data a file of this format or a folder with such files")
    return found


def read_json(path: Path) -> Any:
    """One JSON value. Raises IngestError where the file cannot be read as that."""
    try:
        return json.loads(_text(path))
    except ValueError as error:
        raise IngestError(f"{path} is no JSON ({error}); get the file again") from error


def read_lines(path: Path) -> list[dict[str, Any]]:
    """One JSON object a line; blank lines are passed over."""
    try:
        return [json.loads(line) for line in _text(path).splitlines() if line.strip()]
    except ValueError as error:
        raise IngestError(f"{path} is no JSON Lines ({error}); get the file again") from error


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
        return (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise IngestError(f"{path} cannot be read ({error}); check --data") from error


def digest(paths: Iterable[Path]) -> str:
    """What tells one version of some files from another: 16 hex digits of SHA-256 over names and contents."""
    total = hashlib.sha256()
    for path in sorted(paths):
        total.update(path.name.encode())
        total.update(path.read_bytes())
    return total.hexdigest()[:16]


def spread(items: Sequence[One], limit: int | None) -> list[One]:
    """At most `limit` items, evenly over the whole: kinds that follow one another all stay represented."""
    if limit is None or limit >= len(items):
        return list(items)
    return [items[place * len(items) // limit] for place in range(limit)]


def field(record: dict[str, Any], name: str, path: Path) -> Any:
    """A field that every record of a format has. Raises IngestError naming file and record."""
    if name not in record:
        raise IngestError(f"{path}: record {record.get('id', '?')!r} has no {name!r}; see the format's README in bench/data")
    return record[name]
