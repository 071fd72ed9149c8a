from __future__ import annotations

import numpy as np
import pytest

from pgmem_local.retrieval.query import ask_query
from tests.fakes import HashEmbedder


def test_query_has_a_unit_vector_and_the_keywords_of_its_words() -> None:
    query = ask_query("Where did I run?", HashEmbedder(16))
    assert query.vector.shape == (16,)
    assert np.linalg.norm(query.vector) == pytest.approx(1.0, abs=1e-6)
    assert query.keywords == {"run"}


def test_empty_question_is_a_query() -> None:
    assert ask_query("", HashEmbedder()).keywords == frozenset()


def test_query_knows_whether_it_asks_about_the_past() -> None:
    assert ask_query("Where did I live back then?", HashEmbedder()).past
    assert not ask_query("Where do I live?", HashEmbedder()).past
