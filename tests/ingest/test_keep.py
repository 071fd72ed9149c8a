from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgmem_local.errors import IngestError
from pgmem_local.ingest.keep import EDITED_LATER, KEEP, SHARED, TRASHED, WORDLESS, notes_of
from tests.ingest.laws import OPTIONS, HeldSource, assert_laws, mutated, mutated_json
from tests.ingest.reading import Read, read

CREATED = 1690372692755000
WEEK = 7 * 24 * 3600 * 1_000_000
PLAIN = {"color": "DEFAULT", "isTrashed": False, "isPinned": False, "isArchived": False}


def note(text: str | None = None, **more: object) -> bytes:
    fields = {**PLAIN, **({} if text is None else {"textContent": text}), "title": "", "createdTimestampUsec": CREATED, **more}
    return json.dumps({name: value for name, value in fields.items() if value is not None}).encode()


CHECKLIST = note(title="Shopping", listContent=[{"text": "Bread", "isChecked": False}, {"text": "Dog food", "isChecked": True}])
TEXT = note("Pixel chewed the blue shoe.", title="Shoes", labels=[{"name": "dog"}], attachments=[{"filePath": "a.jpg"}])


def of(*notes: bytes) -> Read:
    return read(KEEP, {f"Takeout/Keep/{number}.json": content for number, content in enumerate(notes)})


def test_note_is_its_title_and_words_at_the_time_it_was_created() -> None:
    (turn,) = of(TEXT).turns
    assert (turn.text, str(turn.moment)) == ("Shoes\nPixel chewed the blue shoe.", "2023-07-26T11:58:12.755000+00:00")
    assert turn.session is None


def test_list_is_read_as_lines_whether_ticked_off_or_not() -> None:
    assert of(CHECKLIST).texts == ["Shopping\n- Bread\n- Dog food"]
    ticked = of(CHECKLIST.replace(b"false}", b"true}"))
    assert ticked.texts == of(CHECKLIST).texts


def test_note_in_the_bin_and_note_without_words_are_left_out_with_a_note() -> None:
    found = of(note("old", isTrashed=True), note(" "), note("kept", isArchived=True))
    assert found.texts == ["kept"]
    assert found.notes == {f"{TRASHED}: left out": 1, f"{WORDLESS}: left out": 1}


@pytest.mark.parametrize(
    ("created", "edited", "moment"),
    [
        (CREATED, CREATED + WEEK + 1, "2023-07-26T11:58:12.755000+00:00"),
        (CREATED, None, "2023-07-26T11:58:12.755000+00:00"),
        (None, CREATED, "2023-07-26T11:58:12.755000+00:00"),
        (0, CREATED, "2023-07-26T11:58:12.755000+00:00"),
        (None, None, "None"),
        (0, 0, "None"),
        ("yesterday", None, "None"),
    ],
)
def test_time_is_the_creations_else_the_last_edits_else_none(created: object, edited: object, moment: str) -> None:
    (turn,) = of(note("x", createdTimestampUsec=created, userEditedTimestampUsec=edited)).turns
    assert str(turn.moment) == moment


def test_late_edits_and_shared_notes_are_told() -> None:
    late = of(note("x", userEditedTimestampUsec=CREATED + WEEK + 1))
    soon = of(note("x", userEditedTimestampUsec=CREATED + WEEK))
    shared = of(note("x", sharees=[{"email": "a@example.org", "isOwner": True}]))
    assert (late.notes, soon.notes, shared.notes) == ({EDITED_LATER: 1}, {}, {SHARED: 1})


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"null", b'{"a": 1}', b"\xff", b"[" * 100_000, note(textContent=["x"]), note("x", title=5), note(listContent={}),
     note(listContent=["x"])],
)  # fmt: skip
def test_file_that_is_no_note_is_rejected_and_the_others_are_read(content: bytes) -> None:
    found = of(content, TEXT)
    assert found.texts == ["Shoes\nPixel chewed the blue shoe."]
    assert [(reject.path, reject.line) for reject in found.rejects] == [("export/Takeout/Keep/0.json", 1)]


def test_only_files_in_folders_that_hold_notes_are_read() -> None:
    files = {"Takeout/Notizen/a.json": TEXT, "Takeout/Notizen/a.html": b"", "Takeout/Notizen/Labels.txt": b"", "Takeout/Drive/b.json": b""}
    assert notes_of(HeldSource(files)) == ["Takeout/Notizen/a.json"]
    assert KEEP.recognise(HeldSource(files)) == "Takeout/Notizen/a.json is a note of Google Keep"


@pytest.mark.parametrize("content", [b"", b"{}", b'{"textContent": "x"}', b'[{"isTrashed": false, "isPinned": false}]'])
def test_other_json_is_not_taken_for_a_note(content: bytes) -> None:
    assert KEEP.recognise(HeldSource({"a.json": content})) is None


def test_secrets_in_notes_and_rejects_are_masked() -> None:
    found = of(note("My password is Otter-41-Lake"), note("My password is Otter-41-Lake")[:-1])
    assert "Otter" not in repr(found.items)
    assert found.counts.masked.count == 2


def test_export_with_nothing_but_the_bin_is_an_error_that_says_so() -> None:
    with pytest.raises(IngestError, match="a note in the bin"):
        of(note("old", isTrashed=True))


@given(st.one_of(mutated(TEXT), mutated_json(TEXT), mutated(CHECKLIST), mutated_json(CHECKLIST)))
def test_any_bytes_are_read_without_a_crash_and_without_silent_loss(content: bytes) -> None:
    counts = assert_laws(KEEP, {"Keep/a.json": TEXT, "Keep/b.json": content}, OPTIONS)
    assert counts.records == 2
