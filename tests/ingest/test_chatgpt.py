from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from pgmem_local.conversation import Speaker, entry_key
from pgmem_local.errors import IngestError
from pgmem_local.ingest.chatgpt import CHATGPT
from tests.ingest.laws import HeldSource, assert_laws, mutated, mutated_json
from tests.ingest.reading import read, sample

SAMPLE = sample("chatgpt.json")


def message(text: Any, role: str = "user", when: float | None = 1767583930.0, **more: Any) -> dict[str, Any]:
    return {"author": {"role": role}, "create_time": when, "content": {"content_type": "text", "parts": [text]}, **more}


def conversation(*messages: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    """A straight line of messages; the last is the current one."""
    nodes = {f"n{i}": {"id": f"n{i}", "parent": f"n{i - 1}" if i else None, "message": one} for i, one in enumerate(messages)}
    return {"id": "c1", "create_time": 1767580000.0, "mapping": nodes, "current_node": f"n{len(messages) - 1}", **more}


def export(*conversations: Any) -> bytes:
    return json.dumps(conversations).encode()


def test_only_the_branch_that_was_shown_is_read_without_tools_and_thoughts() -> None:
    texts = read(CHATGPT, SAMPLE).texts
    assert "Give me a dinner plan for 4 people, vegetarian but fish is OK since May" in texts
    assert "Give me a dinner plan for 4 people" not in texts
    assert not any("search(" in text or "lentil" in text or "pescatarian" in text or "Thought for" in text for text in texts)


def test_what_is_left_out_is_counted_by_its_reason() -> None:
    found = read(CHATGPT, SAMPLE)
    assert (found.counts.records, found.counts.turns, found.counts.rejected, found.counts.skipped) == (17, 9, 0, 8)
    assert found.notes["a message on a branch that is not the one shown: left out"] == 2
    assert found.notes["a hidden message: left out"] == 2


def test_picture_beside_words_leaves_the_words() -> None:
    assert "This is what I cooked with Jonas 😀 – rate it?" in read(CHATGPT, SAMPLE).texts


def test_roles_times_and_sessions_are_those_of_the_file() -> None:
    turn = next(turn for turn in read(CHATGPT, SAMPLE).turns if turn.text.startswith("Skatås"))
    assert turn.speaker is Speaker.ASSISTANT
    assert turn.moment is not None
    assert turn.moment.isoformat() == "2024-03-24T06:40:08.500000+00:00"
    assert turn.session == "a170b338-3926-4059-b28c-105d1fb17c23"


def test_custom_instructions_are_the_owners_words_once_at_their_earliest() -> None:
    profile = {"content_type": "user_editable_context", "user_profile": "User profile:\n```I live in Graz.```"}
    context = {"author": {"role": "user"}, "create_time": None, "content": profile}
    newer = conversation(context, message("hi"), id="b", create_time=1767590000.0)
    older = conversation(context, message("ho"), id="a", create_time=1767570000.0)
    found = read(CHATGPT, export(newer, older))
    assert found.texts == ["hi", "ho", "I live in Graz."]
    later = read(CHATGPT, export(conversation(context, message("ha"), create_time=1767600000.0), newer, older))
    assert entry_key(later.turns[-1]) == entry_key(found.turns[-1])
    assert found.counts.records == 4


def test_files_of_2023_are_read() -> None:
    assert read(CHATGPT, sample("chatgpt_2023.json")).texts[0].startswith("My sister Ebba turns 40")


def test_without_current_node_the_newest_branch_is_the_one_shown() -> None:
    one = conversation(message("q"), message("old", "assistant", 1767583940.0))
    one["mapping"]["other"] = {"parent": "n0", "message": message("new", "assistant", 1767583990.0)}
    del one["current_node"]
    assert read(CHATGPT, export(one)).texts == ["q", "new"]


def test_message_without_time_gets_that_of_its_conversation_and_says_so() -> None:
    found = read(CHATGPT, export(conversation(message("hi", when=None))))
    assert found.turns[0].moment is not None
    assert found.turns[0].moment.utc.timestamp() == 1767580000.0
    assert found.notes == {"a message without a time: that of its conversation": 1}


def test_conversation_without_any_time_is_undated() -> None:
    assert read(CHATGPT, export(conversation(message("hi", when=None), create_time=None))).turns[0].moment is None


def test_conversations_without_an_id_are_not_taken_for_one() -> None:
    found = read(CHATGPT, export(*(conversation(message("hi"), id=None, title=title) for title in ("a", "b"))))
    assert len({turn.session for turn in found.turns}) == 2


def test_circle_of_parents_ends() -> None:
    one = conversation(message("a"), message("b"))
    one["mapping"]["n0"]["parent"] = "n1"
    assert read(CHATGPT, export(one)).texts == ["a", "b"]


def test_bad_conversation_is_rejected_by_number_and_the_others_are_read() -> None:
    found = read(CHATGPT, export(conversation(message("a")), {"title": "no mapping"}, 7, conversation(message("b"))))
    assert found.texts == ["a", "b"]
    assert [(reject.line, reject.reason[:20]) for reject in found.rejects] == [(2, "`mapping` of a conve"), (3, "a conversation is ex")]
    assert found.rejects[0].raw == '(chatgpt) {"title": "no mapping"}'


def test_bad_message_costs_no_other_message() -> None:
    found = read(CHATGPT, export(conversation(message("a"), message(7), message("c"))))
    assert found.texts == ["a", "c"]
    assert found.rejects[0].reason == "a part of the message is neither text nor an object"


def test_file_cut_off_keeps_what_came_before_and_rejects_the_rest() -> None:
    content = export(conversation(message("a")), conversation(message("b")))
    found = read(CHATGPT, content[:-40])
    assert found.texts == ["a"]
    assert "not valid JSON after record 1" in found.rejects[0].reason


def test_secret_is_masked_in_turns_and_rejects() -> None:
    secret = "My password is hunter2secret!"
    found = read(CHATGPT, export(conversation(message(secret)), {"title": secret}))
    assert "hunter2" not in repr(found.items)
    assert found.counts.masked.count == 2


def test_conversations_without_a_word_are_an_error() -> None:
    with pytest.raises(IngestError, match="a conversation without messages"):
        read(CHATGPT, export(conversation()))


def test_numbered_files_of_a_large_export_are_read_together() -> None:
    files = {f"conversations-00{i}.json": export(conversation(message(str(i)))) for i in range(2)} | {"user.json": b"[]", "chat.html": b"x"}
    assert CHATGPT.recognise(HeldSource(files))
    assert read(CHATGPT, files).texts == ["0", "1"]


def test_other_lists_of_conversations_are_not_chatgpts() -> None:
    assert CHATGPT.recognise(HeldSource({"conversations.json": sample("claude.json")})) is None


@given(mutated(SAMPLE))
def test_any_bytes_obey_the_laws(content: bytes) -> None:
    assert_laws(CHATGPT, {"conversations.json": content})


@given(mutated_json(SAMPLE))
def test_any_bytes_that_are_json_obey_the_laws(content: bytes) -> None:
    assert_laws(CHATGPT, {"conversations.json": content})
