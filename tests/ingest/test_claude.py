from __future__ import annotations

import json
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import given

from pgmem_local.conversation import Speaker
from pgmem_local.ingest.claude import CLAUDE
from pgmem_local.ingest.formats import ReadOptions
from tests.ingest.laws import NOW, HeldSource, assert_laws, mutated, mutated_json
from tests.ingest.reading import read, sample

SAMPLE = sample("claude.json")


def message(identifier: str, text: str, sender: str = "human", **more: Any) -> dict[str, Any]:
    when = "2026-06-01T22:30:00.123456Z"
    return {"uuid": identifier, "sender": sender, "created_at": when, "content": [{"type": "text", "text": text}], **more}


def export(*messages: Any, **more: Any) -> bytes:
    return json.dumps([{"uuid": "c1", "created_at": "2026-06-01T08:00:00Z", "chat_messages": messages, **more}]).encode()


def test_text_and_dictation_are_read_and_thoughts_and_tools_are_not() -> None:
    found = read(CLAUDE, SAMPLE)
    assert found.texts[3] == "Added as item 4."
    assert found.texts[4] == "I started as a product manager today, no longer an analyst."
    assert [turn.speaker for turn in found.turns] == [Speaker.USER, Speaker.ASSISTANT] * 3
    assert (found.counts.records, found.counts.skipped) == (7, 1)


def test_time_that_was_never_set_is_kept_as_given() -> None:
    never_set = export(message("m1", "Hello.") | {"created_at": "0001-01-01T00:00:00Z"})
    found = read(CLAUDE, never_set, ReadOptions(ZoneInfo("America/New_York"), NOW))
    assert [turn.moment and turn.moment.utc.year for turn in found.turns] == [1]


def test_pasted_text_is_not_the_owners_and_that_is_said() -> None:
    found = read(CLAUDE, SAMPLE)
    assert "cancel gym" not in repr(found.items)
    assert any("attachment" in wording for wording in found.notes)


def test_flat_text_counts_where_there_are_no_blocks_only() -> None:
    result = [{"type": "tool_result", "content": [{"type": "text", "text": "web page"}]}]
    flat, tool = {"content": [], "text": "flat"}, {"content": result, "text": "placeholder"}
    found = read(CLAUDE, export(message("a", "") | flat, message("b", "") | tool))
    assert found.texts == ["flat"]
    assert found.counts.skipped == 1


def test_branch_of_the_last_message_is_the_one_shown() -> None:
    root = "00000000-0000-4000-8000-000000000000"
    messages = (
        message("q", "question", parent_message_uuid=root),
        message("old", "first answer", "assistant", parent_message_uuid="q"),
        message("new", "second answer", "assistant", parent_message_uuid="q"),
    )
    assert read(CLAUDE, export(*messages)).texts == ["question", "second answer"]
    assert read(CLAUDE, export(*messages, current_leaf_message_uuid="old")).texts == ["question", "first answer"]


def test_day_is_that_of_the_owners_clock() -> None:
    turn = read(CLAUDE, export(message("a", "late")), ReadOptions(ZoneInfo("Europe/Vienna"), NOW)).turns[0]
    assert turn.moment is not None
    assert turn.moment.isoformat() == "2026-06-02T00:30:00.123456+02:00"


def test_message_of_nobody_is_rejected_and_the_others_are_read() -> None:
    found = read(CLAUDE, export(message("a", "x"), {"uuid": "b", "content": []}, "no message", message("c", "y")))
    assert found.texts == ["x", "y"]
    assert len(found.rejects) == 2


def test_archive_with_other_files_is_recognised_by_its_conversations() -> None:
    assert CLAUDE.recognise(HeldSource({"conversations.json": SAMPLE, "users.json": b"[]", "projects.json": b"[]"}))
    assert CLAUDE.recognise(HeldSource({"conversations.json": sample("chatgpt.json")})) is None


@given(mutated(SAMPLE))
def test_any_bytes_obey_the_laws(content: bytes) -> None:
    assert_laws(CLAUDE, {"conversations.json": content})


@given(mutated_json(SAMPLE))
def test_any_bytes_that_are_json_obey_the_laws(content: bytes) -> None:
    assert_laws(CLAUDE, {"conversations.json": content})
