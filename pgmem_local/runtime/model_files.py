"""Finds model weights on this machine. Nothing here opens a socket or hashes a file.

Not a step of the paper. Looked for, in this order: an explicit path, the folder in PGMEM_MODELS, the checkout's models/ folder, the
user's data folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pgmem_local.errors import ModelFileError
from pgmem_local.runtime.weights.checks import check_file, check_gguf
from pgmem_local.runtime.weights.registry import ModelSpec, Standing, chat_models, embedder, known_model, model_named

ENVIRONMENT = "PGMEM_MODELS"
AUTO = "auto"
GET_MODELS = "run `pgmem models pull auto`"


@dataclass(frozen=True)
class ModelFile:
    """A chat model on disk that passed `check_gguf`. `spec` is None for a file the registry does not know."""

    path: Path
    spec: ModelSpec | None

    @property
    def name(self) -> str:
        return self.spec.name if self.spec else self.path.stem


@dataclass(frozen=True)
class EmbedderFiles:
    """An embedder on disk: its network and its tokenizer."""

    spec: ModelSpec
    network: Path
    tokenizer: Path


def find_model(name_or_path: str | Path | None = None) -> ModelFile:
    """A chat model by registry name, file name or path; None or "auto" is the best one installed."""
    if name_or_path is None or str(name_or_path) == AUTO:
        return _best_installed()
    if spec := known_model(str(name_or_path)):
        return _installed(spec)
    path = _existing_path(Path(name_or_path).expanduser())
    spec = _spec_of_file(path)
    check_gguf(path, spec)
    return ModelFile(path, spec)


def find_embedder() -> EmbedderFiles:
    spec = embedder()
    folder = folder_of(spec)
    if folder is None:
        raise ModelFileError(f"{_not_found(spec.name)}; {GET_MODELS}")
    for file in spec.files:
        check_file(folder / file.path, file, spec)
    network, tokenizer = (folder / file.path for file in spec.files)
    return EmbedderFiles(spec, network, tokenizer)


def folder_of(spec: ModelSpec) -> Path | None:
    """The first folder of the search order that holds all files of a model."""
    return next((folder for folder in search_folders() if _holds(folder, spec)), None)


def search_folders() -> list[Path]:
    """Where weights are looked for, best first, whether the folders exist or not."""
    return list(_folders())


def pull_folder(explicit: Path | None = None) -> Path:
    """Where a pull writes: the explicit folder, or the first of the search order."""
    return explicit.expanduser() if explicit else next(_folders())


def _folders() -> Iterator[Path]:
    if chosen := os.environ.get(ENVIRONMENT):
        yield Path(chosen).expanduser()
    if checkout := _checkout_folder():
        yield checkout
    yield _user_folder()


def _checkout_folder() -> Path | None:
    root = Path(__file__).resolve().parents[2]
    return root / "models" if (root / "models" / "README.md").is_file() and (root / "pyproject.toml").is_file() else None


def _user_folder() -> Path:
    # Imported late: the download script runs from a bare checkout, before platformdirs is installed, and never comes here.
    from platformdirs import user_data_path

    return user_data_path("pgmem-local", appauthor=False) / "models"


def _holds(folder: Path, spec: ModelSpec) -> bool:
    return all((folder / file.path).is_file() for file in spec.files)


def _best_installed() -> ModelFile:
    candidates = [spec for spec in chat_models() if spec.standing is not Standing.TEST_ONLY]
    for spec in candidates:
        if folder_of(spec):
            return _installed(spec)
    raise ModelFileError(f"{_not_found(f'any of {_names(candidates)}')}; {GET_MODELS}")


def _installed(spec: ModelSpec) -> ModelFile:
    folder = folder_of(spec)
    if folder is None:
        raise ModelFileError(f"{_not_found(spec.name)}; run `pgmem models pull {spec.name}`")
    if not spec.architecture:
        raise ModelFileError(f"{spec.name} is not a chat model; choose one of {_names(chat_models())}")
    path = folder / spec.files[0].path
    check_gguf(path, spec)
    return ModelFile(path, spec)


def _existing_path(path: Path) -> Path:
    """The path itself, or a file of that name in a searched folder. What looks like a mistyped name is answered as one."""
    if path.exists():
        return path
    if path == Path(path.name):
        for folder in search_folders():
            if (folder / path).exists():
                return folder / path
        if path.suffix != ".gguf":
            model_named(path.name)
    return path


def _spec_of_file(path: Path) -> ModelSpec | None:
    return next((spec for spec in chat_models() if spec.files[0].path == path.name), None)


def _not_found(what: str) -> str:
    return f"{what} is not in {' or '.join(str(folder) for folder in search_folders())}"


def _names(specs: Iterable[ModelSpec]) -> str:
    return ", ".join(spec.name for spec in specs)
