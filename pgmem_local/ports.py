"""The three things the memory needs from outside, as small protocols. Adapters live in `runtime/` and `store/`, fakes in `tests/`.

A prompt is a fixed head and a variable tail. Whoever implements `ChatModel` may keep heads evaluated and decode many tails at
once; nothing on this side of the protocol knows or cares.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from pgmem_local.graph.nodes import Kind, NodeId
from pgmem_local.graph.people import EntityId, FactId

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Message:
    """One earlier message of a conversation, as the model should see it."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True)
class Head:
    """The fixed part of one task's prompts, ours and trusted: who the model is, what it does, answered examples.

    `task` is the name under which calls are accounted. `thinking` leaves a thinking model its thoughts (free chat only). `notes`
    follow the instructions: words that change seldom, but are not ours, so that no control string in them counts.
    """

    task: str
    instructions: str
    thinking: bool = False
    notes: str = ""


@dataclass(frozen=True)
class Prompt:
    """A head and what varies: earlier messages, then the untrusted `text`, then the words the answer begins with."""

    head: Head
    text: str
    opening: str = ""
    history: tuple[Message, ...] = ()


@dataclass(frozen=True)
class Completion:
    """What the model wrote. `finished` is False where the token limit cut it off."""

    text: str
    finished: bool
    tokens: int


@dataclass
class Spent:
    """Running cost of one task: prompts written after (calls), prompts only read, prompt tokens evaluated, prompt tokens reused,
    tokens written, seconds."""

    calls: int = 0
    reads: int = 0
    evaluated: int = 0
    reused: int = 0
    written: int = 0
    seconds: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.calls + other.calls,
            self.reads + other.reads,
            self.evaluated + other.evaluated,
            self.reused + other.reused,
            self.written + other.written,
            self.seconds + other.seconds,
        )


@dataclass
class Ledger:
    """What every call cost, by task."""

    tasks: dict[str, Spent] = field(default_factory=dict)

    def book(self, task: str, spent: Spent) -> None:
        self.tasks[task] = self.tasks.get(task, Spent()) + spent

    def total(self) -> Spent:
        return sum(self.tasks.values(), Spent())

    def take(self) -> dict[str, Spent]:
        """What was booked since the last take, leaving the ledger empty."""
        taken, self.tasks = self.tasks, {}
        return taken


class ChatModel(Protocol):
    """A small language model. One call at a time; safe to share between threads."""

    ledger: Ledger

    @property
    def identity(self) -> str:
        """Name of the weights: what was learned with another model is told apart by it."""
        ...

    @property
    def context_tokens(self) -> int:
        """Tokens that prompt and reply of one call may fill together."""
        ...

    def count(self, text: str) -> int:
        """Tokens of untrusted text by the model's own tokenizer."""
        ...

    def room(self, head: Head, reply_tokens: int) -> int:
        """Tokens left for a prompt's variable part beside its head and a reply of this length."""
        ...

    def write(self, prompts: Sequence[Prompt], limit: int, stop: Sequence[str] = ()) -> list[Completion]:
        """Write greedily after each prompt, at most `limit` tokens, ending before the first `stop`.

        Raises PromptTooLong before anything is evaluated.
        """
        ...

    def stream(self, prompt: Prompt, limit: int, temperature: float = 0.0) -> Generator[str, None, None]:
        """The same for one prompt, piece by piece. Closing the generator ends the call."""
        ...

    def write_json(self, prompt: Prompt, schema: Mapping[str, Any], limit: int) -> dict[str, Any]:
        """One JSON object of a fixed schema of ours. Raises ModelOutputInvalid when it is cut off or not an object."""
        ...

    def choose(self, prompts: Sequence[Prompt], options: Sequence[str]) -> NDArray[np.float64]:
        """Log-probabilities, shape (prompts, options), that each option follows the prompt; nothing is written.

        Options are short continuations such as " Yes"; only their first tokens are read, which must differ.
        """
        ...

    def prepare(self, head: Head, history: Sequence[Message] = (), kept_in: Path | None = None) -> None:
        """Evaluate ahead what prompts with this head and history begin with. `kept_in` is a folder in which what the head alone was
        evaluated to is kept from run to run, and not used once anything it depends on has changed."""
        ...

    def giving_way(self, asked: Callable[[], bool]) -> AbstractContextManager[None]:
        """Inside the block this thread's calls end with Interrupted as soon as `asked()` is true, within the time of a token."""
        ...

    def close(self) -> None: ...


class Embedder(Protocol):
    """Text -> unit vectors, shape (texts, dimension), float32."""

    @property
    def identity(self) -> str:
        """Stored beside the vectors; vectors of another identity are never compared."""
        ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors: ...

    def close(self) -> None: ...


class VectorSearch(Protocol):
    """Nearest nodes of each kind, and the vectors themselves. Derived from the store."""

    def nearest(self, kind: Kind, query: Vectors, limit: int) -> list[tuple[NodeId, float]]:
        """At most `limit` nodes of a kind with their cosine, best first; fewer where fewer exist."""
        ...

    def vectors(self, identifiers: Sequence[NodeId]) -> Vectors:
        """The stored unit vectors, one row an id; raises UnknownNode for an id without one."""
        ...


class PeopleSearch(Protocol):
    """Cosine of a query to every profile and to every fact: there are thousands at most, so all are computed."""

    def profiles(self, query: Vectors) -> dict[EntityId, float]:
        """Entities without a profile have no entry."""
        ...

    def facts(self, query: Vectors) -> dict[FactId, float]: ...
