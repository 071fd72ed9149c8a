"""The sentence encoder: no silent cut, the same vector whatever a text comes together with. Runs the real weights, they are small."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from pgmem_local.ports import Vectors
from pgmem_local.runtime import minilm
from pgmem_local.runtime.minilm import WINDOW, MiniLM

pytestmark = pytest.mark.models

WALK = "The walk along the shore was calm and the light kept changing. " * 33
"""About 400 words."""
TEXTS = ["I like coffee.", "Bruno is ill.", "", "🙂🙃", "We moved to Linz in May. " * 12, WALK]


@pytest.fixture(scope="module")
def encoder(embedder_files: tuple[Path, Path]) -> MiniLM:
    return MiniLM(*embedder_files, threads=2)


def cosine(one: Vectors, other: Vectors) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def test_vectors_are_unit_vectors_of_the_dimension_it_names(encoder: MiniLM) -> None:
    vectors = encoder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.dimension) == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_are_no_vectors(encoder: MiniLM) -> None:
    assert encoder.embed([]).shape == (0, 384)


def test_meaning_is_near_meaning(encoder: MiniLM) -> None:
    coffee, espresso, plumber = encoder.embed(["I like coffee.", "I enjoy espresso.", "The plumber came on Tuesday."])
    assert cosine(coffee, espresso) > cosine(coffee, plumber) + 0.2


def test_a_fact_at_the_end_of_a_long_text_counts(encoder: MiniLM) -> None:
    without, with_fact, fact = encoder.embed([WALK, f"{WALK} My new neighbour is called Tove.", "My new neighbour is called Tove."])
    assert cosine(without, with_fact) < 0.999
    assert cosine(with_fact, fact) > cosine(without, fact) + 0.02


def test_a_long_text_is_the_mean_of_its_windows_weighted_by_length(encoder: MiniLM) -> None:
    windows = encoder._windows(WALK)
    assert [len(window) for window in windows[:-1]] == [WINDOW] * (len(windows) - 1)
    assert len(windows) > 2
    means = np.vstack([encoder._means([window]) for window in windows])
    lengths = np.array([len(window) for window in windows])
    expected = (means * lengths[:, None]).sum(axis=0)
    assert cosine(encoder.embed([WALK])[0], expected) == pytest.approx(1, abs=1e-5)


def test_a_text_of_one_window_is_what_the_published_tokenizer_gives(encoder: MiniLM) -> None:
    (window,) = encoder._windows("Zoë likes coffee.")
    ids = [encoder._first, *window, encoder._last]
    assert ids == encoder._tokenizer.encode("Zoë likes coffee.").ids


def test_batches_give_what_single_texts_give(encoder: MiniLM, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = np.vstack([encoder.embed([text]) for text in TEXTS])
    np.testing.assert_allclose(encoder.embed(TEXTS), alone, atol=1e-4)
    np.testing.assert_allclose(encoder.embed(TEXTS[::-1])[::-1], alone, atol=1e-4)
    monkeypatch.setattr(minilm, "BATCH", 2)
    np.testing.assert_allclose(encoder.embed(TEXTS), alone, atol=1e-4)


@pytest.mark.parametrize("text", ["", " ", "🙂", "\ud83d", "a\ud83db", "\x00", "咖啡", "x" * 5000])
def test_any_text_has_a_vector(encoder: MiniLM, text: str) -> None:
    (vector,) = encoder.embed([text])
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_threads_get_what_each_would_get_alone(encoder: MiniLM) -> None:
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda text: encoder.embed([text])[0], TEXTS * 3))
    np.testing.assert_allclose(results, np.vstack([encoder.embed(TEXTS)] * 3), atol=1e-4)


def test_identity_names_model_files_and_windows(encoder: MiniLM, embedder_files: tuple[Path, Path], tmp_path: Path) -> None:
    network, tokenizer = embedder_files
    assert MiniLM(network, tokenizer, threads=1).identity == encoder.identity
    assert encoder.identity.startswith("all-MiniLM-L6-v2/")
    assert encoder.identity.endswith(f"/window{WINDOW}")
    other = tmp_path / "tokenizer.json"
    other.write_bytes(tokenizer.read_bytes() + b"\n")
    assert MiniLM(network, other, threads=1).identity != encoder.identity
