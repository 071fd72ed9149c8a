"""Our memory in the benchmark: built once, found again, and read with parts left out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pgmem_local.bench.datasets.history import Case, Question
from pgmem_local.bench.persona import ABLATIONS, Persona, ablation, without_relations
from pgmem_local.graph.edges import Relation
from pgmem_local.settings import AssembleSettings, FadingSettings, Weighing
from tests.bench.conftest import Copyist, entry, workbench
from tests.builders import Sketch

ENTRIES = [entry("a", "tea with milk", 1), entry("b", "running by the river", 2)]
QUESTION = Question("q", "What tea with milk?", "kind", (frozenset({"a"}),))


def built(model: Copyist, tmp_path: Path, name: str = "pgmem") -> Persona:
    system = workbench(model, tmp_path).open_system(name, Case("case", tuple(ENTRIES), ()))
    assert isinstance(system, Persona)
    for one in ENTRIES:
        system.observe(one)
    system.settle()
    return system


def test_evidence_is_named_by_the_entries_of_the_data_set(copyist: Copyist, tmp_path: Path) -> None:
    system = built(copyist, tmp_path)
    assert "a" in system.context(QUESTION, 500).shown
    system.close()


def test_memory_built_once_is_found_again_with_its_cost(copyist: Copyist, tmp_path: Path) -> None:
    first = built(copyist, tmp_path)
    cost, size = first.spent, first.disk_bytes
    first.close()
    assert cost.evaluated > 0
    assert size > 0
    silent = Copyist()
    again = built(silent, tmp_path)
    assert silent.asked == []
    assert again.spent == cost
    again.close()


def test_ablations_read_the_same_built_memory(copyist: Copyist, tmp_path: Path) -> None:
    built(copyist, tmp_path).close()
    silent = Copyist()
    for name in ABLATIONS:
        built(silent, tmp_path, f"pgmem-{name}").close()
    assert silent.asked == []


def test_another_model_builds_a_memory_of_its_own(copyist: Copyist, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built(copyist, tmp_path).close()
    monkeypatch.setattr(Copyist, "identity", "another")
    other = Copyist()
    built(other, tmp_path).close()
    assert other.asked


def test_events_left_out_are_not_shown(copyist: Copyist, tmp_path: Path) -> None:
    system = built(copyist, tmp_path, "pgmem-no-events")
    assert system.context(QUESTION, 500).shown == ()  # this model finds no States
    system.close()


def test_models_stay_open_when_a_memory_is_closed(copyist: Copyist, tmp_path: Path) -> None:
    built(copyist, tmp_path).close()
    assert not copyist.closed


def test_lambda_is_read_from_the_name() -> None:
    found = ablation("lambda=0.3")
    assert found is not None
    assert found.retrieval.assemble.validity_weight == 0.3
    assert ablation("lambda=x") is None


def test_papers_validity_and_a_memory_that_fades_are_readings_of_one_memory() -> None:
    counted, fading = ablation("counted"), ablation("fading")
    assert counted is not None
    assert fading is not None
    assert (counted.retrieval.assemble.weighing, counted.retrieval.assemble.fading) == (Weighing.COUNTED, None)
    assert fading.retrieval.assemble == replace(AssembleSettings(), fading=FadingSettings())


def test_relation_left_out_is_gone_and_the_others_stay() -> None:
    sketch = Sketch()
    old, new, other = sketch.state("old"), sketch.state("new", 1), sketch.state("other", 2)
    source = sketch.context("line")
    sketch.derive(old, source)
    sketch.shift(old, new)
    sketch.support(new, other)
    copy = without_relations(sketch.graph, frozenset({Relation.SHIFT_TO}))
    assert copy.replaced_by(old) == []
    assert [edge.relation for edge in copy.evidence(new)] == [Relation.SUPPORT]
    assert copy.contexts_behind(old) == [source]
