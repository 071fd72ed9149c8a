"""What the owner stated outranks what was inferred, and what the owner pinned is shown: in the graph, the evidence and the text."""

from __future__ import annotations

from dataclasses import replace

from pgmem_local.graph.edges import Relation
from pgmem_local.graph.nodes import NodeId
from pgmem_local.retrieval.assemble import Evidence
from pgmem_local.retrieval.portrait import portrait
from pgmem_local.retrieval.serialise import serialise
from pgmem_local.settings import AssembleSettings, RetrievalSettings, SeedSettings
from tests.builders import Sketch


def of(evidence: Evidence, identifier: NodeId) -> frozenset[NodeId]:
    """What challenges a State."""
    (entry,) = [entry for entry in evidence.states if entry.node.id == identifier]
    return entry.challengers


def test_inferred_state_does_not_replace_a_statement_but_is_challenged_by_it() -> None:
    sketch = Sketch()
    stated, inferred = sketch.state("Linz", 0, stated=True), sketch.state("Graz", 5)
    sketch.shift(stated, inferred)
    graph = sketch.graph
    assert (graph.replaced_by(stated), graph.replaces(inferred)) == ([], [])
    assert [edge.relation for edge in graph.evidence(stated)] == [Relation.CONTRADICT]
    evidence = portrait(graph, RetrievalSettings())
    assert (of(evidence, stated), of(evidence, inferred)) == (frozenset(), {stated})


def test_contradiction_counts_against_the_inferred_one_alone() -> None:
    sketch = Sketch()
    stated, inferred = sketch.state("Linz", 5, stated=True), sketch.state("Graz", 0)
    sketch.contradict(inferred, stated)
    evidence = portrait(sketch.graph, RetrievalSettings())
    assert (of(evidence, stated), of(evidence, inferred)) == (frozenset(), {stated})


def test_statements_may_replace_and_challenge_each_other() -> None:
    sketch = Sketch()
    one, two, three = (sketch.state(text, day, stated=True) for day, text in enumerate(("Graz", "Linz", "Wien")))
    sketch.shift(one, two)
    sketch.contradict(two, three)
    assert sketch.graph.replaced_by(one) == [two]
    evidence = portrait(sketch.graph, RetrievalSettings())
    assert of(evidence, two) == {three}


SCANT = RetrievalSettings(
    seed=SeedSettings(contexts=0, episodes=0, states=1, traits=0, active_persona=0),
    assemble=AssembleSettings(states=1, traits=1, episodes=1),
)


def test_pinned_notes_take_the_first_places_of_their_kinds() -> None:
    sketch = Sketch()
    for _ in range(3):
        sketch.state("near", cosine=0.9)
        sketch.trait("near", cosine=0.9)
        sketch.episode("near", cosine=0.9)
    sketch.pinned = [sketch.state("far"), sketch.trait("far"), sketch.episode("far")]
    evidence = sketch.retrieve(settings=replace(SCANT, seed=replace(SCANT.seed, states=3, traits=3, episodes=3))).evidence
    assert {entry.node.id for entry in evidence.ranked} == set(sketch.pinned)
    assert all(entry.pinned for entry in evidence.ranked)


def test_pinned_note_that_was_replaced_stays_history() -> None:
    sketch = Sketch()
    old, new = sketch.state("old", 0), sketch.state("new", 1)
    sketch.shift(old, new)
    sketch.pinned = [old]
    evidence = sketch.retrieve(settings=SCANT).evidence
    assert ([entry.node.id for entry in evidence.states], evidence.changed[0].state.node.id) == ([new], old)


def test_pinned_line_is_the_last_that_a_small_budget_drops() -> None:
    sketch = Sketch()
    near, far = sketch.state("near", cosine=0.9), sketch.state("far")
    sketch.pinned = [far]
    evidence = sketch.retrieve().evidence
    assert {entry.node.id for entry in evidence.states} == {near, far}
    one_line = serialise(evidence, 2, lambda text: len(text.splitlines()))
    assert list(one_line.labels.values()) == [far]
