"""What is no export is refused with the number of the line that shows it, and nothing comes in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pgmem_local.errors import IngestError
from pgmem_local.portable.jsonl import Record
from pgmem_local.portable.reading import read
from tests.control.conftest import content, opened

Change = Callable[[dict[str, Any]], object]


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def refused(lines: list[bytes]) -> str:
    with pytest.raises(IngestError) as caught:
        read(lines, "memory.jsonl")
    return str(caught.value)


def with_change(path: Path, record: str, change: Change) -> tuple[list[bytes], int]:
    """The lines of an export with the last record of a kind changed, and the number of that line."""
    found = records(path)
    place = max(number for number, one in enumerate(found) if one["record"] == record)
    change(found[place])
    return [json.dumps(one).encode() for one in found], place + 1


CHANGES: list[tuple[str, Change, str]] = [
    ("context", lambda one: one.pop("text"), "'text' should be a text"),
    ("context", lambda one: one.update(text=7), "'text' should be a text"),
    ("context", lambda one: one.update(id="s1"), "should be an id such as c12"),
    ("context", lambda one: one.update(id="c1"), "a second record with the id c1"),
    ("context", lambda one: one.update(chunk=999), "no record has the chunk 999"),
    ("context", lambda one: one.update(chunk=True), "'chunk' should be a whole number"),
    ("context", lambda one: one.update(learned=1), "'learned' should be true or false"),
    ("context", lambda one: one.update(timestamp="yesterday"), "a time with its offset"),
    ("context", lambda one: one.update(timestamp="2026-03-01T12:00:00"), "a time with its offset"),
    ("context", lambda one: one.update(files=[None]), "'files' should be a list of texts"),
    ("state", lambda one: one.update(sources=[]), "nothing that this rests on"),
    ("state", lambda one: one.update(sources=["c999"]), "no record has the id c999"),
    ("state", lambda one: one.update(sources=[one["id"]]), "is its own source"),
    ("state", lambda one: one.update(polarity="sour"), "should be one of positive, negative, neutral"),
    ("trait", lambda one: one.update(scope=None), "should be one of narrow, broad"),
    ("episode", lambda one: one.update(record="saga"), "'record' should be one of"),
    ("judgement", lambda one: one.update(probability=1.5), "a number from 0 to 1"),
    ("judgement", lambda one: one.update(probability=float("nan")), "a number from 0 to 1"),
    ("judgement", lambda one: one.update(target=one["source"]), "judged against itself"),
    ("pin", lambda one: one.update(node="s999"), "no record has the id s999"),
    ("act", lambda one: one.update(timestamp=None), "'timestamp' is missing"),
    ("entity", lambda one: one.update(namings=[]), "'namings' is empty"),
    ("entity", lambda one: one.update(namings=["Toby"]), "no JSON object"),
    ("profile", lambda one: one.update(entity="p999"), "no record has the id p999"),
    ("fact", lambda one: one.update(grain="hour"), "should be one of"),
    ("fact", lambda one: one.update(replaced_by="f999"), "no record has the id f999"),
    ("fact", lambda one: one.update(id="f0"), "should be an id such as f12"),
]


@pytest.mark.parametrize(("record", "change", "reason"), CHANGES)
def test_damaged_record_is_refused_with_its_line(record: str, change: Change, reason: str, exported: Path) -> None:
    lines, number = with_change(exported, record, change)
    assert f"memory.jsonl, line {number}: " in (message := refused(lines))
    assert reason in message
    assert "nothing was imported" in message


@pytest.mark.parametrize("broken", [b"{", b"\xff\xfe", b"[" * 100_000, b"[]", b"7", b'{"a": ' + b"9" * 5000 + b"}"])
def test_line_that_is_no_record_is_refused_with_its_number(broken: bytes, exported: Path) -> None:
    lines = exported.read_bytes().splitlines()
    assert "line 3: " in refused([*lines[:2], broken, *lines[2:]])


def test_damaged_file_changes_nothing(exported: Path, tmp_path: Path) -> None:
    lines, number = with_change(exported, "fact", lambda one: one.update(kind="rumour"))
    (tmp_path / "damaged.jsonl").write_bytes(b"\n".join(lines))
    with opened(tmp_path / "home") as memory:
        memory.observe(["I ski."])
        before = content(memory)
        with pytest.raises(IngestError, match=f"damaged.jsonl, line {number}: "):
            memory.import_(tmp_path / "damaged.jsonl")
        assert content(memory) == before


def test_file_cut_at_the_end_of_a_line_is_refused(exported: Path) -> None:
    lines = exported.read_bytes().splitlines()
    assert "its header promises" in refused(lines[:-1])


def test_newer_version_says_what_to_do(exported: Path) -> None:
    lines, _ = with_change(exported, "header", lambda one: one.update(version=2))
    assert "pip install -U pgmem-local" in refused(lines)


@pytest.mark.parametrize("first", [b'{"timestamp": "2026-01-01", "text": "Dear diary"}', b"# What is remembered", b"{}"])
def test_file_of_another_kind_is_refused_at_once(first: bytes) -> None:
    assert "line 1: " in refused([first, b"{}"])


def test_empty_file_is_refused() -> None:
    assert "pgmem export" in refused([])


def test_missing_file_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as memory, pytest.raises(IngestError, match="cannot read"):
        memory.import_(tmp_path / "none.jsonl")


def test_second_header_is_refused(exported: Path) -> None:
    lines = exported.read_bytes().splitlines()
    assert f"line {len(lines) + 1}: a second header" in refused([*lines, *lines])


def test_editors_byte_order_mark_line_ends_and_further_fields_are_read(exported: Path) -> None:
    lines, _ = with_change(exported, "trait", lambda one: one.update(colour="blue"))
    edited = [b"\xef\xbb\xbf" + lines[0] + b"\r\n", b"\r\n", *(line + b"\r\n" for line in lines[1:])]
    assert read(edited, "memory.jsonl") == read(exported.read_bytes().splitlines(), "memory.jsonl")


def test_every_kind_of_record_is_in_the_file_and_is_ascii(exported: Path) -> None:
    assert {one["record"] for one in records(exported)} == {record.value for record in Record}
    assert exported.read_bytes().isascii()
