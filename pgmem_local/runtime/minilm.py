"""`Embedder` on onnxruntime and tokenizers: all-MiniLM-L6-v2, mean pooled, unit vectors.

The published tokenizer cuts and pads at 128 word pieces without a word; here both are off, and a longer text is embedded in windows
whose mean, weighted by length, stands for the whole.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pgmem_local.ports import Vectors
from pgmem_local.runtime.silence import silence

WINDOW = 126
"""Word pieces a window: the model was trained on 128 with [CLS] and [SEP]."""
BATCH = 32


class MiniLM:
    """A sentence encoder in this process, on the CPU. Safe to share between threads."""

    def __init__(self, model: Path, tokenizer: Path, threads: int) -> None:
        silence()
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        onnxruntime.disable_telemetry_events()
        self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._inputs = {node.name for node in self._session.get_inputs()}
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._first, self._last = self._tokenizer.encode("").ids
        self._lock = threading.Lock()
        digest = hashlib.sha256(model.read_bytes() + tokenizer.read_bytes()).hexdigest()[:12]
        self._identity = f"all-MiniLM-L6-v2/{digest}/window{WINDOW}"
        self._dimension = int(self._session.get_outputs()[0].shape[-1])

    @property
    def identity(self) -> str:
        return self._identity

    @property
    def dimension(self) -> int:
        return self._dimension

    def close(self) -> None:
        """onnxruntime frees with the object; nothing else is held."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (texts, dimension). A text without any word piece gets the vector of an empty sentence."""
        windows: list[list[int]] = []
        owner: list[int] = []
        for index, text in enumerate(texts):
            for window in self._windows(text):
                windows.append(window)
                owner.append(index)
        sums = np.zeros((len(texts), self._dimension), dtype=np.float64)
        order = sorted(range(len(windows)), key=lambda i: len(windows[i]))
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            for i, mean in zip(chosen, self._means([windows[i] for i in chosen]), strict=True):
                sums[owner[i]] += mean * max(len(windows[i]), 1)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return (sums / np.where(lengths == 0, 1, lengths)).astype(np.float32)

    def _windows(self, text: str) -> list[list[int]]:
        ids = self._tokenizer.encode(text.encode("utf-8", "replace").decode(), add_special_tokens=False).ids
        return [ids[i : i + WINDOW] for i in range(0, len(ids), WINDOW)] or [[]]

    def _means(self, windows: Sequence[Sequence[int]]) -> NDArray[np.float64]:
        """Mean of the last hidden states over the real tokens, shape (windows, dimension)."""
        width = max(len(window) for window in windows) + 2
        ids = np.zeros((len(windows), width), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, window in enumerate(windows):
            filled = [self._first, *window, self._last]
            ids[row, : len(filled)] = filled
            mask[row, : len(filled)] = 1
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        with self._lock:
            hidden = self._session.run(None, {name: feed[name] for name in self._inputs})[0]
        weights = mask[:, :, None].astype(np.float64)
        return np.asarray((hidden * weights).sum(axis=1) / weights.sum(axis=1))
