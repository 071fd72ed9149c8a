"""The memories that know others, in the benchmark: one built memory, read by the paper's rule and by ours, with parts left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgmem_local.bench.company import NAMES, Joined, ProGraph
from pgmem_local.bench.datasets.history import Case, Question
from pgmem_local.bench.persona import Persona
from pgmem_local.errors import IngestError
from tests.bench.conftest import Copyist, entry, workbench
from tests.fakes import Answer, Asked

ENTRIES = [entry("a", "Ben is the flatmate of Ana, they share a kitchen.", 1), entry("b", "Ben plays the tuba every night.", 2)]
QUESTION = Question("q", "What does Ana's flatmate play?", "K=2", (frozenset({"a"}), frozenset({"b"})))


class Acquainted(Copyist):
    """Takes every name for a person's."""

    def _next(self, asked: Asked) -> Answer:
        if asked.prompt.head.task == "people_names":
            return "\n".join(f"{name}: person" for name in asked.prompt.text.rpartition("Names: ")[2].split(", "))
        if asked.prompt.head.task == "people_profile":
            return ""
        return super()._next(asked)


def built(tmp_path: Path, name: str) -> Persona:
    system = workbench(Acquainted(), tmp_path).open_system(name, Case("case", tuple(ENTRIES), ()))
    assert isinstance(system, Persona)
    for one in ENTRIES:
        system.observe(one)
    system.settle()
    return system


@pytest.mark.parametrize("name", ["prograph", "joined"])
def test_both_find_whom_the_question_does_not_name(name: str, tmp_path: Path) -> None:
    system = built(tmp_path, name)
    assert {"a", "b"} <= set(system.context(QUESTION, 400).shown)
    system.close()


def test_all_readings_share_one_memory_and_differ_in_what_they_show(tmp_path: Path) -> None:
    shown = {}
    for name in NAMES:
        system = built(tmp_path, name)
        assert isinstance(system, (ProGraph, Joined))
        shown[name] = system.context(QUESTION, 400).notes.text
        system.close()
    assert len(list((tmp_path / "cache" / "memories").iterdir())) == 1
    assert "Verified facts" in shown["prograph"]
    assert "Verified facts" not in shown["prograph-no-residuals"]
    assert "->" in shown["joined"]
    assert "->" not in shown["joined-no-expansion"]


def test_unknown_reading_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="joined-no-expansion"):
        workbench(Acquainted(), tmp_path).open_system("joined-no-sense", Case("case", tuple(ENTRIES), ()))
