from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from pgmem_local.errors import IngestError
from pgmem_local.ingest.formats import Format, ReadOptions, recognise
from pgmem_local.ingest.reader import Reader
from pgmem_local.ingest.registry import read_exchanges
from pgmem_local.ingest.source import Source, head, open_source


class Marked:
    """Recognises a file that holds its name."""

    def __init__(self, name: str) -> None:
        self.name = self.title = name

    def recognise(self, source: Source) -> str | None:
        return f"says {self.name}" if any(self.name.encode() in head(source, one) for one in source.names) else None

    def read(self, source: Source, options: ReadOptions) -> Reader:
        raise NotImplementedError


FORMATS: tuple[Format, ...] = (Marked("red"), Marked("blue"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "export.txt"
    path.write_text("blue", encoding="utf-8")
    return path


def test_the_format_that_fits_is_taken_with_its_reason(file: Path) -> None:
    found = recognise(open_source(file), FORMATS)
    assert (found.format.name, found.reason) == ("blue", "says blue")


def test_two_formats_that_fit_are_both_named_and_none_is_taken(file: Path) -> None:
    file.write_text("blue or red", encoding="utf-8")
    with pytest.raises(IngestError, match=r"red \(says red\); blue \(says blue\)"):
        recognise(open_source(file), FORMATS)


def test_a_named_format_is_taken_though_another_fits(file: Path) -> None:
    assert recognise(open_source(file), FORMATS, "red").format.name == "red"


@pytest.mark.parametrize("named", [None, "green"])
def test_no_format_lists_those_there_are(file: Path, named: str | None) -> None:
    file.write_text("plain", encoding="utf-8")
    with pytest.raises(IngestError, match="red, blue"):
        recognise(open_source(file), FORMATS, named)


def test_file_folder_and_archive_hold_the_same_files(tmp_path: Path) -> None:
    folder = tmp_path / "export"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a.txt").write_bytes(b"words")
    (folder / ".hidden").write_bytes(b"no")
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.write(folder / "sub" / "a.txt", "sub/a.txt")
        archive.writestr("__MACOSX/sub/a.txt", b"no")
    for source in (open_source(folder), open_source(tmp_path / "export.zip")):
        assert source.names == ("sub/a.txt",)
        assert head(source, "sub/a.txt", 3) == b"wor"
        assert source.size("sub/a.txt") == 5
    assert open_source(folder / "sub" / "a.txt").names == ("a.txt",)


def test_a_packed_file_is_read_under_its_own_name_and_counted_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "diary.jsonl.gz"
    path.write_bytes(gzip.compress(b"one\n" * 1000) + gzip.compress(b"two\n"))
    source = open_source(path)
    assert source.names == ("diary.jsonl",)
    assert source.size("diary.jsonl") == 4004
    with source.open("diary.jsonl") as file:
        assert file.read().endswith(b"one\ntwo\n")


def test_a_packed_file_cut_short_gives_what_was_whole(tmp_path: Path) -> None:
    lines = "".join(json.dumps({"text": f"I drink tea {number}.", "timestamp": "2026-03-02T08:00:00Z"}) + "\n" for number in range(5000))
    path = tmp_path / "diary.jsonl.gz"
    path.write_bytes(gzip.compress(lines.encode())[:-2000])
    exchanges = read_exchanges(path)
    with pytest.raises(IngestError, match="cannot be read on"):
        for _ in exchanges:
            pass
    assert exchanges.counts.turns > 1000


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="does not exist"):
        open_source(tmp_path / "nothing")


def test_a_damaged_archive_is_said(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", b"words" * 100)
    whole = path.read_bytes()
    path.write_bytes(b"\x00" * 8 + whole[8:])
    with pytest.raises(IngestError, match="unpack"):
        open_source(path).open("a.txt")
