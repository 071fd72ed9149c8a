"""Data that others made: never shipped, found in a folder of yours, and told by name where it is missing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pgmem_local.errors import IngestError

ENVIRONMENT = "PGMEM_BENCH_DATA"


@dataclass(frozen=True)
class ForeignData:
    """A published data set. files: what it needs, each under one of the names parted by `|`, files without `.gz`, folders with a `/`.

    The first names are those of a compact copy of our own making, the others those of the original distribution.
    """

    name: str
    about: str
    published: str
    licence: str
    files: tuple[str, ...]


PREFEVAL = ForeignData(
    "PrefEval", "preferences stated in chats, with questions that tempt to forget them", "amazon-science/PrefEval on GitHub",
    "CC BY-NC 4.0", ("prefeval.jsonl|benchmark_dataset/",),
)  # fmt: skip
PERSONAMEM = ForeignData(
    "PersonaMem 32k", "long chats of changing personas with multiple-choice questions", "bowen-upenn/PersonaMem on Hugging Face",
    "not stated: ask its authors before any use beyond local evaluation",
    ("questions_32k.jsonl|questions_32k.csv", "shared_contexts_32k.jsonl|shared_contexts_32k_partial.jsonl"),
)  # fmt: skip
LOCOMO = ForeignData(
    "LoCoMo", "ten very long conversations of two friends with 1,986 questions", "snap-research/locomo on GitHub", "CC BY-NC 4.0",
    ("locomo10.json",),
)  # fmt: skip
IMPLEXCONV = ForeignData(
    "ImplexConv, opposed reasoning", "chats in which a later session speaks against an earlier trait",
    "Kaylee0501/ImplexConv on Hugging Face",
    "not stated: ask its authors before any use beyond local evaluation",
    ("opposed_44q.jsonl|opposed_5session.jsonl|ImplexConv_opposed.json|ImplexConv_opposed_processed.json",),
)  # fmt: skip
MEMDAILY = ForeignData(
    "MemDaily", "daily messages in Chinese with multiple-choice questions", "nuster1128/MemSim on GitHub",
    "not stated: ask its authors before any use beyond local evaluation", ("memdaily.jsonl|memdaily.json|messages_and_QAs/",),
)  # fmt: skip


def locate(wanted: ForeignData, data: Path | None, environment: Mapping[str, str] = os.environ) -> list[Path]:
    """One file for each that the data set needs, in --data or the folder PGMEM_BENCH_DATA names. Raises IngestError with what to get."""
    root = data or (Path(environment[ENVIRONMENT]).expanduser() if environment.get(ENVIRONMENT) else None)
    if root is not None and root.is_file() and len(wanted.files) == 1:
        return [root]
    found = [path for names in wanted.files if root is not None and (path := _find(root, names.split("|"))) is not None]
    if len(found) < len(wanted.files):
        where = f"not in {root}" if root is not None else "not installed"
        files = ", ".join(names.replace("|", " or ") for names in wanted.files)
        raise IngestError(
            f"{wanted.name} ({wanted.about}) is {where}. It is published as {wanted.published}, licence {wanted.licence}. "
            f"Put {files} (plain or .gz) into a folder and name it with --data or {ENVIRONMENT}"
        )
    return found


def beside(path: Path, name: str) -> Path | None:
    """A further file next to a found one, plain or packed."""
    return next((other for other in (path.with_name(name), path.with_name(f"{name}.gz")) if other.is_file()), None)


def files_of(path: Path) -> list[Path]:
    """A found file itself, or all JSON files of a found folder."""
    return [path] if path.is_file() else sorted(path.rglob("*.json"))


def _find(root: Path, names: list[str]) -> Path | None:
    return next((found for name in names for found in _called(root, name)), None)


def _called(root: Path, name: str) -> list[Path]:
    """What bears a name in a folder, however deep, or the folder itself."""
    if name.endswith("/"):
        return [path for path in (root, *sorted(root.rglob(name[:-1]))) if path.name == name[:-1] and path.is_dir()]
    return [path for spelled in (name, f"{name}.gz") for path in sorted(root.rglob(spelled)) if path.is_file()]
