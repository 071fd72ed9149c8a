"""A small multinomial logistic regression: what turns log-odds read from a model into calibrated probabilities.

A head belongs to one model and one part of the work: `heads/MODEL.PART.json`, made by `pgmem models calibrate MODEL`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pgmem_local.errors import ModelError

Floats = NDArray[np.float64]

GENERIC = "qwen2.5-coder-1.5b"
"""Whose heads stand in for those of a model that has none of its own."""


@dataclass(frozen=True)
class LogisticHead:
    """Fitted weights. weights: (features + 1, labels), the last row the intercept; mean and scale: (features,)."""

    name: str
    mean: Floats
    scale: Floats
    weights: Floats

    def probabilities(self, features: Floats) -> Floats:
        """Shape (items, labels); rows sum to one."""
        standard = (features - self.mean) / self.scale
        return softmax(standard @ self.weights[:-1] + self.weights[-1])

    @classmethod
    def shipped(cls, name: str) -> LogisticHead | None:
        """The head that comes with the package for a model, or None."""
        file = resources.files(__package__).joinpath("heads").joinpath(f"{name}.json")
        return cls.from_json(file.read_text(encoding="utf-8")) if file.is_file() else None

    @classmethod
    def from_json(cls, text: str) -> LogisticHead:
        raw = json.loads(text)
        return cls(raw["name"], *(np.array(raw[part], dtype=np.float64) for part in ("mean", "scale", "weights")))

    def to_json(self) -> str:
        parts = {part: np.round(getattr(self, part), 5).tolist() for part in ("mean", "scale", "weights")}
        return json.dumps({"name": self.name, **parts}, indent=1)


def fit(name: str, features: Floats, labels: NDArray[np.int64], count: int, penalty: float = 2.0, steps: int = 500) -> LogisticHead:
    """Ridge-penalised maximum likelihood by Nesterov's accelerated gradient; labels are integers below `count`."""
    mean, spread = features.mean(axis=0), features.std(axis=0)
    scale = np.where(spread > 1e-3, spread, 1.0)  # a feature that never varies must not be blown up when it does
    inputs = np.concatenate([(features - mean) / scale, np.ones((len(features), 1))], axis=1)
    target = np.eye(count)[labels]
    ridge = np.full((inputs.shape[1], 1), penalty / len(inputs))
    ridge[-1] = 0.0
    rate = 1.0 / (0.5 * np.linalg.norm(inputs, 2) ** 2 / len(inputs) + penalty / len(inputs))
    weights = ahead = np.zeros((inputs.shape[1], count))
    for step in range(steps):
        gradient = inputs.T @ (softmax(inputs @ ahead) - target) / len(inputs) + ridge * ahead
        following = ahead - rate * gradient
        ahead = following + step / (step + 3) * (following - weights)
        weights = following
    return LogisticHead(name, mean, scale, weights)


def softmax(scores: Floats) -> Floats:
    shifted = np.exp(scores - scores.max(axis=-1, keepdims=True))
    result: Floats = shifted / shifted.sum(axis=-1, keepdims=True)
    return result


def heads_folder() -> Path:
    """Where fitted heads lie: beside this module."""
    return Path(__file__).parent / "heads"


def shipped_head(part: str, model: str) -> LogisticHead:
    """The head fitted for a part of the work of a model, or the generic one, which its name tells."""
    head = LogisticHead.shipped(f"{model}.{part}") or LogisticHead.shipped(f"{GENERIC}.{part}")
    if head is None:
        raise ModelError(f"this installation lacks the fitted head {GENERIC}.{part}; install pgmem-local again")
    return head
