from __future__ import annotations

import time

import pytest
from hypothesis import given

from pgmem_local.conversation import Turn
from pgmem_local.errors import IngestError
from pgmem_local.ingest.apple_journal import APPLE_JOURNAL, read_page
from pgmem_local.ingest.reader import Counts
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.written_days import CONTRADICTED
from tests.ingest.laws import OPTIONS, HeldSource, assert_laws, mutated

PAGE = """<!DOCTYPE html>
<html dir="auto"><head><meta charset="UTF-8"><title>Journal</title><style>p.p1 {margin: 0}</style></head>
<body>
<p class="p1"><span class="s1"><div class='pageContainer'>    <div class="pageHeader">DATE</div>    <div class="assetGrid">
    <div id="A" class="gridItem assetType_multiPinMap"><div class="gridItemOverlayFooter">Möllevången</div></div>
</div><div class='reflectionPrompt'>What made you smile?</div><div class='title'>Bowls &amp; bread</div><div class='bodyText'></span></p>
<p class="p2"><span class="s2">Ebba sold her first bowl.</span></p>
<p class="p2"><span class="s2"></span><br></p>
<p class="p2"><span class="s2">Leila&#8217;s bread was the
best part.</span></p>
<p class="p1"><span class="s1"></div></div></span></p>
</body>
</html>"""
WORDS = "Bowls & bread\n\nEbba sold her first bowl.\n\nLeila’s bread was the best part."


def page(date: str = "Sunday, 1 September 2024", text: str = PAGE) -> bytes:
    return text.replace("DATE", date).encode()


def read(*pages: bytes) -> tuple[list[Turn], list[Reject], Counts]:
    reader = APPLE_JOURNAL.read(HeldSource({f"Entries/{n}.html": content for n, content in enumerate(pages)}), OPTIONS)
    items = list(reader)
    return [one for one in items if isinstance(one, Turn)], [one for one in items if isinstance(one, Reject)], reader.counts


def test_a_page_is_recognised_by_its_header() -> None:
    source = HeldSource({"Entries/a.html": page(), "Resources/a.heic": b"\x00"})
    assert APPLE_JOURNAL.recognise(source) == "Entries/a.html is a page with a pageHeader"
    assert APPLE_JOURNAL.recognise(HeldSource({"a.html": b"<div class='header'>2024</div>"})) is None


def test_title_and_text_are_read_though_the_tags_close_in_the_wrong_order() -> None:
    turns, _, _ = read(page())
    assert turns[0].text == WORDS


def test_text_outside_its_div_is_read_too() -> None:
    outside = PAGE.replace("<div class='bodyText'></span></p>", "<div class='bodyText'></div></div></span></p>")
    assert read_page(outside).text == WORDS


def test_what_the_app_collected_and_asked_is_left_out_and_said() -> None:
    turns, _, counts = read(page())
    assert "Möllevången" not in turns[0].text
    assert "smile" not in turns[0].text
    assert any(wording.startswith("the app's questions, places") for wording in counts.notes)


@pytest.mark.parametrize("date", ["Sunday, 1 September 2024", "Sonntag, 1. September 2024", "1 de septiembre de 2024", "2024年9月1日"])
def test_the_date_is_read_in_the_language_of_the_phone(date: str) -> None:
    turns, _, _ = read(page(date))
    assert turns[0].moment is not None
    assert turns[0].moment.day.isoformat() == "2024-09-01"


def test_a_date_that_cannot_be_read_leaves_the_entry_undated_with_a_note() -> None:
    turns, _, counts = read(page("Sunday the first"))
    assert turns[0].moment is None
    assert "time not understood: stored without one" in counts.notes


def test_a_weekday_that_contradicts_the_date_is_noted() -> None:
    _, _, counts = read(page("Monday, 1 September 2024"))
    assert CONTRADICTED in counts.notes


def test_a_page_without_words_or_without_a_header_is_left_out() -> None:
    photos = b'<div class="pageHeader">1 May 2024</div><div class="assetGrid">x</div>'
    _, _, counts = read(page(), b"<html><body>index</body></html>", photos)
    assert (counts.records, counts.turns, counts.skipped) == (3, 1, 2)


def test_a_page_in_another_encoding_is_rejected_and_the_others_stay() -> None:
    turns, rejects, _ = read(page().replace("Möllevången".encode(), b"M\xf6lle"), page())
    assert len(turns) == 1
    assert [(reject.line, reject.reason) for reject in rejects] == [(1, "not UTF-8 text; save the file as UTF-8")]


def test_markup_the_parser_gives_up_on_is_rejected() -> None:
    with pytest.raises(IngestError, match="nothing could be read"):
        read(page(text=PAGE.replace("DATE", "<![x")).replace(b"<body>", b"<![foo bar"))


def test_scripts_and_unclosed_parts_do_not_become_words() -> None:
    html = '<div class="pageHeader">1 May 2024</div><script>steal()</script><div class="assetGrid"><div>Mom<div class="title">T</div>Body'
    assert read_page(html).text == "T\n\nBody"


@pytest.mark.parametrize("piece", ["<a ", "<div class='", "<!--", "<![CDATA[", "</", "<?", "&#", "<p>", "<a x=\"'>"])
def test_hostile_markup_takes_no_time(piece: str) -> None:
    start = time.process_time()
    assert_laws(APPLE_JOURNAL, {"Entries/a.html": page() + piece.encode() * 30_000})
    assert time.process_time() - start < 20, "what grows with the square of the length takes minutes here"


@given(mutated(page()))
def test_any_bytes_are_read_without_a_crash_and_without_silent_loss(content: bytes) -> None:
    assert_laws(APPLE_JOURNAL, {"Entries/a.html": content})
