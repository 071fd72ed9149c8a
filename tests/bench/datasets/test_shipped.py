"""The data that comes with the package, as its READMEs describe it, and files of the same format from elsewhere."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from pgmem_local.bench.datasets.diaries import read_diaries
from pgmem_local.bench.datasets.extraction import read_extraction
from pgmem_local.bench.datasets.files import read_lines, shipped, spread
from pgmem_local.bench.datasets.history import Entry, dialogue
from pgmem_local.bench.datasets.memhop import read_memhop
from pgmem_local.bench.datasets.relations import read_relations
from pgmem_local.conversation import Exchange, Speaker, Turn
from pgmem_local.errors import IngestError
from pgmem_local.graph.nodes import RecallPriority


def test_relations_hold_the_counts_of_their_readme() -> None:
    pairs = read_relations(None)
    assert Counter(pair.label.value for pair in pairs) == {"support": 43, "contradict": 42, "shift_to": 43, "irrelevant": 42}
    assert sum(pair.hard for pair in pairs) == 102
    assert all(pair.earlier.moment < pair.later.moment for pair in pairs)


def test_extraction_holds_the_counts_of_its_readme() -> None:
    messages = read_extraction(None)
    assert Counter(message.expect.about for message in messages) == {"user": 54, "other": 13, "nobody": 53}
    states = [message for message in messages if message.expect.has_state]
    assert sum(message.expect.priority is RecallPriority.HIGH for message in states) == 24
    assert sum(message.before is not None for message in messages) == 12


def test_diary_holds_the_questions_of_its_readme() -> None:
    (diary,) = read_diaries(None)
    kinds = Counter(question.kind for question in diary.questions)
    assert kinds == {"current_state": 10, "past_state": 6, "advice": 10, "why": 5, "who": 5, "abstain": 4}
    known = {entry.id for entry in diary.entries}
    assert len(known) == 45
    assert all(step <= known for question in diary.questions for step in question.steps)
    advice = [question for question in diary.questions if question.kind == "advice"]
    assert sum(max(map(len, q.options)) == len(q.options[q.correct]) for q in advice) == 3
    planted = diary.planted
    assert (len(planted.secrets), len(planted.claims), len(planted.not_facts)) == (3, 6, 4)
    assert (len(planted.shifts), sum(map(len, planted.shifts)), len(planted.tensions)) == (10, 23, 6)
    assert len({person for person, _ in planted.others}) == 8


def test_memhop_steps_name_entries_that_exist() -> None:
    for case in read_memhop(None):
        known = {entry.id for entry in case.entries}
        assert all(step and step <= known for question in case.questions for step in question.steps)
        hops = Counter(question.hops for question in case.questions)
        assert hops == {1: 10, 2: 10, 3: 8, 4: 7, 5: 5, 0: 6}
        assert all(len(question.steps) == question.hops for question in case.questions if question.hops)


def test_folder_and_packed_file_of_the_same_format_can_be_read(tmp_path: Path) -> None:
    rows = shipped("relations", "dev.jsonl").read_text("utf-8").splitlines()[:3]
    packed = tmp_path / "other.jsonl.gz"
    packed.write_bytes(gzip.compress("\n".join(rows).encode()))
    assert len(read_relations(packed)) == 3
    (tmp_path / "a.jsonl").write_text(rows[0], "utf-8")
    assert len(read_relations(tmp_path)) == 1


def test_missing_data_is_told_by_name(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match=r"holds no \*\.jsonl"):
        read_relations(tmp_path)


def test_record_without_a_field_names_file_and_record(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"id": "q7", "earlier": "x"}), "utf-8")
    with pytest.raises(IngestError, match="'q7' has no 'earlier_date'"):
        read_relations(path)


def test_broken_file_is_no_crash(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("{", "utf-8")
    with pytest.raises(IngestError, match=r"a\.jsonl is no JSON Lines"):
        read_lines(path)


def test_diary_without_questions_says_which_file_is_missing(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text("", "utf-8")
    with pytest.raises(IngestError, match=r"d_questions\.json must lie beside it"):
        read_diaries(tmp_path)


def test_limit_keeps_the_whole_in_view() -> None:
    assert spread(list(range(10)), 5) == [0, 2, 4, 6, 8]
    assert spread([1, 2], 5) == spread([1, 2], None) == [1, 2]


def test_replies_join_the_turn_they_answer() -> None:
    user, assistant = Speaker.USER, Speaker.ASSISTANT
    entries = dialogue("s1", "2025-01-11", [(assistant, "hello"), (user, "one"), (assistant, "yes"), (assistant, "and"), (user, "two")])
    assert [entry.id for entry in entries] == ["s1:1", "s1:4"]
    assert entries[0].text == "User: one\nAssistant: yes\nand"
    assert entries[1].text == "two"
    first, second = (entry.exchange.said.moment for entry in entries)
    assert first is not None
    assert second is not None
    assert first < second


def test_memory_gets_an_entry_without_its_secrets() -> None:
    entry = Entry("e1", Exchange(Turn("My password is Tinsel!Badger42 by the way.", None), reply="Noted: the password is Tinsel!Badger42"))
    assert "Tinsel" not in entry.masked.text
    assert "Tinsel" in entry.text
