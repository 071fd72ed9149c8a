"""What another process does to a memory: run as `python -m tests.store.worker JOB HOME NAME COUNT`."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from pgmem_local.graph.nodes import NodeId
from pgmem_local.store import MemoryStore, VectorIndexes
from tests.store.builders import arrival, at, open_store, state_lesson


def add(store: MemoryStore, name: str, count: int) -> None:
    """Add entries one by one, as a chat does."""
    for number in range(count):
        store.add([arrival(f"{name} {number}", at(number))])


def learn(store: MemoryStore, name: str, count: int) -> None:
    """Land one lesson a Context until killed: each teaches `count` States in a chain of judgements."""
    for number in itertools.count():
        (source,) = store.add([arrival(f"{name} {number}", at(number))]).new
        store.land(state_lesson(store, f"from {source}", source, states=count))
        print(source, flush=True)


def index(store: MemoryStore, name: str, count: int) -> None:
    """Add entries and save the index after each, until killed."""
    indexes = VectorIndexes(store, exact_below=1)
    for number in itertools.count():
        store.add([arrival(f"{name} {number}")])
        indexes.refresh()
        indexes.save()
        print(NodeId(f"c{number + 1}"), flush=True)


def hold(store: MemoryStore, name: str, count: int) -> None:
    """Be the process that learns until standard input ends."""
    with store.learning():
        print("held", flush=True)
        sys.stdin.read()


def add_later(store: MemoryStore, name: str, count: int) -> None:
    """Keep the memory open until standard input ends, then add an entry."""
    store.counts()
    print("open", flush=True)
    sys.stdin.read()
    store.add([arrival(name)])


JOBS = {job.__name__: job for job in (add, learn, index, hold, add_later)}

if __name__ == "__main__":
    job, home, name, count = sys.argv[1:]
    with open_store(Path(home)) as store:
        JOBS[job](store, name, int(count))
