from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from pgmem_local.conversation import Speaker, Turn
from pgmem_local.errors import IngestError
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.reader import Counts
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.table import TABLE, delimiter_of
from tests.ingest.laws import OPTIONS, HeldSource, assert_laws, mutated

DIARY = 'Date,Time,Entry\n2024-09-01,21:40,"Moved in, at last.\nTariq carried the ""sofa""."\n2024-09-15,06:10,Knee hurts\n'


def read(content: str | bytes, options: ReadOptions = OPTIONS) -> tuple[list[Turn], list[Reject], Counts]:
    held = HeldSource({"diary.csv": content.encode() if isinstance(content, str) else content})
    reader = TABLE.read(held, options)
    items = list(reader)
    return [one for one in items if isinstance(one, Turn)], [one for one in items if isinstance(one, Reject)], reader.counts


def test_quoted_commas_quotes_and_line_ends_belong_to_the_text() -> None:
    turns, rejects, counts = read(DIARY)
    assert [(turn.moment and turn.moment.isoformat(), turn.text) for turn in turns] == [
        ("2024-09-01T21:40:00+00:00", 'Moved in, at last.\nTariq carried the "sofa".'),
        ("2024-09-15T06:10:00+00:00", "Knee hurts"),
    ]
    assert not rejects
    assert counts.records == 2


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_told_from_the_first_line(delimiter: str) -> None:
    assert delimiter_of(delimiter.join(("date", "mood", "text"))) == delimiter
    turns, _, _ = read(f"date{delimiter}text\r\n2024-09-01{delimiter}Moved in.\r\n")
    assert turns[0].text == "Moved in."


def test_a_name_with_a_comma_does_not_win_over_known_columns() -> None:
    assert delimiter_of("date;text;where, and with whom, and why") == ";"


def test_excels_separator_line_and_byte_order_mark_are_no_header() -> None:
    turns, _, _ = read("\ufeffsep=;\nDate;Text\n01.09.2024;Moved in, at last.\n")
    assert [(turn.moment and turn.moment.day.isoformat(), turn.text) for turn in turns] == [("2024-09-01", "Moved in, at last.")]


def test_chat_turns_have_their_roles_and_sessions() -> None:
    turns, _, counts = read("timestamp,session,role,content\n2024-09-01T10:00Z,a,user,Hi\n2024-09-01T10:01Z,a,assistant,Hello\n,a,tool,0\n")
    assert [(turn.speaker, turn.session) for turn in turns] == [(Speaker.USER, "a"), (Speaker.ASSISTANT, "a")]
    assert counts.skipped == 1


def test_the_users_own_columns_are_taken() -> None:
    turns, _, _ = read("wann;was;text\n2024-09-01;Moved in.;x\n", replace(OPTIONS, fields={"text": "Was", "timestamp": "wann"}))
    assert [(turn.moment and turn.moment.day.isoformat(), turn.text) for turn in turns] == [("2024-09-01", "Moved in.")]


def test_a_table_without_a_text_column_is_an_error_that_names_the_columns() -> None:
    with pytest.raises(IngestError, match=r"the columns are wann, was; say which with --map text=COLUMN"):
        read("wann,was\n2024-09-01,Moved in.\n")
    with pytest.raises(IngestError, match=r"no column is called 'nota'; the columns are date, text"):
        read("date,text\n2024-09-01,Moved in.\n", replace(OPTIONS, fields={"text": "nota"}))


def test_a_quote_never_closed_costs_its_own_row_alone() -> None:
    turns, rejects, counts = read('date,text\n2024-09-01,"Moved in.\n2024-09-02,Two.\n2024-09-03,"Three."\n')
    assert [turn.text for turn in turns] == ["Two.", "Three."]
    assert [(reject.line, reject.raw) for reject in rejects] == [(2, '(table) 2024-09-01,"Moved in.\n')]
    assert counts.records == 3


def test_a_quote_never_closed_at_the_end_loses_no_rows() -> None:
    turns, rejects, _ = read('date,text\n2024-09-01,"Moved in.\n' + "2024-09-02,Two.\n" * 20_000)
    assert len(turns) == 20_000
    assert [reject.line for reject in rejects] == [2]


def test_unquoted_commas_reject_the_row_rather_than_cut_its_text() -> None:
    turns, rejects, _ = read("date,text\n2024-09-01,Moved in, at last.\n2024-09-02,Two.,,\n")
    assert [turn.text for turn in turns] == ["Two."]
    assert rejects[0].reason == "3 cells under 2 columns: put quotes round a text that holds the separator"


def test_rows_without_text_are_left_out_and_blank_lines_no_records() -> None:
    _, _, counts = read("date,text\n2024-09-01,\n\n,,\n2024-09-02,Two.\n")
    assert (counts.records, counts.turns, counts.skipped, counts.blank) == (2, 1, 1, 2)


def test_the_order_of_day_and_month_is_shown_by_other_rows_or_by_the_user_and_else_the_row_is_rejected() -> None:
    turns, _, _ = read("date,text\n03/04/2025,One.\n13/04/2025,Two.\n")
    assert [turn.moment.day.isoformat() for turn in turns if turn.moment] == ["2025-04-03", "2025-04-13"]
    _, rejects, _ = read("date,text\n03/04/2025,One.\n2025-04-05,Two.\n")
    assert [reject.line for reject in rejects] == [2]
    _, rejects, _ = read("date,text\n03/04/2025,One.\n13/04/2025,Two.\n04/13/2025,Three.\n")
    assert [reject.line for reject in rejects] == [2], "the rows contradict each other"
    turns, _, _ = read("date,text\n03/04/2025,One.\n", replace(OPTIONS, day_first=False))
    assert [turn.moment.day.isoformat() for turn in turns if turn.moment] == ["2025-03-04"]


def test_a_missing_date_is_never_invented_and_dates_in_words_are_read() -> None:
    turns, _, _ = read('date,text\n,One.\nsoon,Two.\n"3 March 2025",Three.\n')
    assert [turn.moment and turn.moment.day.isoformat() for turn in turns] == [None, None, "2025-03-03"]


def test_a_row_in_another_encoding_or_too_long_is_rejected_and_the_others_stay() -> None:
    turns, rejects, _ = read(b"date,text\n2024-09-01,caf\xe9\n2024-09-02," + b"x" * 3_000_000 + b"\n2024-09-03,Three.\n")
    assert [turn.text for turn in turns] == ["Three."]
    assert [reject.line for reject in rejects] == [2, 3]


def test_a_table_is_recognised_by_its_name_and_among_other_files_by_a_text_column() -> None:
    assert TABLE.recognise(HeldSource({"a.csv": b"wann,was\n"})) == "a.csv has the columns wann, was"
    assert TABLE.recognise(HeldSource({"a.tsv": b"date\ttext\n", "b.png": b""})) == "a.tsv has the columns date, text"
    assert TABLE.recognise(HeldSource({"a.csv": b"name,tags\n", "b.md": b""})) is None
    assert TABLE.recognise(HeldSource({"a.txt": b"date,text\n"})) is None


@pytest.mark.parametrize("content", ["", "\n\n", "date,text\n", ",,,\n", '"date,text\n2024,x\n'])
def test_a_table_without_rows_is_an_error(content: str) -> None:
    with pytest.raises(IngestError):
        read(content)


@given(mutated(DIARY.encode()))
def test_any_bytes_are_read_without_a_crash_and_without_silent_loss(content: bytes) -> None:
    assert_laws(TABLE, {"diary.csv": content})
