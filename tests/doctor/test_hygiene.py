"""Each fault is seen, and what looks like it but is none is let pass."""

from __future__ import annotations

import pytest

from pgmem_local.doctor.findings import Share, Verdict
from pgmem_local.doctor.hygiene import hygiene
from tests.builders import Sketch


def found(sketch: Sketch) -> dict[str, tuple[str, ...]]:
    """Examples by the name of the fault; only those that occur."""
    return {share.name: share.examples for share in hygiene(sketch.graph) if share.examples}


def noted(context: str, *states: str, day: int | None = 0) -> Sketch:
    sketch = Sketch()
    source = sketch.context(context, day)
    for state in states:
        sketch.derive(sketch.state(state, day), source)
    return sketch


def test_clean_memory_has_no_fault() -> None:
    assert found(noted("I drink jasmine tea in the mornings now.", "User drinks jasmine tea in the mornings")) == {}


def test_notes_that_say_the_same_are_duplicates_but_for_the_first() -> None:
    sketch = noted("I drink tea. Tea is what I drink.", "User drinks tea", "User drinks tea", "User drinks the tea")
    assert found(sketch) == {"duplicates": ("s2", "s3")}


def test_what_came_back_after_a_change_is_no_duplicate() -> None:
    sketch = noted("I drink tea, no, coffee, no, tea.", "User drinks tea", "User drinks coffee", "User drinks tea")
    for old, new in (("s1", "s2"), ("s2", "s3")):
        sketch.shift(old, new)  # type: ignore[arg-type]
    assert found(sketch) == {"invalidated": ("s1", "s2")}


@pytest.mark.parametrize("note", ["User owns a vineyard near Lisbon", "User drinks 3 cups of tea"])
def test_invented_notes_are_unsupported(note: str) -> None:
    assert found(noted("I drink tea.", note)) == {"unsupported": ("s1",)}


def test_trait_of_a_single_witness_is_unsupported() -> None:
    sketch = noted("I drink tea.", "User drinks tea")
    sketch.derive(sketch.trait("User likes calm"), "s1")  # type: ignore[arg-type]
    assert found(sketch) == {"unsupported": ("t1",)}


def test_undated_note_of_a_dated_entry_has_lost_its_date() -> None:
    sketch = noted("I drink tea.")
    sketch.derive(sketch.state("User drinks tea", None), "c1")  # type: ignore[arg-type]
    assert found(sketch) == {"undated": ("s1",), "lost dates": ("s1",)}
    assert found(noted("I drink tea.", "User drinks tea", day=None)) == {"undated": ("s1",)}


def test_note_in_another_language_than_its_entry_is_seen() -> None:
    german = "Ich trinke nicht mehr so viel, und der Tee ist von der Nachbarin."
    assert "wrong language" in found(noted(german, "User has tea and it is from the neighbour"))
    assert "wrong language" not in found(noted(german, "User trinkt Tee und der ist von der Nachbarin"))
    assert "wrong language" not in found(noted(german, "User: Tee, Nachbarin"))


@pytest.mark.parametrize("note", ["User drinks tea tea tea tea tea tea", "User drinks tea<|im_end|>", "User drinks tea \x07"])
def test_loops_and_debris_are_degenerate(note: str) -> None:
    assert found(noted("I drink tea.", note))["degenerate"] == ("s1",)


def test_what_the_owner_wrote_himself_is_not_degenerate() -> None:
    assert found(noted("Ha ha ha ha ha ha ha! Tea!", "User: ha ha ha ha ha ha ha, tea")) == {}


def test_one_fault_in_a_small_memory_is_let_pass_but_no_lost_date() -> None:
    assert Share.measured("x", ["s1"], 2, 0.1, "").verdict is Verdict.GOOD
    assert Share.measured("x", ["s1", "s2"], 3, 0.1, "").verdict is Verdict.BAD
    assert Share.measured("x", [f"s{i}" for i in range(10)], 100, 0.1, "").verdict is Verdict.GOOD
    assert Share.measured("x", ["s1"], 100, 0.0, "").verdict is Verdict.BAD
