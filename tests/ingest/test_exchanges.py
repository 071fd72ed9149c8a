from __future__ import annotations

import json
from pathlib import Path

import pytest

from pgmem_local.conversation import Exchange
from pgmem_local.errors import IngestError
from pgmem_local.ingest.exchanges import Exchanges
from pgmem_local.ingest.registry import read_exchanges
from pgmem_local.ingest.rejects import Reject


def exchanges(tmp_path: Path, *lines: tuple[str, str, str] | str) -> Exchanges:
    path = tmp_path / "chat.jsonl"
    records = [x if isinstance(x, str) else json.dumps(dict(zip(("session", "role", "text"), x, strict=True))) for x in lines]
    path.write_text("\n".join(records))
    return read_exchanges(path)


def pairs(found: Exchanges) -> list[tuple[str, str | None]]:
    return [(item.said.text, item.reply) for item in found if isinstance(item, Exchange)]


def test_replies_follow_the_user_through_interleaved_sessions(tmp_path: Path) -> None:
    found = exchanges(
        tmp_path, ("a", "user", "one"), ("b", "user", "two"), ("a", "assistant", "1"), ("b", "ai", "2"), ("a", "assistant", "1b")
    )
    assert pairs(found) == [("one", "1\n1b"), ("two", "2")]


def test_assistant_turn_that_opens_a_session_is_counted(tmp_path: Path) -> None:
    found = exchanges(tmp_path, ("a", "assistant", "Hello!"), ("a", "user", "hi"), ("b", "assistant", "Hey"))
    assert pairs(found) == [("hi", None)]
    assert found.counts.loose_replies == 2


def test_rejects_come_through_between_exchanges(tmp_path: Path) -> None:
    found = list(exchanges(tmp_path, ("a", "user", "hi"), "null", ("a", "assistant", "ho")))
    assert [type(item) for item in found] == [Reject, Exchange]


def test_file_without_a_word_of_the_user_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="the assistant's"):
        list(exchanges(tmp_path, ("a", "assistant", "Hello!")))


def test_secret_in_a_reply_is_masked(tmp_path: Path) -> None:
    found = exchanges(tmp_path, ("a", "user", "hi"), ("a", "assistant", "Your password is Otter-41-Lake"))
    assert "Otter" not in repr(pairs(found))
    assert found.counts.masked.lines == [2]
