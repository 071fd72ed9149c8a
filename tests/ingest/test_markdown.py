from __future__ import annotations

import time
from pathlib import Path
from zipfile import ZipFile

import pytest
from hypothesis import given

from pgmem_local.conversation import Turn
from pgmem_local.errors import IngestError
from pgmem_local.ingest.markdown import MARKDOWN, notes_of
from pgmem_local.ingest.reader import Counts
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.source import open_source
from pgmem_local.ingest.written_days import CONTRADICTED, day_in_name
from tests.ingest.laws import OPTIONS, HeldSource, assert_laws, mutated

VAULT = Path(__file__).parent / "samples" / "vault"
DAILY = (VAULT / "2024-09-15.md").read_bytes()


def read(files: dict[str, str | bytes]) -> tuple[list[Turn], list[Reject], Counts]:
    held = {name: content.encode() if isinstance(content, str) else content for name, content in files.items()}
    reader = MARKDOWN.read(HeldSource(held), OPTIONS)
    items = list(reader)
    return [one for one in items if isinstance(one, Turn)], [one for one in items if isinstance(one, Reject)], reader.counts


def text_of(note: str) -> str:
    return read({"2024-09-15.md": note})[0][0].text


def days(files: dict[str, str | bytes]) -> list[str | None]:
    return [turn.moment and turn.moment.day.isoformat() for turn in read(files)[0]]


def test_a_vault_is_recognised_and_its_daily_notes_are_dated_by_their_names() -> None:
    source = open_source(VAULT)
    assert MARKDOWN.recognise(source) == "2 Markdown notes, such as 2024-09-15.md"
    reader = MARKDOWN.read(source, OPTIONS)
    found = [item for item in reader if isinstance(item, Turn)]
    assert [turn.moment.day.isoformat() for turn in found if turn.moment] == ["2024-09-15", "2025-03-03"]
    assert CONTRADICTED in reader.counts.notes, "3 March 2025 was a Monday"


def test_a_zipped_vault_is_read_like_the_folder(tmp_path: Path) -> None:
    with ZipFile(tmp_path / "vault.zip", "w") as archive:
        archive.writestr("vault/2024-09-15.md", DAILY)
        archive.writestr("vault/.obsidian/app.json", "{}")
    assert len(list(MARKDOWN.read(open_source(tmp_path / "vault.zip"), OPTIONS))) == 1


def test_a_daily_note_reads_as_its_writer_reads_it() -> None:
    text = text_of(DAILY.decode())
    assert "12:30 call with Ebba – sold her first bowl\n" in text
    assert "T. (Tariq) visits on 2024-09-21" in text
    assert "- [x] vet for Pixel ✅ 2024-09-15" in text
    assert "\nAsk Leila (Tariq's sister, bakery Solros)" in text
    assert "Weight: 64.2 kg" in text
    assert "#knee" in text
    for gone in ("private comment", "IMG_0412", "^bowl", "[[", "2024-09-14", "aliases"):
        assert gone not in text


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("2024-09-15.md", "2024-09-15"),
        ("journals/2024_09_15.md", "2024-09-15"),
        ("20240915.md", "2024-09-15"),
        ("15.09.2024.md", "15.09.2024"),
        ("2024-09-15 Moving day.md", "2024-09-15"),
        ("2024-09-15-Sunday.md", "2024-09-15"),
        ("daily/2024/09/15.md", "2024-09-15"),
        ("2024/09-September/2024-09-15.md", "2024-09-15"),
        ("Sonntag, 15. September 2024.md", "Sonntag, 15. September 2024"),
        ("Ebba.md", None),
        ("2024.md", None),
        ("2024-W37.md", None),
        ("2024-13-45.md", None),
        ("Trip of 2024-09-15.md", None),
        ("4711.md", None),
    ],
)
def test_common_names_of_daily_notes_are_dates_and_others_are_not(name: str, day: str | None) -> None:
    found = day_in_name(name)
    assert found == day or (found is not None and day is not None and days({name: "x"}) == [day])


def test_front_matter_dates_a_note_that_its_name_does_not() -> None:
    assert days({"Bread.md": "---\ncreated: 2024-05-01T10:00\ntags: [a]\n---\nBaked."}) == ["2024-05-01"]
    assert days({"2024-09-15.md": "---\ndate: 2024-05-01\n---\nBaked."}) == ["2024-09-15"]


@pytest.mark.parametrize("matter", ["date: {{date}}", "a: [", "? [1]\n: 2", "[" * 3000, "date: 2024-99-99", "date: [2024]", "date"])
def test_front_matter_that_cannot_be_read_leaves_the_note_and_its_words(matter: str) -> None:
    turns, _, counts = read({"Bread.md": f"---\n{matter}\n---\nBaked."})
    assert turns[0].text.endswith("Baked.")
    assert turns[0].moment is None
    assert counts.notes


def test_front_matter_cannot_make_objects() -> None:
    turns, _, _ = read({"x.md": "---\ndate: !!python/object/apply:os.system ['exit 3']\n---\nStill here."})
    assert turns[0].text.endswith("Still here.")


def test_a_note_without_any_date_stays_undated_and_the_time_of_the_file_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "Ebba.md").write_text("Pottery, sister.", encoding="utf-8")
    reader = MARKDOWN.read(open_source(tmp_path), OPTIONS)
    (turn,) = reader
    assert isinstance(turn, Turn)
    assert (turn.text, turn.moment) == ("Ebba\n\nPottery, sister.", None)
    assert any("file's own time is not trusted" in wording for wording in reader.counts.notes)


def test_a_file_of_dated_headings_is_cut_there() -> None:
    journal = "---\ndate: 2024-01-01\n---\nPreface.\n# 2024-09-15\nOne.\n## Evening\nTwo.\n# Monday, 16 September 2024\nThree."
    turns, _, counts = read({"journal.md": journal})
    assert [(turn.moment and turn.moment.day.isoformat(), turn.text) for turn in turns] == [
        ("2024-01-01", "Preface."),
        ("2024-09-15", "One.\n## Evening\nTwo."),
        ("2024-09-16", "Three."),
    ]
    assert counts.records == 3


def test_dates_in_headings_of_a_daily_note_cut_nothing() -> None:
    assert days({"2024-09-15.md": "# 2024-09-15\nOne.\n# 2024-09-21\nPlan."}) == ["2024-09-15"]


def test_an_ambiguous_date_in_a_heading_rejects_what_stands_under_it_alone() -> None:
    turns, rejects, _ = read({"journal.md": "# 03/04/2025\nWhich?\n# 2025-04-05\nThis."})
    assert [turn.text for turn in turns] == ["This."]
    assert "more than one reading" in rejects[0].reason
    assert rejects[0].raw == "(markdown) 03/04/2025\nWhich?"


def test_quotations_stay_quotations_and_callouts_become_text() -> None:
    note = "> I am a pilot.\n\n> [!note]- Idea\n> Ask Leila.\n> > She said no.\n\nEnd."
    assert text_of(note) == "> I am a pilot.\n\nIdea\nAsk Leila.\n> She said no.\n\nEnd."
    assert text_of("> [!quote] Ebba\n> I am a potter.") == "> Ebba\n> I am a potter."


def test_named_code_goes_and_other_fences_frame_words() -> None:
    assert text_of("A\n```dataview\nTABLE x\n```\nB\n```\na poem\n```\nC") == "A\nB\na poem\nC"
    assert text_of("A\n```python\nnever closed") == "A\n```python\nnever closed"


def test_comments_are_private_and_a_mark_that_is_never_closed_hides_nothing() -> None:
    assert text_of("A %% secret\nplan %% B <!-- html\n--> C") == "A  B  C"
    assert text_of("Give 100%% always.") == "Give 100%% always."
    _, _, counts = read({"2024-09-15.md": "A %%x%%"})
    assert "comments: left out" in counts.notes


def test_an_empty_note_is_left_out_and_a_note_in_another_encoding_rejected() -> None:
    turns, rejects, counts = read({"a.md": "", "b.md": b"caf\xe9", "c.md": "%% only this %%", "2024-09-15.md": "Words."})
    assert [turn.text for turn in turns] == ["Words."]
    assert [reject.reason for reject in rejects] == ["not UTF-8 text; save the file as UTF-8"]
    assert (counts.records, counts.skipped) == (4, 2)


def test_a_folder_of_empty_notes_is_an_error() -> None:
    with pytest.raises(IngestError, match="nothing could be read"):
        read({"a.md": ""})


def test_hostile_nesting_takes_no_time() -> None:
    start = time.process_time()
    for piece in ("[[", "![[", "![", "<!--", "%% ", "```a\n", "> ", "# ", "(a::", "~~~~\n"):
        assert notes_of("x.md", piece * 50_000)
        read({"2024-09-15.md": "word " + piece * 50_000})
    assert time.process_time() - start < 30, "what grows with the square of the length takes minutes here"


@given(mutated(DAILY))
def test_any_bytes_are_read_without_a_crash_and_without_silent_loss(content: bytes) -> None:
    assert_laws(MARKDOWN, {"2024-09-15.md": content, "Ebba.md": content})
