"""Keywords, domains, scope and vector of a text, without the language model."""

from __future__ import annotations

import numpy as np

from pgmem_local.construction.annotate import DOMAINS, Annotator
from pgmem_local.graph.nodes import Scope
from pgmem_local.ports import Vectors
from tests.fakes import HashEmbedder


class CountingEmbedder(HashEmbedder):
    """Notes what it was asked to embed."""

    def __init__(self) -> None:
        super().__init__(dimension=512)
        self.batches: list[list[str]] = []

    def embed(self, texts: list[str]) -> Vectors:  # type: ignore[override]
        self.batches.append(list(texts))
        return super().embed(texts)


def annotator() -> Annotator:
    return Annotator(HashEmbedder(dimension=512))  # at 512 dimensions words without a theme in common have almost no cosine


def test_keywords_are_the_stemmed_words_of_the_text() -> None:
    (note,) = annotator().annotate(["User drinks two espressos"])
    assert note.keywords == {"drink", "two", "espresso"}


def test_the_word_user_is_left_out_so_that_notes_are_not_alike_by_it() -> None:
    one, other, bare = annotator().annotate(["User swims", "User's sister sings", "swims"])
    assert "user" not in one.keywords | other.keywords
    assert np.array_equal(one.vector, bare.vector)
    assert abs(float(one.vector @ other.vector)) < 0.2


def test_text_of_nothing_but_the_word_user_is_left_as_it_is() -> None:
    (note,) = annotator().annotate(["User"])
    assert note.keywords == {"user"}


def test_domains_are_the_labels_nearest_in_meaning_at_most_two() -> None:
    everything = ", ".join(DOMAINS[label] for label in ("drink", "music", "pets"))
    coffee, mixed, strange = annotator().annotate(["coffee, tea and wine", everything, "qwertz"])
    assert coffee.domains == {"drink"}
    assert len(mixed.domains) == 2
    assert strange.domains == frozenset()


def test_few_keywords_make_a_note_broad() -> None:
    broad, narrow = annotator().annotate(["User likes music", "User plays the cello with Imani in the cellar on Mondays"])
    assert (broad.scope, narrow.scope) == (Scope.BROAD, Scope.NARROW)


def test_label_vectors_are_made_once_and_only_when_a_text_comes() -> None:
    embedder = CountingEmbedder()
    annotator = Annotator(embedder)
    assert annotator.annotate([]) == []
    assert embedder.batches == []
    annotator.annotate(["one"])
    annotator.annotate(["two", "three"])
    assert embedder.batches.count(list(DOMAINS.values())) == 1
    assert [batch for batch in embedder.batches if len(batch) < len(DOMAINS)] == [["one"], ["two", "three"]]
