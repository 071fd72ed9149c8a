"""How much faster learning is with its prompts decoded together than with each by itself, on the same entries and with the same model.

    python scripts/batching.py --entries 6

The first entries of the sample diary are learned in a fresh memory once to evaluate the heads, then both ways. The notes of both memories
are compared: sums come out in another order in a batch, so that a note may be worded otherwise, and how many are is shown.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgmem_local.conversation import Exchange
from pgmem_local.graph.nodes import Kind
from pgmem_local.ingest.registry import read_exchanges
from pgmem_local.memory import PersonaMemory
from pgmem_local.ports import ChatModel, Completion, Embedder, Prompt, Spent
from pgmem_local.runtime.opening import open_chat_model, open_embedder
from pgmem_local.store.sqlite import MemoryStore


class OneByOne:
    """The same model, with one prompt a call."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def write(self, prompts: Sequence[Prompt], limit: int, stop: Sequence[str] = ()) -> list[Completion]:
        return [completion for prompt in prompts for completion in self._model.write([prompt], limit, stop)]

    def choose(self, prompts: Sequence[Prompt], options: Sequence[str]) -> NDArray[np.float64]:
        rows = [self._model.choose([prompt], options) for prompt in prompts]
        return np.concatenate(rows) if rows else self._model.choose([], options)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=6)
    parser.add_argument("--model", help="a name from `pgmem models list`, or a path")
    options = parser.parse_args()
    diary = Path(str(resources.files("pgmem_local") / "samples" / "quickstart_diary.jsonl"))
    entries = list(islice((item for item in read_exchanges(diary) if isinstance(item, Exchange)), options.entries))
    model, embedder = open_chat_model(options.model), open_embedder()
    try:
        learn(model, embedder, entries)  # evaluates the heads, which both find ready then
        together, notes = learn(model, embedder, entries)
        alone, same = learn(OneByOne(model), embedder, entries)
    finally:
        model.close()
    for name, seconds in (("together", together), ("one by one", alone)):
        print(f"{name:<10}  {seconds:6.1f} s, {len(entries) / seconds:.3f} entries a second")
    apart = len(set(notes) ^ set(same))
    print(f"{alone / together:.2f} times as fast together; {len(notes)} and {len(same)} notes, {apart} of them only in one memory")
    return 0


def learn(model: ChatModel, embedder: Embedder, entries: Sequence[Exchange]) -> tuple[float, list[str]]:
    """Seconds that the entries took, and the notes made of them."""
    with tempfile.TemporaryDirectory() as home:
        memory = PersonaMemory(MemoryStore.open(Path(home)), lambda: model, lambda: embedder)
        memory.observe(entries)
        began = time.perf_counter()
        spent: Spent = memory.learn()
        seconds = time.perf_counter() - began
        notes = [node.text for kind in (Kind.STATE, Kind.EPISODE, Kind.TRAIT) for node in memory.graph.of_kind(kind)]
        print(f"{spent.evaluated} tokens evaluated, {spent.written} written, {spent.calls} calls, {spent.reads} reads")
        memory.store.close()
    return seconds, notes


if __name__ == "__main__":
    sys.exit(main())
