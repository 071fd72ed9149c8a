"""From a path to its exchanges: which format is taken, and what happens where the path is none."""

from __future__ import annotations

import ast
import importlib
import json
import os
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from pgmem_local.errors import IngestError
from pgmem_local.ingest.exchanges import Exchanges
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.jsonl import JSON_LINES
from pgmem_local.ingest.registry import FORMATS, read_exchanges
from tests.ingest.laws import HeldSource
from tests.ingest.reading import sample

DIARY = '{"timestamp": "2026-06-01T08:00:00Z", "text": "I keep a brown hen."}\n'


def texts(found: Exchanges) -> list[str]:
    return [item.said.text for item in found if not hasattr(item, "reason")]  # type: ignore[union-attr]


def test_names_of_formats_are_words_and_no_two_are_the_same() -> None:
    names = [one.name for one in FORMATS]
    assert len(set(names)) == len(names)
    assert all(name.replace("_", "").isalpha() and name == name.lower() for name in names)


def test_lines_of_objects_are_taken_for_json_lines_whatever_the_file_is_called(tmp_path: Path) -> None:
    (tmp_path / "diary.txt").write_text(DIARY, encoding="utf-8")
    found = read_exchanges(tmp_path / "diary.txt")
    assert (found.recognised.format.name, found.recognised.reason) == ("jsonl", "its lines are JSON objects with a text")
    assert texts(found) == ["I keep a brown hen."]


def test_folder_and_archive_of_json_lines_are_read_as_one(tmp_path: Path) -> None:
    folder = tmp_path / "diaries"
    folder.mkdir()
    for name in ("a.jsonl", "b.ndjson"):
        (folder / name).write_text(DIARY.replace("brown hen", name), encoding="utf-8")
    (folder / "readme.txt").write_text("not a diary", encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "diaries.zip", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, path.name)
    for path in (folder, tmp_path / "diaries.zip"):
        assert texts(read_exchanges(path)) == ["I keep a a.jsonl.", "I keep a b.ndjson."]


OTHERS = ['{\n "messages": [\n  {"text": "x"}\n ]\n}', '{"name": "Jonas", "messages": [{"text": "x"}]}', "plain"]


@pytest.mark.parametrize("content", OTHERS)
def test_other_text_is_not_taken_for_json_lines(content: str) -> None:
    assert JSON_LINES.recognise(HeldSource({"export.json": content.encode()})) is None


def test_named_format_reads_what_it_does_not_recognise(tmp_path: Path) -> None:
    (tmp_path / "export.json").write_text('{"note": "x"}', encoding="utf-8")
    found = read_exchanges(tmp_path / "export.json", ReadOptions(fields={"text": "note"}), "jsonl")
    assert texts(found) == ["x"]


def test_how_much_there_is_to_read_is_known_of_the_files_that_are_read_alone(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("conversations.json", sample("chatgpt.json"))
        archive.writestr("chat.html", "x" * 100_000)
    found = read_exchanges(tmp_path / "export.zip")
    assert len(texts(found)) == 5
    assert found.counts.bytes_read == found.counts.bytes_to_read == len(sample("chatgpt.json"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes")
def test_pipe_is_read_as_json_lines_without_a_look_into_it(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(DIARY.encode(),))
    writer.start()
    assert texts(read_exchanges(path)) == ["I keep a brown hen."]
    writer.join()


def test_damaged_archive_keeps_what_was_read_and_says_where_it_broke(tmp_path: Path) -> None:
    path = tmp_path / "diary.zip"
    lines = "".join(json.dumps({"text": f"day {number} {os.urandom(40).hex()}"}) + "\n" for number in range(5000))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("diary.jsonl", lines)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    read: list[object] = []
    with pytest.raises(IngestError, match=r"diary\.jsonl cannot be read on"):
        read.extend(read_exchanges(path))
    assert len(read) > 100


def test_field_to_map_that_does_not_exist_is_said(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text(DIARY, encoding="utf-8")
    with pytest.raises(IngestError, match=r"'txt'.*text, timestamp, role, session"):
        read_exchanges(tmp_path / "d.jsonl", ReadOptions(fields={"txt": "note"}))


@pytest.mark.parametrize(
    ("name", "expected"),
    [("chatgpt.json", "chatgpt"), ("chatgpt_2023.json", "chatgpt"), ("claude.json", "claude"), ("gemini.json", "gemini")],
)
def test_each_sample_is_taken_for_one_format_only(name: str, expected: str) -> None:
    found = [one.name for one in FORMATS if one.recognise(HeldSource({"export.json": sample(name)}))]
    assert found == [expected]


def test_damaged_bytes_of_every_format_are_tried_as_often_as_the_profile_says() -> None:
    tried = {name for path in sorted(Path(__file__).parent.glob("test_*.py")) for name in formats_tried(path)}
    assert tried == {one.name for one in FORMATS}


def formats_tried(path: Path) -> Iterator[str]:
    """The formats that a file of tests holds to the laws, whatever the bytes, with no number of examples of its own."""
    module = importlib.import_module(f"tests.ingest.{path.stem}")
    for test in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(test, ast.FunctionDef) and "any_bytes" in test.name and "settings" not in map(called, test.decorator_list):
            calls = (node for node in ast.walk(test) if isinstance(node, ast.Call) and called(node) == "assert_laws")
            yield from (getattr(module, ast.unparse(call.args[0])).name for call in calls)


def called(node: ast.AST) -> str:
    return ast.unparse(node.func) if isinstance(node, ast.Call) else ast.unparse(node)
