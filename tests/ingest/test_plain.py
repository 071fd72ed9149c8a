from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from pgmem_local.conversation import Turn
from pgmem_local.errors import IngestError
from pgmem_local.ingest.plain import PLAIN_TEXT, dated_line
from pgmem_local.ingest.reader import Counts
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.text_files import LONGEST_SECTION
from tests.ingest.laws import OPTIONS, HeldSource, assert_laws, mutated

DIARY = """A preface.

Another paragraph
of two lines.

Sunday, 1 September 2024
We moved in. Tariq carried the sofa.

Leila's bread was good.

== 2024-09-15 ==
Knee hurts.
2024-09-16: Called Ebba.
[2024-09-17 06:10 PM] Ran 8 km: slow.
In 2024 I moved: twice.
"""


def read(files: dict[str, str | bytes], day_first: bool | None = None) -> tuple[list[Turn], list[Reject], Counts]:
    held = {name: content.encode() if isinstance(content, str) else content for name, content in files.items()}
    reader = PLAIN_TEXT.read(HeldSource(held), replace(OPTIONS, day_first=day_first))
    items = list(reader)
    return [one for one in items if isinstance(one, Turn)], [one for one in items if isinstance(one, Reject)], reader.counts


def recognised(content: str | bytes, name: str = "diary.txt") -> str | None:
    return PLAIN_TEXT.recognise(HeldSource({name: content.encode() if isinstance(content, str) else content}))


def test_a_diary_is_cut_at_its_dates_and_what_precedes_them_at_its_paragraphs() -> None:
    turns, _, counts = read({"diary.txt": DIARY})
    assert [(turn.moment and turn.moment.local.isoformat()[:16], turn.text) for turn in turns] == [
        (None, "A preface."),
        (None, "Another paragraph\nof two lines."),
        ("2024-09-01T00:00", "We moved in. Tariq carried the sofa.\n\nLeila's bread was good."),
        ("2024-09-15T00:00", "Knee hurts."),
        ("2024-09-16T00:00", "Called Ebba."),
        ("2024-09-17T18:10", "Ran 8 km: slow.\nIn 2024 I moved: twice."),
    ]
    assert counts.notes["no time given: stored without one"].lines == [1, 3]


@pytest.mark.parametrize(
    "line",
    ["2024-09-15", "15.09.2024", "Sonntag, 15. September 2024", "# September 15th, 2024", "--- 2024/09/15 ---", "**2024-09-15**:",
     "\tDate:\t15 September 2024 at 07:30:00 GMT+2", "[2024-09-15]", "20240915", "2024-09-15 Sunday", "2024-09-15 07:30"],
)  # fmt: skip
def test_a_date_alone_on_its_line_begins_an_entry(line: str) -> None:
    found = dated_line(line)
    assert found is not None
    assert found.rest == ""


@pytest.mark.parametrize(
    "line",
    ["", "2024", "1.5", "12345678901", "-3", "I was born on 2 May 1990.", "10:30", "My date: 2024-09-15", "1.2.3 - v", "2024-09-15x: y"],
)
def test_numbers_and_dates_within_sentences_begin_none(line: str) -> None:
    assert dated_line(line) is None


def test_a_file_named_by_a_date_is_one_entry() -> None:
    turns, _, _ = read({"2024-09-15.txt": "One.\n\n2024-09-20\n\nTwo."})
    assert [(turn.moment and turn.moment.day.isoformat(), turn.text) for turn in turns] == [("2024-09-15", "One.\n\n2024-09-20\n\nTwo.")]


def test_an_ambiguous_date_rejects_its_entry_unless_the_order_was_said() -> None:
    text = "03/04/2025\nWhich day?\n\n2025-04-05\nThis day."
    turns, rejects, _ = read({"a.txt": text})
    assert [turn.text for turn in turns] == ["This day."]
    assert (rejects[0].line, rejects[0].raw) == (1, "(plain) 03/04/2025\nWhich day?")
    turns, rejects, _ = read({"a.txt": text}, day_first=True)
    assert [turn.moment.day.isoformat() for turn in turns if turn.moment] == ["2025-04-03", "2025-04-05"]
    assert not rejects


def test_the_order_of_day_and_month_is_taken_from_the_other_dates_of_the_file() -> None:
    turns, rejects, _ = read({"a.txt": "03/04/2025\nOne.\n\n13/04/2025\nTwo."})
    assert [turn.moment.day.isoformat() for turn in turns if turn.moment] == ["2025-04-03", "2025-04-13"]
    assert not rejects


def test_a_paragraph_in_another_encoding_is_rejected_and_the_others_stay() -> None:
    turns, rejects, _ = read({"a.txt": b"One.\n\ncaf\xe9\n\nTwo."})
    assert [turn.text for turn in turns] == ["One.", "Two."]
    assert [reject.line for reject in rejects] == [3]


def test_a_text_without_end_is_cut_and_nothing_of_it_is_lost() -> None:
    line = "word " * 2000 + "\n"
    turns, _, _ = read({"a.txt": "2024-09-15\n" + line * (2 * LONGEST_SECTION // len(line))})
    assert len(turns) == 2
    assert sum(turn.text.count("word") for turn in turns) == 2000 * (2 * LONGEST_SECTION // len(line))
    assert len({turn.moment for turn in turns}) == 1


@pytest.mark.parametrize(
    "content",
    [
        "[12/04/2023, 09:01:07] Ebba: hello\n[12/04/2023, 09:01:08] Nora: hi\n",
        "31/08/24, 18:58 - Nora: hello\n",
        "\u200e[14/10/2025, 3:34:09\u202fPM] Ines: I sold my boat\n",
        '{"text": "a"}\n',
        '[{"text": "a"}]',
        "<html></html>",
        b"PK\x00\x01",
    ],
)
def test_chats_data_and_markup_are_not_claimed(content: str | bytes) -> None:
    assert recognised(content) is None


def test_text_is_claimed_by_its_name_or_its_content() -> None:
    assert recognised(DIARY) == "diary.txt is text"
    assert recognised(DIARY, "diary")
    assert recognised("[2024-09-17 06:10] Ran 8 km.\n[2024-09-18 06:10] Thought of Ebba: bowls.\n[2024-09-19 06:10] Rest.\n")
    assert recognised(DIARY, "diary.json") is None
    assert PLAIN_TEXT.recognise(HeldSource({"a.txt": b"words", "b.json": b"{}"})) is None


def test_an_empty_file_is_an_error() -> None:
    with pytest.raises(IngestError):
        read({"a.txt": "\n\n"})


@given(mutated(DIARY.encode()))
def test_any_bytes_are_read_without_a_crash_and_without_silent_loss(content: bytes) -> None:
    assert_laws(PLAIN_TEXT, {"diary.txt": content})
