"""Keyword set K(v), domain-label set D(v), embedding and scope of a node (PGMem, section 4.1.1), all without the language model.

The paper lets the model write them. Words come from the text itself here, domain labels from the nearest of a fixed list by
embedding, scope from how many words a note hangs on: each label the model wrote would cost tokens. The two ways were not compared.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pgmem_local.graph.nodes import Scope
from pgmem_local.ports import Embedder, Vectors
from pgmem_local.words import keywords

DOMAINS = {
    "health": "health, illness, doctor, pain, medicine, allergy",
    "food": "food, cooking, eating, diet, meals, restaurant",
    "drink": "drinks, coffee, tea, wine, beer, alcohol",
    "sleep": "sleep, insomnia, waking up, tired",
    "sport": "sport, running, swimming, exercise, training",
    "work": "work, job, office, boss, colleagues, career",
    "study": "school, studying, course, exam, learning a language",
    "money": "money, rent, debt, saving, salary, shopping",
    "home": "home, flat, house, moving, furniture, household",
    "family": "family, parents, children, sister, brother, wedding",
    "friends": "friends, roommate, neighbours, party, social life",
    "love": "love, partner, dating, marriage, separation",
    "pets": "pets, dog, cat, animals",
    "travel": "travel, holiday, trip, train, flight, commute, bus, bicycle",
    "music": "music, concert, instrument, song, singing",
    "art": "art, drawing, craft, making things, design",
    "reading": "books, reading, writing, library, poetry",
    "nature": "garden, plants, weather, outdoors, mountains, sea",
    "technology": "computer, phone, software, programming, internet",
    "belief": "religion, faith, politics, values, opinion",
    "mood": "feelings, mood, sadness, joy, anger, fear, stress",
}
"""Label -> the words whose embedding stands for it."""

DOMAIN_COSINE = 0.28
DOMAINS_A_NODE = 2
BROAD_KEYWORDS = 3
"""A note with at most this many keywords covers a broad topic."""


@dataclass(frozen=True)
class Annotation:
    """What retrieval needs to know about a text."""

    vector: Vectors
    keywords: frozenset[str]
    domains: frozenset[str]

    @property
    def scope(self) -> Scope:
        return Scope.BROAD if len(self.keywords) <= BROAD_KEYWORDS else Scope.NARROW


class Annotator:
    """Annotates texts in batches; the label vectors are computed once, when the first text comes."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._labels: Vectors | None = None

    @property
    def identity(self) -> str:
        return self._embedder.identity

    def annotate(self, texts: Sequence[str]) -> list[Annotation]:
        """One annotation a text. The word "User" that notes begin with is left out: it would make all of them alike."""
        if not texts:
            return []
        texts = [_bare(text) for text in texts]
        vectors = self._embedder.embed(texts)
        nearness = vectors @ self._label_vectors().T
        return [Annotation(v, keywords(text), _labels(row)) for text, v, row in zip(texts, vectors, nearness, strict=True)]

    def nearness(self, texts: Sequence[str]) -> Vectors:
        """Cosine of each text to each domain label, shape (texts, labels)."""
        result: Vectors = self._embedder.embed(texts) @ self._label_vectors().T
        return result

    def _label_vectors(self) -> Vectors:
        if self._labels is None:
            self._labels = self._embedder.embed(list(DOMAINS.values()))
        return self._labels


def _bare(note: str) -> str:
    return re.sub(r"\bUser(?:'s)?\b ?", "", note) or note


def _labels(nearness: Vectors) -> frozenset[str]:
    names = tuple(DOMAINS)
    best = np.argsort(nearness)[::-1][:DOMAINS_A_NODE]
    return frozenset(names[i] for i in best if nearness[i] >= DOMAIN_COSINE)
