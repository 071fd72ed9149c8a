"""Stand-ins for the three ports: ordinary classes, no weights, no index, the same answer every time."""

from __future__ import annotations

import hashlib
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgmem_local.errors import Interrupted, PGMemError, PromptTooLong, UnknownNode
from pgmem_local.graph.nodes import Kind, NodeId, kind_of
from pgmem_local.graph.people import EntityId, FactId, People
from pgmem_local.ports import Completion, Embedder, Head, Ledger, Message, Prompt, Spent, Vectors
from pgmem_local.words import keywords

Answer = str | Completion | Mapping[str, Any] | Sequence[float] | PGMemError
"""What a ScriptedChat replays: text, a finished or cut completion, an object, log-probabilities, or an error to raise."""


class HashEmbedder:
    """Texts with keywords in common have a positive cosine, others about zero; `akin` words count as the word they map to, too."""

    def __init__(self, dimension: int = 64, akin: Mapping[str, str] | None = None) -> None:
        self.dimension = dimension
        self._akin = dict(akin or {})
        self.closed = False

    @property
    def identity(self) -> str:
        return f"hash-{self.dimension}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [self._one(text) for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dimension), dtype=np.float32)

    def close(self) -> None:
        self.closed = True

    def _one(self, text: str) -> Vectors:
        words = keywords(text)
        meant = sorted(words | {self._akin[word] for word in words & self._akin.keys()})
        total = np.stack([self._direction(word) for word in meant or [""]]).sum(axis=0)
        return np.asarray(total / np.linalg.norm(total), dtype=np.float32)

    def _direction(self, word: str) -> NDArray[np.float64]:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        return np.random.default_rng(seed).standard_normal(self.dimension)


class ExactSearch:
    """VectorSearch over a dictionary: every cosine is computed."""

    def __init__(self, vectors: Mapping[NodeId, Vectors] | None = None) -> None:
        self._rows: dict[NodeId, Vectors] = dict(vectors or {})

    def add(self, identifier: NodeId, vector: Vectors) -> None:
        self._rows[identifier] = vector

    def nearest(self, kind: Kind, query: Vectors, limit: int) -> list[tuple[NodeId, float]]:
        found = [(identifier, float(row @ query)) for identifier, row in self._rows.items() if kind_of(identifier) is kind]
        return sorted(found, key=lambda hit: (-hit[1], hit[0]))[:limit]

    def vectors(self, identifiers: Sequence[NodeId]) -> Vectors:
        missing = [identifier for identifier in identifiers if identifier not in self._rows]
        if missing:
            raise UnknownNode(f"no vector for {missing}; rebuild the index")
        return np.stack([self._rows[identifier] for identifier in identifiers])


class EmbeddedPeople:
    """PeopleSearch over people as they are: every text is embedded when it is asked for."""

    def __init__(self, people: People, embedder: Embedder) -> None:
        self._people, self._embedder = people, embedder

    def profiles(self, query: Vectors) -> dict[EntityId, float]:
        texts = {entity.id: text for entity in self._people if (text := self._people.profile(entity.id).text)}
        return {one: float(self._embedder.embed([text])[0] @ query) for one, text in texts.items()}

    def facts(self, query: Vectors) -> dict[FactId, float]:
        return {fact.id: float(self._embedder.embed([fact.text])[0] @ query) for fact in self._people.all_facts(current=False)}


@dataclass(frozen=True)
class Asked:
    """One prompt as it reached the model: by which method, with which limit, stops, options or schema."""

    method: str
    prompt: Prompt
    limit: int = 0
    stop: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    schema: Mapping[str, Any] | None = None


class ScriptedChat:
    """Replays queued answers, one a prompt, and records what was asked. Asked for more than was queued, it fails the test.

    Answers in `by_task` are for prompts of that task; the others are replayed in order to every other task.
    For `choose` an answer is a row of log-probabilities, or the option that is to win.
    """

    def __init__(
        self, answers: Iterable[Answer] = (), by_task: Mapping[str, Iterable[Answer]] | None = None, context_tokens: int = 4096
    ) -> None:
        self.ledger = Ledger()
        self.asked: list[Asked] = []
        self.prepared: list[tuple[Head, tuple[Message, ...]]] = []
        self.kept_in: Path | None = None
        self.context_tokens = context_tokens
        self._ways = threading.local()
        self.closed = False
        self._any_task = deque(answers)
        self._by_task = {task: deque(queued) for task, queued in (by_task or {}).items()}

    @property
    def identity(self) -> str:
        return "scripted"

    @property
    def left(self) -> int:
        """Answers nobody asked for."""
        return len(self._any_task) + sum(map(len, self._by_task.values()))

    def count(self, text: str) -> int:
        return len(text.split())

    def room(self, head: Head, reply_tokens: int) -> int:
        return max(self.context_tokens - self.count(f"{head.instructions} {head.notes}") - reply_tokens, 0)

    def write(self, prompts: Sequence[Prompt], limit: int, stop: Sequence[str] = ()) -> list[Completion]:
        self._refuse_too_long(prompts, limit)
        return [self._completion(Asked("write", prompt, limit=limit, stop=tuple(stop))) for prompt in prompts]

    def stream(self, prompt: Prompt, limit: int, temperature: float = 0.0) -> Generator[str, None, None]:
        self._refuse_too_long([prompt], limit)
        for letter in self._completion(Asked("stream", prompt, limit=limit)).text:
            self._give_way()
            yield letter

    def write_json(self, prompt: Prompt, schema: Mapping[str, Any], limit: int) -> dict[str, Any]:
        self._refuse_too_long([prompt], limit)
        answer = self._next(Asked("write_json", prompt, limit=limit, schema=schema))
        assert isinstance(answer, Mapping), f"write_json was asked, but {answer!r} is queued"
        return dict(answer)

    def choose(self, prompts: Sequence[Prompt], options: Sequence[str]) -> NDArray[np.float64]:
        self._refuse_too_long(prompts, 1)
        rows = [self._next(Asked("choose", prompt, options=tuple(options))) for prompt in prompts]
        return np.array([_log_probabilities(row, options) for row in rows], dtype=np.float64).reshape(len(prompts), len(options))

    def prepare(self, head: Head, history: Sequence[Message] = (), kept_in: Path | None = None) -> None:
        self._give_way()
        self.prepared.append((head, tuple(history)))
        self.kept_in = kept_in

    @contextmanager
    def giving_way(self, asked: Callable[[], bool]) -> Iterator[None]:
        self._ways.asked = asked
        try:
            yield
        finally:
            self._ways.asked = None

    def _give_way(self) -> None:
        asked = getattr(self._ways, "asked", None)
        if asked is not None and asked():
            raise Interrupted("asked to give way")

    def close(self) -> None:
        self.closed = True

    def _completion(self, asked: Asked) -> Completion:
        answer = self._next(asked)
        if isinstance(answer, str):
            answer = Completion(_until(answer, asked.stop), finished=True, tokens=self.count(answer))
        assert isinstance(answer, Completion), f"{asked.method} was asked, but {answer!r} is queued"
        return answer

    def _next(self, asked: Asked) -> Answer:
        self._give_way()
        self.asked.append(asked)
        answer = self._answer(asked)
        self.ledger.book(asked.prompt.head.task, Spent(calls=1, evaluated=self.count(asked.prompt.text)))
        if isinstance(answer, PGMemError):
            raise answer
        return answer

    def _answer(self, asked: Asked) -> Answer:
        task = asked.prompt.head.task
        queue = self._by_task.get(task, self._any_task)
        assert queue, f"{asked.method} for task {task!r} was asked once more than answers are queued: {asked.prompt.text!r}"
        return queue.popleft()

    def _refuse_too_long(self, prompts: Sequence[Prompt], limit: int) -> None:
        for prompt in prompts:
            if self.count(prompt.text) > self.room(prompt.head, limit):
                raise PromptTooLong(f"a prompt of task {prompt.head.task!r} does not fit; shorten it")


class RuleChat(ScriptedChat):
    """Answers each task by its rule, a function of what was asked; a task without a rule fails the test."""

    def __init__(self, rules: Mapping[str, Callable[[Asked], Answer]], context_tokens: int = 4096) -> None:
        super().__init__(context_tokens=context_tokens)
        self.rules = dict(rules)

    def tasks(self) -> list[str]:
        """The task of each prompt asked so far."""
        return [asked.prompt.head.task for asked in self.asked]

    def _answer(self, asked: Asked) -> Answer:
        task = asked.prompt.head.task
        assert task in self.rules, f"{asked.method} was asked for task {task!r}, which has no rule: {asked.prompt.text!r}"
        return self.rules[task](asked)


def _until(text: str, stops: Iterable[str]) -> str:
    return text[: min((at for stop in stops if (at := text.find(stop)) >= 0), default=len(text))]


def _log_probabilities(answer: Answer, options: Sequence[str]) -> list[float]:
    if isinstance(answer, str):
        assert answer in options, f"{answer!r} is queued, but the options are {list(options)}"
        return [0.0 if option == answer else -10.0 for option in options]
    assert isinstance(answer, Sequence), f"choose was asked, but {answer!r} is queued"
    assert len(answer) == len(options), f"{answer!r} is queued, but the options are {list(options)}"
    return [float(value) for value in answer]
