"""What the user points at, as the files it holds: one file, plain or in gzip, a folder, or a zip archive, all read the same way.

Names are relative, with forward slashes, in sorted order. Nothing is unpacked to disk.
"""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from pgmem_local.errors import IngestError

HEAD_BYTES = 64 * 1024
GZIP = b"\x1f\x8b\x08"
_AT_ONCE = 1024 * 1024


class Source(Protocol):
    """The files behind a path. `open` and `head` raise IngestError where a file cannot be read."""

    path: Path

    @property
    def names(self) -> tuple[str, ...]: ...

    def open(self, name: str) -> BinaryIO: ...

    def size(self, name: str) -> int: ...


def head(source: Source, name: str, limit: int = HEAD_BYTES) -> bytes:
    """The first bytes of a file, enough to recognise a format by its content."""
    with source.open(name) as file:
        return file.read(limit)


def shown(source: Source, name: str) -> str:
    """How messages name a file of a source."""
    return str(source.path) if isinstance(source, FileSource) else f"{source.path}/{name}"


def open_source(path: Path) -> Source:
    """Raises IngestError where nothing is there, or where an archive is damaged or asks for a password."""
    try:
        if path.is_dir():
            return FolderSource(path)
        if not path.exists():
            raise IngestError(f"{path} does not exist; give a file, a folder or a zip archive")
        if not path.is_file():  # a pipe, which can be read once and not looked into
            return FileSource(path)
        if zipfile.is_zipfile(path):
            return ZipSource(path)
        with _opened(path) as file:
            if file.read(len(GZIP)) == GZIP:
                return GzipSource(path)
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise IngestError(f"{path} cannot be opened ({error}); check its rights and its name") from error
    return FileSource(path)


class FileSource:
    """One file, under its own name."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def names(self) -> tuple[str, ...]:
        return (self.path.name,)

    def open(self, name: str) -> BinaryIO:
        return _opened(self.path)

    def size(self, name: str) -> int:
        return self.path.stat().st_size


class GzipSource(FileSource):
    """One file that gzip has packed, under its own name."""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.path.name.removesuffix(".gz"),)

    def open(self, name: str) -> BinaryIO:
        _opened(self.path).close()
        return cast(BinaryIO, gzip.open(self.path, "rb"))

    def size(self, name: str) -> int:
        return self._unpacked

    @cached_property
    def _unpacked(self) -> int:
        """Counted by unpacking: what the file says of its size is wrong above 4 GiB, and where files were joined. 0 where it is damaged,
        as of a pipe, so that all that can be read is."""
        try:
            with gzip.open(self.path, "rb") as file:
                return sum(map(len, iter(lambda: file.read(_AT_ONCE), b"")))
        except (OSError, EOFError, zlib.error):
            return 0


class FolderSource:
    """Every file below a folder, hidden ones left out. Links to folders are not followed: they may lead anywhere, or in circles."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._names = tuple(sorted(_below(path)))

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def open(self, name: str) -> BinaryIO:
        return _opened(self.path / name)

    def size(self, name: str) -> int:
        return (self.path / name).stat().st_size


class ZipSource:
    """The files in a zip archive, read where they lie."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._archive = zipfile.ZipFile(path)
        except (OSError, zipfile.BadZipFile) as error:
            raise IngestError(f"{path} cannot be opened as a zip archive ({error}); export it again") from error
        self._names = tuple(sorted(one.filename for one in self._archive.infolist() if not one.is_dir() and not _hidden(one.filename)))

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def open(self, name: str) -> BinaryIO:
        try:
            return cast(BinaryIO, self._archive.open(name))
        except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:  # RuntimeError: a password is needed
            raise IngestError(f"{self.path}: {name} cannot be read ({error}); unpack the archive and give the folder") from error

    def size(self, name: str) -> int:
        return self._archive.getinfo(name).file_size


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise IngestError(f"cannot read {path} ({error.strerror})") from error


def _below(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if not _hidden(name) and path.is_file():
            yield name


def _hidden(name: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in name.split("/"))
