"""`scripts/hard_cases.py` and `scripts/batching.py` on stand-ins for the models: they tell right from wrong, and compare the same notes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts import batching, hard_cases
from tests.fakes import HashEmbedder
from tests.reader import Reader, believe_the_model


@pytest.fixture(autouse=True)
def _simple_judge(monkeypatch: pytest.MonkeyPatch) -> None:
    believe_the_model(monkeypatch)


@pytest.mark.parametrize(
    ("text", "term", "stands"),
    [
        ("You live in Linz.", "linz", True),
        ("You live in Linzing.", "linz", False),
        ("I don't know: nothing I remember says so.", "no record|don't know", True),
        ("我喜欢喝咖啡。", "咖啡", True),
        ("No.", "yes", False),
    ],
)
def test_term_is_a_whole_word_in_any_case(text: str, term: str, stands: bool) -> None:
    assert hard_cases.holds(text, term) is stands


def test_share_of_right_answers_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    chat = {"ts": "2026-01-10T19:00:00+01:00", "role": "user", "text": "I live in Graz."}
    (tmp_path / "home.jsonl").write_text(json.dumps(chat) + "\n", encoding="utf-8")
    ask = [{"q": "Where do I live?", "all": ["graz"], "none": []}, {"q": "Where do I live?", "all": ["linz"], "none": []}]
    (tmp_path / "index.json").write_text(json.dumps([{"id": "H", "file": "home.jsonl", "expect": {"ask": ask}}]), encoding="utf-8")
    model = Reader({"Graz": "lives in Graz"})
    model.rules["answer"] = lambda asked: " Yes" if asked.options else "In Graz [1]."
    monkeypatch.setattr(hard_cases, "open_chat_model", lambda name: model)
    monkeypatch.setattr(hard_cases, "open_embedder", HashEmbedder)
    assert hard_cases.main([str(tmp_path), "--notes", "--least", "0.5"]) == 0
    assert hard_cases.main([str(tmp_path)]) == 1
    shown = capsys.readouterr().out
    assert "s1 2026-01-10: User lives in Graz" in shown
    assert "1 of 2 right" in shown


def test_prompts_of_one_call_each_lead_to_the_same_notes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(batching, "open_chat_model", lambda name: Reader({"jasmine": "drinks jasmine tea", "bus": "takes the bus"}))
    monkeypatch.setattr(batching, "open_embedder", HashEmbedder)
    monkeypatch.setattr("sys.argv", ["batching.py", "--entries", "3"])
    assert batching.main() == 0
    assert "0 of them only in one memory" in capsys.readouterr().out
