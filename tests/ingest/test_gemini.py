from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from pgmem_local.conversation import Speaker
from pgmem_local.ingest.gemini import GEMINI
from pgmem_local.ingest.html_text import text_of_html
from tests.ingest.laws import HeldSource, assert_laws, mutated, mutated_json
from tests.ingest.reading import read, sample

SAMPLE = sample("gemini.json")


def activity(title: str, minute: int = 0, answer: str | None = "<p>yes</p>") -> dict[str, Any]:
    html = {} if answer is None else {"safeHtmlItem": [{"html": answer}]}
    return {"header": "Gemini Apps", "title": title, "time": f"2026-06-01T08:{minute:02}:00.000Z", **html}


def export(*activities: Any) -> bytes:
    return json.dumps(activities).encode()


def test_prompts_and_answers_are_read_and_other_activities_are_left_out() -> None:
    found = read(GEMINI, SAMPLE)
    assert [(turn.speaker, turn.text) for turn in found.turns] == [
        (Speaker.USER, "rain trousers for running in Malmö, I am 168 cm"),
        (Speaker.ASSISTANT, "(regenerated) Size S or M."),
        (Speaker.USER, "what plant is this?"),
        (Speaker.ASSISTANT, "It looks like a tomato seedling."),
    ]
    assert found.notes["an activity that is no prompt: left out"] == 1


def test_prompts_far_apart_are_two_sessions() -> None:
    found = read(GEMINI, export(*(activity("Prompted x", minute) for minute in (59, 40, 5))))
    assert [turn.session for turn in found.turns[::2]] == [f"gemini 2026-06-01T08:{m}:00+00:00" for m in ("59", "59", "05")]


def test_word_before_the_prompt_is_found_in_other_languages() -> None:
    titles = ("Eingabe: Wo ist Malmö?", "Eingabe: Wie alt ist Pixel?", "Eingabe: Hallo")
    assert read(GEMINI, export(*map(activity, titles))).texts[::2] == ["Wo ist Malmö?", "Wie alt ist Pixel?", "Hallo"]


def test_unknown_word_before_the_prompt_stays_and_is_said() -> None:
    found = read(GEMINI, export(activity("Eingabe: Wo ist Malmö?")))
    assert found.texts[0] == "Eingabe: Wo ist Malmö?"
    assert any("not known in this language" in wording for wording in found.notes)


def test_bad_activity_is_rejected_and_the_others_are_read() -> None:
    found = read(GEMINI, export(activity("Prompted a"), {"title": 3}, "x", activity("Prompted b")))
    assert found.texts == ["a", "yes", "b", "yes"]
    assert [reject.line for reject in found.rejects] == [2, 3]


def test_is_found_in_a_takeout_folder_whatever_its_name() -> None:
    files = {"Takeout/Meine Aktivitäten/Gemini-Apps/MeineAktivitäten.json": SAMPLE, "Takeout/Keep/note.json": b'{"title": "x"}'}
    assert GEMINI.recognise(HeldSource(files))
    assert len(read(GEMINI, files).turns) == 4
    assert GEMINI.recognise(HeldSource({"search.json": SAMPLE.replace(b"Gemini", b"Search")})) is None


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>A <strong>long</strong> inseam.</p><ul><li>Size S</li><li>Size&nbsp;M</li></ul>", "A long inseam.\n- Size S\n- Size M"),
        ("a<br>b<script>evil()</script>", "a\nb"),
        ("<p>a\n  b</p>", "a b"),
        ("1 < 2 &amp; 3", "1 < 2 & 3"),
    ],
)
def test_html_becomes_the_text_one_sees(html: str, text: str) -> None:
    assert text_of_html(html) == text


@given(mutated(SAMPLE))
def test_any_bytes_obey_the_laws(content: bytes) -> None:
    assert_laws(GEMINI, {"My Activity.json": content})


@given(mutated_json(SAMPLE))
def test_any_bytes_that_are_json_obey_the_laws(content: bytes) -> None:
    assert_laws(GEMINI, {"My Activity.json": content})
