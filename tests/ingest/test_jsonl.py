from __future__ import annotations

import json
import os
import tempfile
import threading
import tracemalloc
from datetime import datetime, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pgmem_local.conversation import Moment, Speaker, Turn, entry_key
from pgmem_local.errors import IngestError
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.jsonl import JSON_LINES, LONGEST_LINE, JsonLines
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.secrets import MARK
from pgmem_local.ingest.source import GZIP, open_source
from tests.ingest.laws import assert_laws, mutated

NOW = datetime(2026, 7, 1, tzinfo=timezone.utc)
EIGHT = Moment(datetime(2026, 6, 1, 6, tzinfo=timezone.utc), 120)

DIRTY = (
    b'\xef\xbb\xbf{"ts": "2026-06-01T08:00:00+02:00", "role": "user", "text": "A mark before it; I keep a brown hen."}\r\n'
    b"\r\n"
    b'{"ts": "2026-06-02T08:00:00+02:00", "role": "user", "text": "I keep a grey goose."},\r\n'
    b"   \r\n"
    b'{"ts": "2026-06-03T08:00:00+02:00", "role": "user", "text": "broken off\r\n'
    b"null\r\n"
    b'"only a string"\r\n'
    b"[1,2]\r\n"
    b'{"ts": "2026-06-04T08:00:00+02:00", "role": "user", "text": "I keep a white duck."}\r\n'
    b'{"role":"user","text":"no time, I keep a quail."}\r\n'
    b'{"ts":"2026-06-05T08:00:00+02:00","role":"user"}\r\n'
    b'{"ts":"2026-06-06T08:00:00+02:00","role":"tool","text":"exit code 0"}\r\n'
    b'{"ts":"2026-06-07T08:00:00+02:00","role":"user","text":"half an emoji \\ud83d and a NUL \\u0000, I keep a cat."}\r\n'
    b'{"ts":"2026-06-08T08:00:00+02:00","role":"user","text":"first","text":"I keep a goat."}\r\n'
    b'{"ts":NaN,"role":"user","text":"I keep a ram."}\r\n'
    b'{"ts": "2026-06-09T08:00:00+02:00", "role": "user", "text": "No line end: I keep a mule."}'
)


def reader(tmp_path: Path, content: bytes | str) -> JsonLines:
    path = tmp_path / "in.jsonl"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return JsonLines(open_source(path), ReadOptions(ZoneInfo("Europe/Vienna"), NOW))


def read(tmp_path: Path, *records: object) -> list[Turn | Reject]:
    return list(reader(tmp_path, "\n".join(map(json.dumps, records))))


def turns(items: list[Turn | Reject]) -> list[Turn]:
    return [item for item in items if isinstance(item, Turn)]


def test_dirty_file_gives_every_good_record_and_rejects_the_others_by_line(tmp_path: Path) -> None:
    lines = reader(tmp_path, DIRTY)
    items = list(lines)
    assert [item.line for item in items if isinstance(item, Reject)] == [5, 6, 7, 8, 11]
    animals = [turn.text.rstrip(".").split()[-1] for turn in turns(items)]
    assert animals == ["hen", "goose", "duck", "quail", "cat", "goat", "ram", "mule"]
    counts = lines.counts
    assert (counts.records, counts.blank, counts.turns, counts.rejected, counts.skipped) == (14, 2, 8, 5, 1)


def test_what_was_repaired_or_assumed_is_noted_with_its_line(tmp_path: Path) -> None:
    lines = reader(tmp_path, DIRTY)
    list(lines)
    noted = {wording: note.lines for wording, note in lines.counts.notes.items()}
    assert noted == {
        "a comma too many at the end: removed": [3],
        "no time given: stored without one": [10],
        "role 'tool' that is neither the user's nor the assistant's: left out": [12],
        "a key occurs twice: the last one counts": [14],
        "time not understood: stored without one": [15],
    }


def test_half_an_emoji_and_nul_never_leave_the_reader(tmp_path: Path) -> None:
    texts = [turn.text for turn in turns(list(reader(tmp_path, DIRTY)))]
    assert "half an emoji \ufffd and a NUL , I keep a cat." in texts


@pytest.mark.parametrize("name", ["timestamp", "ts", "time", "date", "created_at", "datetime", "createdAt", "Timestamp"])
def test_time_is_found_under_the_names_people_use(tmp_path: Path, name: str) -> None:
    assert read(tmp_path, {name: "2026-06-01T08:00:00+02:00", "text": "x"}) == [Turn("x", EIGHT)]


@pytest.mark.parametrize("name", ["text", "content", "body", "entry", "message", "Text"])
def test_text_is_found_under_the_names_people_use(tmp_path: Path, name: str) -> None:
    assert read(tmp_path, {"id": 7, name: "x"}) == [Turn("x", None)]


def test_date_and_time_of_day_in_two_fields_are_one_moment(tmp_path: Path) -> None:
    assert read(tmp_path, {"date": "2026-06-01", "time": "08:00", "text": "x"}) == [Turn("x", EIGHT)]


def test_fields_of_the_users_own_names_are_read_before_the_usual_ones(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"note": "x", "text": "y", "When": "2026-06-01T08:00:00+02:00", "who": "ai", "thread": "t"}))
    fields = {"text": "note", "timestamp": "when", "role": "who", "session": "thread"}
    assert next(iter(JsonLines(open_source(path), ReadOptions(fields=fields)))) == Turn("x", EIGHT, Speaker.ASSISTANT, "t")


@pytest.mark.parametrize(("day_first", "moment"), [(True, EIGHT), (False, Moment(datetime(2026, 1, 6, 7, tzinfo=timezone.utc), 60))])
def test_order_of_day_and_month_is_the_users_to_say(tmp_path: Path, day_first: bool, moment: Moment) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"ts": "01/06/2026 08:00", "text": "x"}))
    options = ReadOptions(ZoneInfo("Europe/Vienna"), NOW, day_first=day_first)
    assert list(JsonLines(open_source(path), options)) == [Turn("x", moment)]


@pytest.mark.parametrize("name", ["session", "session_id", "conversation", "conversationId", "chat_id", "thread"])
def test_session_is_found_under_the_names_people_use(tmp_path: Path, name: str) -> None:
    assert [turn.session for turn in turns(read(tmp_path, {name: "s1", "text": "x"}, {name: 7, "text": "y"}))] == ["s1", "7"]


@pytest.mark.parametrize(
    ("role", "speaker"),
    [(role, Speaker.USER) for role in ("user", "human", "me", "owner", "User ", None, "")]
    + [(role, Speaker.ASSISTANT) for role in ("assistant", "ai", "bot", "model")],
)
def test_speaker_is_told_by_the_roles_people_use(tmp_path: Path, role: object, speaker: Speaker) -> None:
    assert read(tmp_path, {"role": role, "text": "x"}) == [Turn("x", None, speaker)]


def test_other_roles_are_counted_and_are_nobodys_words(tmp_path: Path) -> None:
    lines = reader(tmp_path, "\n".join(json.dumps({"role": role, "text": "x"}) for role in ("user", "system", "a", "b")))
    assert len(list(lines)) == 1
    assert lines.counts.skipped == 3
    assert len(lines.counts.notes) == 3  # of the user's turn: no time; system by name; a and b as one


def test_content_in_parts_is_joined_and_parts_that_are_no_text_reject_the_record(tmp_path: Path) -> None:
    items = read(tmp_path, {"content": [{"type": "text", "text": "a"}, "b"]}, {"content": [{"type": "image"}, "c"]})
    assert items[0] == Turn("a\nb", None)
    assert isinstance(items[1], Reject)


def test_comma_after_the_last_member_is_repaired(tmp_path: Path) -> None:
    assert list(reader(tmp_path, '{"text": "a,}",},  ')) == [Turn("a,}", None)]


def test_date_with_two_readings_rejects_the_record_with_the_reason(tmp_path: Path) -> None:
    _, reject = read(tmp_path, {"text": "x"}, {"date": "03/04/2025", "text": "y"})
    assert isinstance(reject, Reject)
    assert "03/04/2025" in reject.reason


@pytest.mark.parametrize(
    "line", [b'{"text": "\xff"}', b"[" * 200_000, b'{"ts": ' + b"9" * 5000 + b', "text": 5}', b'{"role": 7, "text": "x"}']
)
def test_line_that_breaks_a_parser_is_rejected_by_number_and_the_rest_is_read(tmp_path: Path, line: bytes) -> None:
    items = list(reader(tmp_path, b'{"text": "a"}\n' + line + b'\n{"text": "z"}'))
    assert [turn.text for turn in turns(items)] == ["a", "z"]
    assert [item.line for item in items if isinstance(item, Reject)] == [2]


def test_repair_of_a_comma_takes_no_time_on_a_long_bad_line(tmp_path: Path) -> None:
    items = list(reader(tmp_path, '{"text": "a"}\n{,' + " " * 1_000_000 + "x"))
    assert isinstance(items[1], Reject)


def test_line_that_is_too_long_is_rejected_without_being_held_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(b'{"text": "a"}\n{"text": "')
        for _ in range(50):
            file.write(b"x" * 1024 * 1024)
        file.write(b'"}\n{"text": "z"}')
    tracemalloc.start()
    try:
        items = list(JsonLines(open_source(path), ReadOptions()))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [turn.text for turn in turns(items)] == ["a", "z"]
    (reject,) = (item for item in items if isinstance(item, Reject))
    assert (reject.line, len(reject.raw)) == (2, 200)
    assert "8 MiB" in reject.reason
    assert peak < 3 * LONGEST_LINE


def test_longest_line_allowed_is_read(tmp_path: Path) -> None:
    line = '{"text": "' + "x" * (LONGEST_LINE - 13) + '"}\n'
    assert len(line) == LONGEST_LINE
    assert len(turns(list(reader(tmp_path, line)))) == 1


def test_secrets_are_masked_in_text_session_and_rejects_and_counted_by_line(tmp_path: Path) -> None:
    content = (
        '{"text": "The password is Otter-41-Lake, keep it.", "session": "PIN 4821"}\n'
        '{"text": "nothing"}\n'
        '{"text": "The password is Otter-41-Lake", \n' + json.dumps({"date": "03/04/2025", "text": "contraseña: Nutria77"})
    )
    lines = reader(tmp_path, content)
    items = list(lines)
    assert "Otter" not in repr(items)
    assert "4821" not in repr(items)
    assert "Nutria77" not in repr(items)
    assert turns(items)[0].text == f"The password is {MARK}, keep it."
    assert (lines.counts.masked.count, lines.counts.masked.lines) == (4, [1, 1, 3, 4])


def test_masked_reject_can_still_be_parsed_after_its_repair(tmp_path: Path) -> None:
    first, reject = read(tmp_path, {"text": "x"}, {"date": "03/04/2025", "text": 'My password is "Otter41", \\u00e9 "so" there'})
    assert isinstance(reject, Reject)
    assert json.loads(reject.raw)["text"] == f'My password is "{MARK}", \\u00e9 "so" there'
    assert isinstance(first, Turn)


def test_same_entries_have_the_same_keys_in_another_file_line_end_or_order_of_keys(tmp_path: Path) -> None:
    entry = {"ts": "2026-06-01T08:00:00+02:00", "text": "I planted leeks."}
    plain = reader(tmp_path, json.dumps(entry) + "\n")
    keys = [entry_key(turn) for turn in turns(list(plain))]
    other = tmp_path / "other.jsonl"
    other.write_bytes(json.dumps({"id": 3, **dict(reversed(entry.items()))}).encode() + b"\r\n")
    assert [entry_key(turn) for turn in turns(list(JsonLines(open_source(other), ReadOptions(now=NOW))))] == keys


def test_same_words_on_two_days_are_two_entries(tmp_path: Path) -> None:
    days = [{"ts": f"2026-06-0{day}T08:00:00Z", "text": "I planted leeks."} for day in (1, 2)]
    assert len({entry_key(turn) for turn in turns(read(tmp_path, *days))}) == 2


def test_file_that_cannot_be_used_says_what_to_give_instead(tmp_path: Path) -> None:
    for path, reason in (
        (tmp_path / "none.jsonl", "does not exist"),
        (tmp_path, "is empty"),
        (Path("a\0b"), "does not exist|cannot be opened"),
    ):
        with pytest.raises(IngestError, match=reason):
            list(JsonLines(open_source(path), ReadOptions()))


@pytest.mark.parametrize("content", [b"", b"\n \r\n", b"\xef\xbb\xbf"])
def test_empty_file_is_an_error(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(IngestError, match="is empty"):
        list(reader(tmp_path, content))


def test_file_of_bad_lines_only_is_an_error_that_names_the_first(tmp_path: Path) -> None:
    items: list[Turn | Reject] = []
    with pytest.raises(IngestError, match="nothing could be read: first problem: line 2: null"):
        items.extend(reader(tmp_path, "\nnull\n[]\n"))
    assert len(items) == 2


def test_file_in_which_only_others_speak_is_an_error_that_names_the_role(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="line 1: role 'system'"):
        read(tmp_path, {"role": "system", "text": "x"})


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes")
def test_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(b'{"text": "a"}\n{"text": "b"}',))
    writer.start()
    assert len(list(JsonLines(open_source(path), ReadOptions()))) == 2
    writer.join()


PIECES = [
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b'"text"',
    b'"role"',
    b'"ts"',
    b'"user"',
    b'"tool"',
    b'"x"',
    b"null",
    b"0",
    b"NaN",
    b"\n",
    b"\r\n",
]
PIECES += [
    b'{"text": "x"}',
    b'{"text": "y", "ts": "03/04/2025"}',
    b'{"file":"f","line":1,"reason":"r","raw":"{}"}',
    b"\xff",
    b"\x00",
    b"\xef\xbb\xbf",
    b"\\ud83d",
]


@given(mutated(DIRTY))
def test_any_bytes_of_a_damaged_file_obey_the_laws_of_all_formats(content: bytes) -> None:
    assert_laws(JSON_LINES, {"diary.jsonl": content})


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.binary(max_size=200), st.lists(st.sampled_from(PIECES)).map(b"".join)))
def test_any_bytes_are_read_without_a_crash_and_without_silent_loss(content: bytes) -> None:
    assume(not content.startswith(GZIP))  # whose lines are those of what is packed in it
    with tempfile.TemporaryDirectory() as folder:
        lines = reader(Path(folder), content)
        items: list[Turn | Reject] = []
        try:
            items.extend(lines)
        except IngestError:
            assert not lines.counts.turns
    counts = lines.counts
    assert counts.bytes_read == len(content)
    content = content.removeprefix(b"\xef\xbb\xbf")
    physical = content.removesuffix(b"\n").split(b"\n") if content else []
    assert counts.records + counts.blank == len(physical)
    assert counts.records == counts.turns + counts.rejected + counts.skipped
    for turn in turns(items):
        turn.text.encode("utf-8")
        assert turn.text.strip()
