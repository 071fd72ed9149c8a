from __future__ import annotations

import json
import os
import stat
from itertools import islice
from pathlib import Path

import pytest

from pgmem_local.conversation import Turn
from pgmem_local.errors import IngestError
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.jsonl import JsonLines
from pgmem_local.ingest.rejects import Reject, RejectsFile, as_found
from pgmem_local.ingest.source import open_source

CUT = Reject("diary.jsonl", 5, "not valid JSON", '{"text": "Ich trank ☕ allein')


def kept(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_rejects_file_is_made_by_the_first_reject(tmp_path: Path) -> None:
    with RejectsFile(tmp_path / "rejects.jsonl") as rejects:
        assert not rejects.path.exists()
        rejects.add(CUT)
        assert kept(rejects.path) == [{"file": "diary.jsonl", "line": 5, "reason": "not valid JSON", "raw": CUT.raw}]


def test_raw_line_stays_legible_for_whoever_repairs_it(tmp_path: Path) -> None:
    with RejectsFile(tmp_path / "rejects.jsonl") as rejects:
        rejects.add(CUT)
    assert "Ich trank ☕ allein" in rejects.path.read_text("utf-8")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
@pytest.mark.parametrize("mask", [0o000, 0o022])
def test_only_the_owner_may_read_the_rejects_even_where_the_file_was_open_before(tmp_path: Path, mask: int) -> None:
    path = tmp_path / "rejects.jsonl"
    for present in (False, True):
        if present:
            path.chmod(0o666)
        before = os.umask(mask)
        try:
            with RejectsFile(path) as rejects:
                rejects.add(CUT)
        finally:
            os.umask(before)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_same_reject_is_kept_once_over_several_runs(tmp_path: Path) -> None:
    for _ in range(2):
        with RejectsFile(tmp_path / "rejects.jsonl") as rejects:
            rejects.add(CUT)
            rejects.add(CUT)
    assert len(kept(rejects.path)) == 1


def test_repaired_raw_line_is_read_like_the_record_it_was_meant_to_be(tmp_path: Path) -> None:
    path = tmp_path / "rejects.jsonl"
    with RejectsFile(path) as rejects:
        rejects.add(CUT)
    record = kept(path)[0]
    record["raw"] = str(record["raw"]) + '"}'
    path.write_text(json.dumps(record))
    assert list(JsonLines(open_source(path), ReadOptions())) == [Turn("Ich trank ☕ allein", None)]


def test_unrepaired_line_is_rejected_under_its_first_address(tmp_path: Path) -> None:
    path = tmp_path / "rejects.jsonl"
    path.write_text(CUT.to_json() + "\n" + '{"text": "fine"}')
    first = next(iter(JsonLines(open_source(path), ReadOptions())))
    assert isinstance(first, Reject)
    assert (first.path, first.line, first.raw) == (CUT.path, CUT.line, CUT.raw)


def test_reading_a_rejects_file_while_appending_to_it_comes_to_an_end(tmp_path: Path) -> None:
    path = tmp_path / "rejects.jsonl"
    path.write_text(CUT.to_json() + "\n" + '{"text": "fine"}\n')
    with path.open("a") as more:
        for _ in islice(JsonLines(open_source(path), ReadOptions()), 10):
            more.write(CUT.to_json() + "\n")
            more.flush()
    assert len(kept(path)) == 4


def test_bytes_that_are_no_text_survive_the_rejects_file(tmp_path: Path) -> None:
    bad, path = tmp_path / "bad.jsonl", tmp_path / "rejects.jsonl"
    bad.write_bytes(b'{"text": "caf\xe9"}\n{"text": "fine"}')
    reject = next(iter(JsonLines(open_source(bad), ReadOptions())))
    assert isinstance(reject, Reject)
    with RejectsFile(path) as rejects:
        rejects.add(reject)
    raw = kept(path)[0]["raw"]
    assert isinstance(raw, str)
    assert raw.encode("utf-8", "surrogateescape") == b'{"text": "caf\xe9"}'


def test_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with RejectsFile(tmp_path / "missing" / "rejects.jsonl") as rejects, pytest.raises(IngestError, match="missing"):
        rejects.add(CUT)


def test_record_of_another_format_does_not_pass_for_the_owners_words_until_it_is_repaired(tmp_path: Path) -> None:
    raw = as_found("telegram", '{"from": "Jonas", "text": "I hate fish"}')
    path = tmp_path / "rejects.jsonl"
    path.write_text(Reject("result.json", 3, "bad date", raw).to_json() + "\n" + '{"text": "x"}', encoding="utf-8")
    again, kept = JsonLines(open_source(path), ReadOptions())
    assert isinstance(again, Reject)
    assert (again.path, again.line, again.raw) == ("result.json", 3, raw)
    assert "still as telegram has it" in again.reason
    assert kept == Turn("x", None)
