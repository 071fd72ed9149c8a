"""The fitted head: probabilities, fitting, and the file it is kept in."""

from __future__ import annotations

import numpy as np

from pgmem_local.construction.logistic import LogisticHead, fit, softmax

CENTRES = np.array([[3.0, 0.0, 100.0], [-3.0, 0.0, 100.0], [0.0, 3.0, 100.0]])


def toy(seed: int = 1) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """Three clouds apart in two features; the third feature says nothing."""
    labels = np.repeat(np.arange(3), 30)
    return CENTRES[labels] + np.random.default_rng(seed).normal(0.0, 0.5, (90, 3)), labels


def test_separable_labels_are_learned() -> None:
    head = fit("toy", *toy(), count=3)
    features, labels = toy(seed=2)
    assert np.array_equal(head.probabilities(features).argmax(axis=1), labels)


def test_probabilities_sum_to_one_even_far_out() -> None:
    chances = fit("toy", *toy(), count=3).probabilities(np.array([[1e6, -1e6, 0.0], [0.0, 0.0, 100.0]]))
    assert np.allclose(chances.sum(axis=1), 1.0)
    assert np.isfinite(chances).all()


def test_penalty_keeps_the_head_from_being_too_sure() -> None:
    features, labels = toy()
    loose, tight = (fit("toy", features, labels, count=3, penalty=penalty) for penalty in (0.1, 100.0))
    assert tight.probabilities(features).max() < loose.probabilities(features).max()


def test_what_is_written_is_read_back() -> None:
    head = fit("toy", *toy(), count=3)
    again = LogisticHead.from_json(head.to_json())
    assert again.name == "toy"
    assert np.allclose(again.probabilities(toy()[0]), head.probabilities(toy()[0]), atol=1e-3)


def test_model_without_a_fitted_head_has_none() -> None:
    assert LogisticHead.shipped("unheard-of") is None


def test_softmax_does_not_overflow() -> None:
    assert np.allclose(softmax(np.array([[1000.0, 1000.0]])), 0.5)
