"""A memory that has read a short diary, with models that follow rules; one that is not given must not be opened."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import NoReturn

import pytest

from pgmem_local.construction.judge import by_letters
from pgmem_local.conversation import Exchange, Turn
from pgmem_local.graph.edges import Relation
from pgmem_local.graph.nodes import Kind
from pgmem_local.memory import PersonaMemory
from pgmem_local.ports import ChatModel
from pgmem_local.store import MemoryStore
from tests.builders import on_day
from tests.fakes import HashEmbedder
from tests.reader import Reader, believe_the_model

NOTES = {
    "espresso": "drinks espresso",
    "jasmine": "drinks jasmine tea",
    "swim": "swims on Wednesdays",
    "Graz": "lives in Graz",
    "Imani": "lives with Imani",
}
LINES = (
    "I drink espresso.",
    "It is jasmine tea now.",
    "I swim every Wednesday.",
    "My flat in Graz is cold.",
    "Imani and I share the rent.",
)
RELATIONS = {("espresso", "jasmine"): Relation.SHIFT_TO, ("Graz", "Linz"): Relation.CONTRADICT}

Opener = Callable[..., PersonaMemory]


@pytest.fixture(autouse=True)
def believed(monkeypatch: pytest.MonkeyPatch) -> None:
    believe(monkeypatch)


def believe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take what a model says for true, also of statements."""
    believe_the_model(monkeypatch)
    monkeypatch.setattr("pgmem_local.control.statements.judge_for", lambda name: by_letters)


def never() -> NoReturn:
    pytest.fail("a language model was opened that was not needed")


def opened(home: Path, model: ChatModel | None = None) -> PersonaMemory:
    return PersonaMemory(MemoryStore.open(home), (lambda: model) if model else never, lambda: HashEmbedder(512))


def said(text: str, day: int | None = 0, session: str | None = None, reply: str | None = None) -> Exchange:
    return Exchange(Turn(text, on_day(day), session=session), reply)


def reader() -> Reader:
    return Reader(NOTES, RELATIONS, trait="is fond of warm beverages", shown_by=("drinks",))


def read_in(home: Path, exchanges: Sequence[Exchange]) -> None:
    """Observe and learn."""
    with opened(home, reader()) as memory:
        memory.observe(exchanges)
        memory.learn()


@pytest.fixture
def diary(tmp_path: Path) -> Path:
    """The home of a memory that has learned a line a day."""
    read_in(tmp_path, [said(text, day) for day, text in enumerate(LINES)])
    return tmp_path


def texts(memory: PersonaMemory, kind: Kind) -> list[str]:
    return [node.text for node in memory.graph.of_kind(kind)]


def current(memory: PersonaMemory) -> list[str]:
    """The States that hold, by their words."""
    return [entry.node.text for entry in memory.me().states]


def changed(memory: PersonaMemory) -> list[tuple[str, str]]:
    return [(one.state.node.text, one.replaced_by.text) for one in memory.me().changed]


def dump(memory: PersonaMemory) -> list[str]:
    with closing(sqlite3.connect(memory.store.place.database)) as connection:
        return list(connection.iterdump())


def content(memory: PersonaMemory) -> list[str]:
    """All rows but counters and marks, which only ever rise."""
    return [line for line in dump(memory) if not any(f'INTO "{name}"' in line for name in ("counters", "meta", "sqlite_sequence"))]
