from __future__ import annotations

import json
from datetime import timezone
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from hypothesis import HealthCheck, given, settings

from pgmem_local.conversation import Turn
from pgmem_local.errors import IngestError
from pgmem_local.ingest.dayone import DAY_ONE, plain_text, rich_text
from pgmem_local.ingest.reader import Counts
from pgmem_local.ingest.records import Rejected
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.source import open_source
from tests.ingest.laws import OPTIONS, HeldSource, assert_laws, mutated, mutated_json

SAMPLE = (Path(__file__).parent / "samples" / "dayone_journal.json").read_bytes()
EVENING = {"creationDate": "2024-05-01T19:00:00Z", "timeZone": "Europe/Stockholm"}


def journal(*entries: Any) -> bytes:
    return json.dumps({"metadata": {"version": "1.0"}, "entries": list(entries)}).encode()


def read(content: bytes) -> tuple[list[Turn], list[Reject], Counts]:
    reader = DAY_ONE.read(HeldSource({"Journal.json": content}), OPTIONS)
    items = list(reader)
    return [one for one in items if isinstance(one, Turn)], [one for one in items if isinstance(one, Reject)], reader.counts


def test_the_sample_is_recognised_and_read_whole() -> None:
    assert DAY_ONE.recognise(HeldSource({"Journal.json": SAMPLE})) == "Journal.json holds entries with a creationDate"
    turns, rejects, _ = read(SAMPLE)
    assert [turn.text.splitlines()[0] for turn in turns] == [
        "# Moving day",
        "Slept badly. Knee hurts again - skipped the run. Called Ebba (she sold her first bowl!)",
        "Flight to Tokyo: wrote this over Siberia.",
    ]
    assert not rejects


def test_the_day_is_the_one_where_the_entry_was_written() -> None:
    turns, _, _ = read(SAMPLE)
    tokyo = turns[-1].moment
    assert tokyo is not None
    assert tokyo.isoformat() == "2025-04-20T07:55:00+09:00"


def test_backslashes_photo_markers_and_links_into_the_app_are_taken_out_and_code_is_left_alone() -> None:
    text = "One\\. Two \\- \\(three\\)\\!\n\n![](dayone-moment://119A)\n\n[that day](dayone://view?entryId=1) and `a\\.b`\n```\nc\\.d\n```"
    assert plain_text(text) == "One. Two - (three)!\n\nthat day and `a\\.b`\n```\nc\\.d\n```"


def test_rich_text_says_it_where_text_is_missing() -> None:
    lines = [
        {"text": "To do\n", "attributes": {"line": {"header": 1}}},
        {"text": "call ", "attributes": {"line": {"listStyle": "checkbox", "checked": True}}},
        {"text": "Ebba\n", "attributes": {"bold": True, "line": {"listStyle": "checkbox", "checked": True}}},
        {"embeddedObjects": [{"type": "photo"}]},
        {"text": "bread", "attributes": {"line": {"listStyle": "bulleted"}}},
    ]
    turns, _, _ = read(journal({**EVENING, "richText": json.dumps({"contents": lines})}))
    assert turns[0].text == "To do\n- [x] call Ebba\n- bread"


@pytest.mark.parametrize("broken", ["{", "[]", '{"contents": 3}', '{"contents": [3]}', '{"contents": ' + "[" * 5000])
def test_rich_text_that_cannot_be_read_is_rejected(broken: str) -> None:
    with pytest.raises(Rejected, match="richText"):
        rich_text(broken)


def test_an_entry_of_photos_is_left_out_and_said() -> None:
    _, _, counts = read(journal({**EVENING, "text": "![](dayone-moment://1)"}, {**EVENING, "text": "Words."}))
    assert (counts.records, counts.turns, counts.skipped) == (2, 1, 1)
    assert "an entry without words: left out" in counts.notes


def test_an_unknown_zone_leaves_the_instant_and_is_noted() -> None:
    turns, _, counts = read(journal({**EVENING, "timeZone": "Mars/Base", "text": "Red."}))
    assert turns[0].moment is not None
    assert turns[0].moment.utc.isoformat() == "2024-05-01T19:00:00+00:00"
    assert any("zone is missing or unknown" in wording for wording in counts.notes)


def test_a_missing_date_is_never_invented() -> None:
    turns, _, _ = read(journal({"text": "Some day."}))
    assert turns[0].moment is None


def test_one_bad_entry_is_rejected_by_its_number_and_the_others_stay() -> None:
    turns, rejects, _ = read(journal({**EVENING, "text": "First."}, 7, {**EVENING, "text": 7}, {**EVENING, "text": "Last."}))
    assert [turn.text for turn in turns] == ["First.", "Last."]
    assert [reject.line for reject in rejects] == [2, 3]


def test_a_zip_with_several_journals_and_photos_is_read_as_one_export(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("Journal.json", journal({**EVENING, "text": "Private."}))
        archive.writestr("Work.json", journal({**EVENING, "text": "Office."}))
        archive.writestr("photos/0123.jpeg", b"\xff\xd8")
    source = open_source(tmp_path / "export.zip")
    assert DAY_ONE.recognise(source)
    assert [item.text for item in DAY_ONE.read(source, OPTIONS) if isinstance(item, Turn)] == ["Private.", "Office."]


def test_an_export_without_entries_is_an_error() -> None:
    assert DAY_ONE.recognise(HeldSource({"Journal.json": journal()}))
    with pytest.raises(IngestError, match="is empty"):
        read(journal())


@pytest.mark.parametrize("content", [b"", b"[]", b'{"chats": {"list": []}}', b'{"entries": 3}', b'{"metadata": {}, "entries": [{"x": 1}]}'])
def test_other_json_is_not_recognised(content: bytes) -> None:
    assert DAY_ONE.recognise(HeldSource({"a.json": content})) is None


def test_the_zone_of_the_options_is_used_only_where_the_entry_has_none() -> None:
    turns, _, _ = read(journal({**EVENING, "text": "One."}, {"creationDate": EVENING["creationDate"], "text": "Two."}))
    assert [turn.moment.offset_minutes for turn in turns if turn.moment] == [120, 0]
    assert OPTIONS.zone is timezone.utc


@given(mutated(SAMPLE))
def test_any_bytes_are_read_without_a_crash_and_without_silent_loss(content: bytes) -> None:
    assert_laws(DAY_ONE, {"Journal.json": content})


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(mutated_json(journal({**EVENING, "text": "Bread\\."}, {**EVENING, "richText": '{"contents": [{"text": "Bowl"}]}'})))
def test_any_bytes_that_are_still_json_are_read_without_silent_loss(content: bytes) -> None:
    assert_laws(DAY_ONE, {"Journal.json": content})
