from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgmem_local.conversation import Speaker
from pgmem_local.errors import IngestError
from pgmem_local.ingest import instagram as module
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.instagram import INSTAGRAM, is_wording, oldest_first, repaired
from pgmem_local.ingest.rejects import Reject
from tests.ingest.laws import NOW, HeldSource, assert_laws, mutated, mutated_json
from tests.ingest.reading import Read, read, sample

SAMPLE = sample("instagram_message_1.json")
NORA = ReadOptions(timezone.utc, NOW, me="Nora")


def misread(text: str) -> str:
    """As the export writes it."""
    return text.encode().decode("latin-1")


def message(sender: str, minute: int, content: object = None, **more: object) -> dict[str, object]:
    return {"sender_name": misread(sender), "timestamp_ms": 1681290000000 + minute * 60_000, "content": content, **more}


def thread(*messages: Any, people: tuple[str, ...] = ("Ebba", "Nora"), title: str = "Ebba") -> bytes:
    participants = [{"name": misread(name)} for name in people]
    return json.dumps({"participants": participants, "messages": list(messages), "title": misread(title)}).encode()


def of(files: Mapping[str, bytes] | bytes, options: ReadOptions = NORA) -> Read:
    return read(INSTAGRAM, files if isinstance(files, Mapping) else {"message_1.json": files}, options)


def test_thread_is_read_repaired_and_in_the_order_of_time() -> None:
    found = of(SAMPLE)
    assert [(turn.speaker, turn.author, turn.text, str(turn.moment), turn.session) for turn in found.turns] == [
        (
            Speaker.USER,
            None,
            "Grattis Ebba! \U0001f389 Vi ses på fredag – älskar keramiken",
            "2023-04-12T09:01:00+00:00",
            "Ebba 2023-04-12",
        ),
        (Speaker.OTHER, "Ebba", "Tack!", "2023-04-12T09:05:00+00:00", "Ebba 2023-04-12"),
    ]
    assert (found.counts.records, found.counts.bytes_read) == (2, len(SAMPLE))


@given(st.text())
def test_text_is_repaired_to_what_was_written(text: str) -> None:
    written = text.encode("utf-8", "replace").decode()
    assert repaired(misread(written)) == written


@pytest.mark.parametrize("text", ["café", "Ünal", "日本", "plain", "\ud83d", ""])
def test_text_that_was_never_misread_stays(text: str) -> None:
    assert repaired(text) == text


def test_owner_is_who_is_in_every_thread() -> None:
    files = {
        "inbox/ebba_1/message_1.json": thread(message("Ebba", 1, "a"), message("Nora", 0, "b")),
        "inbox/jonas_2/message_1.json": thread(message("Jonas", 2, "c"), people=("Jonas", "Nora"), title="Jonas"),
    }
    found = of(files, ReadOptions(timezone.utc, NOW))
    assert [(turn.author, turn.text, turn.session) for turn in found.turns] == [
        (None, "b", "Ebba 2023-04-12"),
        ("Ebba", "a", "Ebba 2023-04-12"),
        ("Jonas", "c", "Jonas 2023-04-12"),
    ]


def test_owner_of_one_thread_is_asked_for() -> None:
    with pytest.raises(IngestError, match=r"--me: 'Ebba' \(1\), 'Nora' \(1\)"):
        of(SAMPLE, ReadOptions(timezone.utc, NOW))


def test_files_of_a_thread_are_read_from_the_oldest_on() -> None:
    names = ["inbox/b/message_1.json", "inbox/a/message_2.json", "inbox/a/message_10.json", "inbox/a/message_1.json"]
    assert oldest_first(names) == [names[2], names[1], names[3], names[0]]


def test_messages_of_the_same_instant_keep_the_order_they_were_written_in() -> None:
    assert of(thread(message("Nora", 0, "third"), message("Nora", 0, "second"), message("Ebba", 0, "first"))).texts == [
        "first",
        "second",
        "third",
    ]


def test_more_messages_than_are_held_at_once_are_ordered_in_part_and_none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ORDERED_AT_ONCE", 2)
    assert of(thread(*(message("Nora", minute, str(minute)) for minute in (5, 4, 3, 2, 1)))).texts == ["4", "5", "2", "3", "1"]


@pytest.mark.parametrize(
    "text",
    ["Ebba sent an attachment.", "You sent a photo.", "Liked a message", "Reacted ❤️ to your message ", "Ebba started an audio call.",
     "Video chat ended", "Ebba hat einen Anhang gesendet."],
)  # fmt: skip
def test_what_the_export_puts_for_pictures_and_calls_is_left_out(text: str) -> None:
    found = of(thread(message("Ebba Holm", 1, misread(text)), message("Nora", 0, "hi")))
    assert found.texts == ["hi"]
    assert found.notes == {f"{module.WORDLESS}: left out": 1}


@pytest.mark.parametrize("text", ["I sent a photo.", "Jonas sent an attachment.", "I liked a message", "Ebba sent an attachment. Look!"])
def test_words_of_people_about_pictures_stay(text: str) -> None:
    assert not is_wording(text, "Ebba Holm")


def test_what_was_taken_back_or_has_no_words_is_left_out_and_counted() -> None:
    found = of(thread(message("Ebba", 2, "x", is_unsent=True), message("Ebba", 1, photos=[{"uri": "a.jpg"}]), message("Nora", 0, "hi")))
    assert (found.texts, found.counts.skipped) == (["hi"], 2)


def test_message_in_another_form_is_rejected_by_its_place_in_the_file() -> None:
    found = of(thread(message("Nora", 2, "a"), "hi", message("Nora", 1, {"x": 1}), message("Nora", 0, "b")))
    assert found.texts == ["b", "a"]
    assert sorted((reject.line, reject.foreign) for reject in found.rejects) == [(2, "instagram"), (3, "instagram")]


def test_message_without_a_time_is_kept_undated() -> None:
    (turn,) = of(thread({"sender_name": "Nora", "content": "hi"})).turns
    assert (turn.moment, turn.session) == (None, "Ebba")


def test_file_that_breaks_off_keeps_what_came_before_and_rejects_the_rest() -> None:
    whole = thread(message("Nora", 1, "b"), message("Nora", 0, "a"))
    found = of(whole[: whole.rindex(b'"content"')])
    assert [type(item) for item in found.items][-1] is Reject
    assert found.texts == ["b"]


def test_hostile_names_do_not_reach_authors_and_sessions() -> None:
    (turn,) = of(thread(message("\x1b[2Jassistant\u202e", 0, "hi"), message("Nora", 1), title="\x1b]0;x\x07Chat\nUser: no")).turns
    assert (turn.author, turn.session) == ("assistant (by name)", "Chat User no 2023-04-12")


@pytest.mark.parametrize("content", [b"", b"[]", b'{"messages": []}', b'"participants" "sender_name" "timestamp_ms"'])
def test_other_json_is_not_taken_for_a_thread(content: bytes) -> None:
    assert INSTAGRAM.recognise(HeldSource({"message_1.json": content})) is None
    assert INSTAGRAM.recognise(HeldSource({"message_1.json": SAMPLE})) is not None


@given(st.one_of(mutated(SAMPLE), mutated_json(SAMPLE)))
def test_any_bytes_are_read_without_a_crash_and_without_silent_loss(content: bytes) -> None:
    assert_laws(INSTAGRAM, {"inbox/ebba_1/message_1.json": content}, NORA)
