"""Talks over a memory in a folder, with a model that follows rules, and whose learning can be held up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pgmem_local.conversation import Moment
from pgmem_local.graph.edges import Relation
from pgmem_local.graph.nodes import Context, Kind
from pgmem_local.memory import PersonaMemory
from pgmem_local.ports import Prompt
from pgmem_local.store import MemoryStore
from pgmem_local.talking.conversation import Conversation
from pgmem_local.talking.talk import Talk
from tests.builders import on_day
from tests.fakes import HashEmbedder
from tests.reader import Reader, believe_the_model

NOTES = {"espresso": "drinks espresso", "tea": "drinks tea", "swim": "swims on Wednesdays"}
SECONDS = 10.0
"""After which a test gives up waiting."""


@pytest.fixture(autouse=True)
def believed(monkeypatch: pytest.MonkeyPatch) -> None:
    believe_the_model(monkeypatch)


class Companion(Reader):
    """Also talks. While `busy` is set, learning goes on and on until it is asked to give way; `begun` says that it has begun."""

    def __init__(self) -> None:
        super().__init__(NOTES, {("espresso", "tea"): Relation.SHIFT_TO})
        self.rules["chat"] = lambda asked: self.reply
        self.reply = "Glad to hear it."
        self.busy, self.begun = threading.Event(), threading.Event()
        self.before_word: Callable[[int], None] = lambda number: None

    def choose(self, prompts: Sequence[Prompt], options: Sequence[str]) -> NDArray[np.float64]:
        deadline = time.monotonic() + SECONDS
        while self.busy.is_set():
            self.begun.set()
            self._give_way()
            assert time.monotonic() < deadline, "learning was never asked to give way"
            time.sleep(0.002)
        return super().choose(prompts, options)

    def stream(self, prompt: Prompt, limit: int, temperature: float = 0.0) -> Generator[str, None, None]:
        words = "".join(super().stream(prompt, limit, temperature)).split(" ")
        for number, word in enumerate(words):
            self.before_word(number)
            self._give_way()
            yield word if number == 0 else f" {word}"


@dataclass
class Home:
    """A memory's folder, the model that is used on it, and what was heard of learning."""

    path: Path
    model: Companion = field(default_factory=Companion)
    heard: list[str] = field(default_factory=list)
    days: Iterator[int] = field(default_factory=count)

    def clock(self) -> Moment:
        moment = on_day(next(self.days))
        assert moment is not None
        return moment

    @contextmanager
    def talk(self, conversation: Conversation | None = None, learns: bool = True) -> Iterator[Talk]:
        memory = PersonaMemory(MemoryStore.open(self.path), lambda: self.model, HashEmbedder)
        begun = conversation or Conversation.begun(self.clock())
        with memory, closing(Talk(memory, begun, self.heard.append, learns, self.clock)) as talk:
            talk.begin()
            yield talk

    def stored(self) -> list[tuple[str, str | None]]:
        """What was said and answered, in order."""
        with MemoryStore.open(self.path) as store:
            nodes = store.load_graph().of_kind(Kind.CONTEXT)
        return [(node.text, node.reply) for node in nodes if isinstance(node, Context)]

    def counts(self) -> dict[str, int]:
        with MemoryStore.open(self.path) as store:
            return store.counts()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def say(talk: Talk, message: str) -> str:
    return "".join(talk.say(message))


def settle(talk: Talk) -> None:
    """Wait until everything is learned."""
    until(lambda: talk.settled)


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)
