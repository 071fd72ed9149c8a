"""The example of the paper's introduction and figure 1: a liked pub, a stop of drinking, a hard evening at the pub."""

from __future__ import annotations

from pgmem_local.graph.nodes import NodeId
from pgmem_local.graph.signs import Sign
from pgmem_local.retrieval.assemble import Evidence
from pgmem_local.retrieval.expand import find_path
from pgmem_local.retrieval.serialise import serialise
from pgmem_local.settings import AssembleSettings, ExpandSettings, RetrievalSettings
from tests.builders import Sketch, plain_query

QUESTION = plain_query("Where should I go tonight?")


class Pub:
    """The question resembles the pub preference and hardly resembles having stopped; other notes lie between them."""

    def __init__(self) -> None:
        self.sketch = Sketch()
        self.likes_pubs = self.sketch.state("Likes lively pubs with good beer", day=1, cosine=0.6)
        self.stopped = self.sketch.state("Has stopped drinking alcohol", day=30, cosine=0.05)
        self.hard_evening = self.sketch.episode("A hard evening at the pub: everybody drank, only water for me", day=40, cosine=0.2)
        self.nightlife = self.sketch.trait("Enjoys lively nightlife", day=20, cosine=0.5)
        for number in range(20):
            self.sketch.state(f"Other note {number}", day=10 + number, cosine=0.15)

    def told(self) -> Pub:
        """As construction relates them: the evening supports the change, the change replaces the preference."""
        self.sketch.shift(self.likes_pubs, self.stopped)
        self.sketch.support(self.hard_evening, self.stopped)
        self.sketch.support(self.likes_pubs, self.nightlife)
        self.sketch.contradict(self.stopped, self.nightlife)
        return self

    def psi(self, evidence: Evidence) -> dict[NodeId, float]:
        return {entry.node.id: entry.psi for entry in evidence.ranked}


def test_non_drinking_state_ranks_above_the_pub_preference() -> None:
    pub = Pub().told()
    psi = pub.psi(pub.sketch.retrieve(QUESTION).evidence)
    assert psi[pub.stopped] > psi[pub.likes_pubs]


def test_superseded_preference_is_not_served_as_current() -> None:
    pub = Pub().told()
    evidence = pub.sketch.retrieve(QUESTION).evidence
    current = [entry.node.id for entry in evidence.states]
    assert pub.stopped in current
    assert pub.likes_pubs not in current
    assert [one.state.node.id for one in evidence.changed] == [pub.likes_pubs]


def test_similarity_alone_would_serve_the_pub_and_miss_the_change() -> None:
    pub = Pub().told()
    similar = [seed.node.id for seed in pub.sketch.retrieve(QUESTION).seeds.states]
    assert similar[0] == pub.likes_pubs
    assert pub.stopped not in similar


def test_non_drinking_state_is_reached_along_evidence() -> None:
    pub = Pub().told()
    pool = pub.sketch.retrieve(QUESTION).pool
    path = find_path(pub.sketch.graph, pool, pub.stopped, ExpandSettings())
    assert path is not None
    assert path.sign is Sign.PLUS
    assert len(path.steps) == 1


def test_hard_evening_makes_the_non_drinking_state_more_valid() -> None:
    without = Pub()
    without.sketch.shift(without.likes_pubs, without.stopped)
    pub = Pub().told()
    assert (
        pub.psi(pub.sketch.retrieve(QUESTION).evidence)[pub.stopped]
        > without.psi(without.sketch.retrieve(QUESTION).evidence)[without.stopped]
    )


def test_love_of_nightlife_is_challenged_by_the_change() -> None:
    pub = Pub().told()
    challenged = pub.sketch.retrieve(QUESTION).evidence.challenged
    assert [one.trait.node.id for one in challenged] == [pub.nightlife]
    assert pub.stopped in {node.id for node in challenged[0].contradicted_by}


def test_non_drinking_state_wins_even_where_the_judge_saw_only_a_contradiction() -> None:
    pub = Pub()
    pub.sketch.contradict(pub.stopped, pub.likes_pubs)
    pub.sketch.support(pub.hard_evening, pub.stopped)
    pub.sketch.support(pub.hard_evening, pub.sketch.state("Goes to bed early now", day=41, cosine=0.1))
    wide = RetrievalSettings(assemble=AssembleSettings(states=30))
    psi = pub.psi(pub.sketch.retrieve(QUESTION, wide).evidence)
    assert psi[pub.stopped] > psi[pub.likes_pubs]


def test_what_held_before_can_still_be_answered() -> None:
    pub = Pub().told()
    evidence = pub.sketch.retrieve(plain_query("Which pubs did I like before?")).evidence
    text = serialise(evidence, 1_000, lambda shown: len(shown.split())).text
    history = text.split("Earlier, since changed:\n")[1].splitlines()[0]
    assert "2026-01-02 until 2026-01-31" in history
    assert "Likes lively pubs with good beer" in history
