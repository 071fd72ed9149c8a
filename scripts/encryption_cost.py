"""What encryption costs: the same entries stored and learned in a plain and in an encrypted memory, with a model that takes no time.

    python scripts/encryption_cost.py --entries 1000
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np

from pgmem_local.conversation import Exchange, Moment, Turn
from pgmem_local.graph.edges import SourceEdge
from pgmem_local.graph.nodes import Kind, NodeId, State
from pgmem_local.lesson import Lesson
from pgmem_local.store import Arrival, MemoryStore, Place
from pgmem_local.store.encryption import convert

DIMENSION = 384
BATCH = 64
FIRST = datetime(2024, 1, 1, tzinfo=timezone.utc)
SECRET = "correct horse battery staple"

Cost = tuple[float, float]
"""Seconds by the clock, and of the processor: the first also counts what else the machine does."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    took: dict[bool, list[Cost]] = {False: [], True: []}
    for _ in range(options.rounds):  # in turns, so that what else the machine does hits both
        for encrypted in took:
            took[encrypted].append(ingest(options.entries, encrypted))
    for name, part in (("wall", 0), ("processor", 1)):
        plain, cipher = (min(cost[part] for cost in costs) for costs in took.values())
        print(f"{name:<9}  plain {plain:.2f} s, encrypted {cipher:.2f} s, ratio {cipher / plain:.2f}")
    return 0


def ingest(entries: int, encrypted: bool) -> Cost:
    """To open a memory, store the entries in batches and land a State from each."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        MemoryStore.open(home).close()
        if encrypted:
            convert(Place(home), None, SECRET)
        began, worked = time.perf_counter(), time.process_time()
        with MemoryStore.open(home, prompt=lambda: SECRET) as store:
            store.expect_vectors("random", DIMENSION)
            for start in range(0, entries, BATCH):
                new = store.add([arrival(number) for number in range(start, min(start + BATCH, entries))]).new
                for source in new:
                    store.land(lesson(store, source))
        return time.perf_counter() - began, time.process_time() - worked


def arrival(number: int) -> Arrival:
    text = f"Entry {number}: jasmine tea in the morning, a walk by the river, and Imani practised her clarinet until nine again."
    moment = Moment(FIRST + timedelta(hours=number))
    return Arrival(Exchange(Turn(text, moment)), frozenset(text.lower().split()), frozenset({"daily"}), vector(number))


def lesson(store: MemoryStore, source: NodeId) -> Lesson:
    identifier = store.next_id(Kind.STATE)
    state = State(identifier, f"User drinks jasmine tea, as {source} says", None, frozenset({"jasmine", "tea"}), frozenset())
    return Lesson((state,), {identifier: vector(hash(source) % 10**6)}, (SourceEdge(source, identifier),), learned=(source,))


def vector(seed: int) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    numbers = np.random.default_rng(seed).standard_normal(DIMENSION)
    return (numbers / np.linalg.norm(numbers)).astype(np.float32)


if __name__ == "__main__":
    sys.exit(main())
