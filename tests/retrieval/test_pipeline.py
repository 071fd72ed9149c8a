from __future__ import annotations

import random

import pytest

from pgmem_local.graph.nodes import NodeId, RecallPriority
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.retrieval.pipeline import retrieve
from pgmem_local.retrieval.query import ask_query
from pgmem_local.settings import RetrievalSettings
from tests.builders import Sketch, plain_query
from tests.fakes import ExactSearch, HashEmbedder

WORDS = ["tea", "coffee", "garden", "music", "train", "bus", "work", "dog", "walk", "evening", "book", "friend"]


def random_sketch(seed: int) -> Sketch:
    """Sixty nodes that share words, with edges of every relation between them."""
    chance = random.Random(seed)
    sketch = Sketch(HashEmbedder())
    nodes: list[NodeId] = []
    for _ in range(15):
        text = " ".join(chance.sample(WORDS, 3))
        nodes += [sketch.episode(text, chance.randrange(9)), sketch.trait(text, chance.randrange(9))]
        nodes += [sketch.state(text, chance.randrange(9), priority=chance.choice(list(RecallPriority)))]
        sketch.derive(nodes[-1], sketch.context(text, chance.randrange(9)))
    for relate in (sketch.support, sketch.contradict, sketch.irrelevant):
        for _ in range(25):
            relate(*chance.sample(nodes, 2))
    states = [node for node in nodes if node.startswith("s")]
    for _ in range(5):
        sketch.shift(*chance.sample(states, 2))
    return sketch


@pytest.mark.parametrize("seed", range(5))
def test_order_in_which_a_memory_grew_changes_nothing(seed: int) -> None:
    sketch = random_sketch(seed)
    query = ask_query("tea in the garden with music", HashEmbedder())
    evidence = retrieve(sketch.graph, sketch.search, query, RetrievalSettings()).evidence
    assert evidence
    for order in range(4):
        shuffled = sketch.graph_in_order_of(random.Random(order))
        assert retrieve(shuffled, sketch.search, query, RetrievalSettings()).evidence == evidence


@pytest.mark.parametrize("question", ["", "Where should I go tonight?", "'; drop table --", "\ud800"])
def test_empty_memory_gives_empty_evidence(question: str) -> None:
    retrieval = retrieve(PersonaGraph(), ExactSearch(), plain_query(question), RetrievalSettings())
    assert not retrieval.evidence
    assert len(retrieval.pool) == 0


def test_context_is_found_as_it_stands_until_something_was_made_from_it() -> None:
    sketch = Sketch()
    context = sketch.context("tea")
    assert [one.node.id for one in sketch.retrieve(plain_query("tea")).evidence.episodes] == [context]
    episode = sketch.episode("tea again")
    sketch.derive(episode, context)
    assert [one.node.id for one in sketch.retrieve(plain_query("tea")).evidence.episodes] == [episode]


def test_retrieval_keeps_what_explains_it() -> None:
    sketch = Sketch()
    state = sketch.state("tea", cosine=0.5)
    retrieval = sketch.retrieve(plain_query("tea"))
    assert [seed.node.id for seed in retrieval.seeds] == [state]
    assert retrieval.pool.origins == {state}
    assert [entry.node.id for entry in retrieval.evidence.states] == [state]
