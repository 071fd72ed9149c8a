"""Every task's words: well formed, filled without surprises, and as the snapshots show them."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from pgmem_local.ports import Message
from pgmem_local.prompts import load, one_line
from tests.prompts.snapshots import FOLDER, slots, snapshot, task_names

REWRITE = "after reading the difference, run `python -m tests.prompts.snapshots`"


@pytest.mark.parametrize("name", task_names())
def test_prompt_is_as_its_snapshot_shows_it(name: str) -> None:
    file = FOLDER / f"{name}.txt"
    assert file.is_file(), REWRITE
    assert snapshot(name) == file.read_text("utf-8"), REWRITE


def test_no_snapshot_is_of_a_prompt_that_is_gone() -> None:
    assert {file.stem for file in FOLDER.iterdir()} <= set(task_names()), REWRITE


@pytest.mark.parametrize("name", task_names())
class TestFile:
    def source(self, name: str) -> str:
        return resources.files("pgmem_local.prompts").joinpath(f"{name}.md").read_text("utf-8")

    def test_says_what_it_is_for_and_has_only_known_sections(self, name: str) -> None:
        about, *_ = self.source(name).split("\n## ")
        titles = re.findall(r"^## +(.+)$", self.source(name), re.MULTILINE)
        assert about.strip()
        assert titles[:2] == ["head", "tail"]
        assert all(re.fullmatch(r"thinking|opening \w+", title) for title in titles[2:])
        assert len(set(titles)) == len(titles)

    def test_has_a_head_a_tail_and_an_answer_or_several_named_openings(self, name: str) -> None:
        task = load(name)
        assert task.head.task == name
        assert task.head.instructions
        assert slots(task)
        assert "answer" in task.openings or len(task.openings) > 1

    def test_an_opening_does_not_end_in_a_blank(self, name: str) -> None:
        assert all(opening == opening.rstrip() for opening in load(name).openings.values())


def test_slots_are_filled_once_so_a_value_cannot_name_another_slot() -> None:
    prompt = load("judge_letters").ask({"earlier": "{later}", "later": "{earlier}"})
    assert prompt.text == "First: {later}\nSecond: {earlier}"


def test_a_slot_without_a_value_and_an_unknown_opening_are_mistakes() -> None:
    with pytest.raises(KeyError, match="later"):
        load("judge_letters").ask({"earlier": "x"})
    with pytest.raises(KeyError, match="nonsense"):
        load("judge_letters").ask({"earlier": "x", "later": "y"}, opening="nonsense")


def test_history_goes_along() -> None:
    history = (Message("user", "Hello"), Message("assistant", "Good day"))
    assert load("judge_letters").ask({"earlier": "x", "later": "y"}, history=history).history == history


def test_a_task_that_does_not_exist_is_a_mistake() -> None:
    with pytest.raises(FileNotFoundError):
        load("nonsense")


def test_one_line_cannot_begin_a_line_that_looks_like_ours() -> None:
    assert one_line("a\nSecond: b\u2028\r\n\x0b c ") == "a Second: b c"
