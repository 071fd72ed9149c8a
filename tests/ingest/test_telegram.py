from __future__ import annotations

import json
from datetime import timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgmem_local.conversation import Speaker, Turn
from pgmem_local.errors import IngestError
from pgmem_local.ingest.exchanges import Exchanges
from pgmem_local.ingest.formats import ReadOptions, Recognised
from pgmem_local.ingest.reader import Counts
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.telegram import TELEGRAM
from tests.ingest.laws import NOW, HeldSource, assert_laws, mutated, mutated_json
from tests.ingest.reading import sample

ONE_CHAT, ACCOUNT = sample("telegram_chat.json"), sample("telegram_account.json")
OPTIONS = ReadOptions(timezone.utc, NOW)


def read(content: bytes | dict[str, Any], options: ReadOptions = OPTIONS) -> tuple[list[Turn | Reject], Counts]:
    files = {"result.json": content if isinstance(content, bytes) else json.dumps(content).encode()}
    reader = TELEGRAM.read(HeldSource(files), options)
    return list(reader), reader.counts


def turns(content: bytes | dict[str, Any], options: ReadOptions = OPTIONS) -> list[Turn]:
    return [item for item in read(content, options)[0] if isinstance(item, Turn)]


def message(sender: int | None, text: object, name: str | None = None, **more: object) -> dict[str, object]:
    names = {1: "Nora", 2: "Tariq", 3: "Leila"}
    written = {"type": "message", "date": "2024-10-05T10:00:00", "date_unixtime": "1728115200", "text": text}
    return {**written, "from": name or names.get(sender or 0), "from_id": f"user{sender}" if sender else None, **more}


def chat(*messages: object, kind: str = "personal_chat", identifier: int = 2, name: object = "Tariq") -> dict[str, Any]:
    return {"name": name, "type": kind, "id": identifier, "messages": list(messages)}


def account(*chats: dict[str, Any], user_id: object = 1) -> dict[str, Any]:
    return {"personal_information": {"user_id": user_id}, "chats": {"about": "", "list": list(chats)}}


def test_one_chat_is_read_with_text_in_pieces_and_the_clock_of_its_computer() -> None:
    items, counts = read(ONE_CHAT)
    assert [(item.author, item.text, str(item.moment), item.session) for item in items if isinstance(item, Turn)] == [
        ("Tariq Example", "Do you still go to Solros on Saturdays?", "2024-10-05T10:02:11+02:00", "Tariq Example 2024-10-05"),
        (None, "Yes, every Saturday with Pixel. Menu: https://example.org/solros", "2024-10-05T10:03:40+02:00", "Tariq Example 2024-10-05"),
    ]
    assert {wording: noted.lines for wording, noted in counts.notes.items()} == {
        "an entry of Telegram's own (who joined, calls, pins): left out": [1],
        "a message without words (picture, recording, sticker): left out": [4, 5],
        "a forwarded message, which is not its sender's own: left out": [6],
    }
    assert (counts.records, counts.turns, counts.skipped, counts.bytes_read) == (6, 2, 4, len(ONE_CHAT))


def test_chats_of_an_account_are_sessions_and_its_owner_is_known() -> None:
    found = turns(ACCOUNT)
    assert [(turn.speaker, turn.session) for turn in found] == [
        (Speaker.OTHER, "Tariq Example 2024-10-05"),
        (Speaker.USER, "Tariq Example 2024-10-05"),
        (Speaker.USER, "Saved Messages 2025-03-29"),
    ]


def test_owner_is_told_by_id_where_another_has_the_same_name() -> None:
    found = turns(account(chat(message(1, "a"), message(3, "b", "Nora"), kind="private_group")))
    assert [(turn.speaker, turn.author) for turn in found] == [(Speaker.USER, None), (Speaker.OTHER, "Nora")]


def test_two_accounts_of_one_name_are_asked_about_by_their_ids() -> None:
    group = chat(message(1, "a"), message(3, "b", "Nora"), message(2, "c"), kind="private_group", identifier=9)
    with pytest.raises(IngestError, match=r"which of these are you\?.*'Nora' \(2\), 'Tariq' \(1\)"):
        turns(group)
    with pytest.raises(IngestError, match=r"more than one account.*user1, user3"):
        turns(group, ReadOptions(timezone.utc, NOW, me="Nora"))
    found = turns(group, ReadOptions(timezone.utc, NOW, me="user3"))
    assert [turn.text for turn in found if turn.speaker is Speaker.USER] == ["b"]


def test_owner_is_who_writes_into_saved_messages() -> None:
    found = turns(chat(message(1, "buy milk"), message(3, "x", forwarded_from="Leila"), kind="saved_messages", identifier=1, name=None))
    assert [(turn.speaker, turn.text, turn.session) for turn in found] == [(Speaker.USER, "buy milk", "Saved Messages 2024-10-05")]


def test_owner_of_a_chat_of_two_is_not_the_one_whose_id_it_has() -> None:
    assert [turn.speaker for turn in turns(chat(message(2, "a"), message(1, "b")))] == [Speaker.OTHER, Speaker.USER]
    with pytest.raises(IngestError, match="--me"):
        turns(chat(message(2, "a"), message(1, "b"), identifier=7))


@pytest.mark.parametrize(
    "more", [{"forwarded_from": "Leila"}, {"forwarded_from": None}, {"forwarded_from_id": "user3"}, {"via_bot": "@gif"}]
)
def test_words_that_are_not_the_senders_own_are_left_out(more: dict[str, object]) -> None:
    items, counts = read(account(chat(message(1, "own"), message(1, "not own", **more))))
    assert [item.text for item in items if isinstance(item, Turn)] == ["own"]
    assert counts.skipped == 1


def test_posts_of_channels_are_left_out_and_bots_are_the_assistant() -> None:
    content = account(
        chat(message(2, "Buy!"), kind="public_channel"),
        chat(message(1, "weather?"), message(5, "rain", "WeatherBot"), kind="bot_chat", identifier=5, name="WeatherBot"),
    )
    items, counts = read(content)
    assert [(item.speaker, item.author) for item in items if isinstance(item, Turn)] == [(Speaker.USER, None), (Speaker.ASSISTANT, None)]
    assert counts.skipped == 1
    reader = TELEGRAM.read(HeldSource({"r.json": json.dumps(content).encode()}), OPTIONS)
    (exchange,) = Exchanges(reader, Recognised(TELEGRAM, ""))
    assert not isinstance(exchange, Reject)
    assert exchange.reply == "rain"


def test_chats_left_are_read_too_and_a_deleted_account_has_no_name() -> None:
    content = account(chat(message(1, "a")))
    content["left_chats"] = {"list": [chat(message(4, "b"), kind="private_group", name=None)]}
    assert [(turn.author, turn.session) for turn in turns(content)] == [
        (None, "Tariq 2024-10-05"),
        ("a deleted account", "somebody without a name 2024-10-05"),
    ]


def test_old_export_without_unix_time_is_read_in_the_users_zone_and_says_so() -> None:
    old = message(1, "a")
    del old["date_unixtime"]
    items, counts = read(account(chat({**old, "from_id": 1})))
    assert isinstance(items[0], Turn)
    assert (items[0].speaker, str(items[0].moment)) == (Speaker.USER, "2024-10-05T10:00:00+00:00")
    assert "no time zone given: read as UTC" in counts.notes


@pytest.mark.parametrize("date", ["2024-10-05T10:07:00", "2024-10-07T08:00:00", "soon", None, 5, "2024-10-05T10:00:00+02:00"])
def test_date_that_tells_no_zone_leaves_the_instant_alone(date: object) -> None:
    (turn,) = turns(account(chat(message(1, "a", date=date))))
    assert str(turn.moment) == "2024-10-05T08:00:00+00:00"


def test_hostile_names_do_not_reach_authors_sessions_or_errors() -> None:
    group = chat(message(7, "hi", "\x1b[2JUser\u202e"), message(8, "ho"), kind="private_group", name="a\x1b]0;x\x07\nb" * 50)
    (turn, _) = turns(account(group))
    assert (turn.author, len(turn.session or "")) == ("User (by name)", 71)
    assert (turn.session or "").isprintable()
    with pytest.raises(IngestError) as raised:
        turns(group)
    assert str(raised.value).isprintable()


def test_entry_that_is_no_message_is_rejected_by_number_and_kept() -> None:
    items, _ = read(account(chat(message(1, "a"), 7, message(1, {"x": "my password is Otter-41-Lake"}), message(1, ["a", 5]))))
    rejects = [item for item in items if isinstance(item, Reject)]
    assert [(reject.line, reject.foreign) for reject in rejects] == [(2, "telegram"), (3, "telegram"), (4, "telegram")]
    assert '"type": "message"' in rejects[1].raw
    assert "Otter" not in rejects[1].raw


def test_file_that_breaks_off_keeps_what_came_before_and_rejects_the_rest() -> None:
    content = json.dumps(account(chat(message(1, "a"), message(1, "b")))).encode()
    items, _ = read(content[: content.rindex(b'"type"')])
    assert [type(item) for item in items] == [Turn, Reject]


def test_export_without_a_message_is_an_error() -> None:
    with pytest.raises(IngestError, match="is empty; expected Telegram"):
        read(account(chat()))


@pytest.mark.parametrize("content", [b"", b"[]", b'{"messages": []}', b'{"text": "x", "type": "message"}', b"personal_chat"])
def test_other_json_is_not_taken_for_telegram(content: bytes) -> None:
    assert TELEGRAM.recognise(HeldSource({"result.json": content})) is None


def test_export_is_recognised_whatever_the_file_is_called_in_its_folder() -> None:
    assert TELEGRAM.recognise(HeldSource({"ChatExport/a.json": ONE_CHAT})) == "ChatExport/a.json is a chat of the type personal_chat"
    assert TELEGRAM.recognise(HeldSource({"result.json": ACCOUNT})) == "result.json is an account with its chats"


@given(st.one_of(mutated(ONE_CHAT), mutated_json(ONE_CHAT), mutated(ACCOUNT), mutated_json(ACCOUNT)))
def test_any_bytes_are_read_without_a_crash_and_without_silent_loss(content: bytes) -> None:
    assert_laws(TELEGRAM, {"result.json": content}, ReadOptions(timezone.utc, NOW, me="Nora"))
