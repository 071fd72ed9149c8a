"""`ChatModel` on llama-cpp-python: templates, token budgets, accounting and one lock over `engine.Engine`."""

from __future__ import annotations

import codecs
import hashlib
import json
import os
import re
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import chain, pairwise, repeat
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

from pgmem_local.errors import ModelError, ModelOutputInvalid
from pgmem_local.ports import Completion, Head, Ledger, Message, Prompt, Spent
from pgmem_local.runtime.engine import Engine, Logits, Pick, Tokens, Work
from pgmem_local.runtime.grammar import JsonGrammar
from pgmem_local.runtime.states import fingerprint, is_kept, load_state, save_state
from pgmem_local.runtime.templates import THINK_TAGS, ChatTemplate, Piece, Speech, without_thoughts

DEFAULT_CONTEXT = 8192
ALL_LAYERS = 999
_OWN_PIECES = 3
"""Pieces of a rendered prompt that are its own: its text, what closes it, its opening."""
_FENCE = re.compile(r"```\w*\s*(.*?)\s*```", re.DOTALL)


class LlamaChat:
    """A GGUF model in this process. Safe to share between threads; close it explicitly.

    path must be a file that `model_files.check_gguf` accepted. gpu_layers counts only where the build can offload.
    Raises TemplateError for a model without a usable chat template, ModelError where it cannot be opened.
    """

    def __init__(
        self, path: Path, name: str, context_tokens: int = DEFAULT_CONTEXT, threads: int | None = None, gpu_layers: int = ALL_LAYERS
    ) -> None:
        self._name = name
        self._path = path
        self._lock = threading.RLock()
        self._ways = threading.local()
        self._engine = Engine(path, context_tokens, threads or physical_cores(), gpu_layers)
        self.ledger = Ledger()
        try:
            self._template = ChatTemplate(self._engine.metadata("tokenizer.chat_template"), *self._edges())
        except ModelError:
            self._engine.close()
            raise
        self._control = control_strings(self._engine)
        self._think_tags = {token: text.encode() for token, text in self._engine.special_texts().items() if text in THINK_TAGS}
        self._head_tokens: dict[str, Tokens] = {}
        self._grammars: dict[str, JsonGrammar] = {}

    def _edges(self) -> tuple[str, str]:
        """Texts of the begin and end tokens, as templates ask for them."""
        special = self._engine.special_texts()
        begin = self._engine.begins_with()
        ends = [text for token, text in special.items() if self._engine.is_end(token)]
        return (special.get(begin[0], "") if begin else "", ends[0] if ends else "")

    def __enter__(self) -> LlamaChat:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Free the model; a stream that is still open ends with a ModelError at its next step. Safe to call twice."""
        with self._lock:
            for grammar in self._grammars.values():
                grammar.close()
            self._grammars.clear()
            self._engine.close()

    @property
    def identity(self) -> str:
        return self._name

    @property
    def context_tokens(self) -> int:
        return self._engine.context_tokens

    # ---------------------------------------------------------------- prompts as tokens

    def count(self, text: str) -> int:
        with self._held():
            return len(self._plain(text))

    def room(self, head: Head, reply_tokens: int) -> int:
        with self._held():
            first, rest = self._tokens(Prompt(head, ""))
            return self.context_tokens - len(first) - len(rest) - reply_tokens

    def _plain(self, text: str) -> Tokens:
        return untrusted_tokens(self._engine, self._control, text)

    def _tokens(self, prompt: Prompt) -> tuple[Tokens, Tokens]:
        """(head, tail) of a prompt: all that comes before its text, and the rest."""
        first, *pieces = self._template.pieces(prompt)
        before, own = pieces[:-_OWN_PIECES], pieces[-_OWN_PIECES:]
        return self._first_of(first.text) + self._all_of(before), self._all_of(own)

    def _first_of(self, text: str) -> Tokens:
        """The tokens of a head's instructions, made once."""
        if text not in self._head_tokens:
            tokens = self._engine.tokenize(text, special=True)
            begin = self._engine.begins_with()
            self._head_tokens[text] = tokens if tokens[: len(begin)] == begin else begin + tokens
        return self._head_tokens[text]

    def _all_of(self, pieces: Iterable[Piece]) -> Tokens:
        tokens: list[int] = []
        for piece in pieces:
            tokens += self._engine.tokenize(piece.text, special=True) if piece.trusted else self._plain(piece.text)
        return tuple(tokens)

    def _batches(self, prompts: Sequence[Prompt], limit: int) -> list[_Batch]:
        """The prompts of one head together. Raises PromptTooLong before any of them is evaluated."""
        batches: dict[tuple[str, Tokens], _Batch] = {}
        for place, prompt in enumerate(prompts):
            head, tail = self._tokens(prompt)
            batch = batches.setdefault((prompt.head.task, head), _Batch(prompt.head, head))
            batch.places.append(place)
            batch.tails.append(tail)
        for batch in batches.values():
            self._engine.require_room(batch.tokens, batch.tails, limit)
        return list(batches.values())

    # ---------------------------------------------------------------- calls

    @contextmanager
    def _held(self) -> Iterator[None]:
        """The engine for this thread alone, as long as the block runs."""
        with self._lock:
            if self._engine.closed:
                raise ModelError(f"{self._name} is closed; open it again")
            self._engine.gives_way = getattr(self._ways, "asked", None)
            yield

    @contextmanager
    def giving_way(self, asked: Callable[[], bool]) -> Iterator[None]:
        before = getattr(self._ways, "asked", None)
        self._ways.asked = asked
        try:
            yield
        finally:
            self._ways.asked = before

    @contextmanager
    def _accounted(self, task: str, calls: int = 0, reads: int = 0) -> Iterator[None]:
        with self._held():
            self._engine.work = work = Work()
            began = time.perf_counter()
            try:
                yield
            finally:
                seconds = time.perf_counter() - began
                self.ledger.book(task, Spent(calls, reads, work.evaluated, work.reused, work.written, seconds))

    def prepare(self, head: Head, history: Sequence[Message] = (), kept_in: Path | None = None) -> None:
        with self._accounted(head.task):
            if kept_in is not None:
                self._prepare_kept(self._tokens(Prompt(head, ""))[0], kept_in)
            self._engine.prepare(self._tokens(Prompt(head, "", history=tuple(history)))[0])

    def _prepare_kept(self, tokens: Tokens, folder: Path) -> None:
        """Take the state of a head from the folder, or put it there."""
        key = self._state_key(tokens)
        if not is_kept(folder, key):
            self._engine.prepare(tokens)
            if made := self._engine.state_of(tokens):
                save_state(folder, key, made)
        elif not self._engine.knows(tokens) and (state := load_state(folder, key)) is not None:
            self._engine.adopt(tokens, state)

    def _state_key(self, tokens: Tokens) -> str:
        """Of all that an evaluated head depends on: the weights, the library, the context, and the tokens themselves, in which are
        the template, our instructions and the notes."""
        about = (self._engine.version, self.context_tokens, tokens)
        return hashlib.sha256(fingerprint(self._path) + repr(about).encode()).hexdigest()

    def write(self, prompts: Sequence[Prompt], limit: int, stop: Sequence[str] = ()) -> list[Completion]:
        results: dict[int, Completion] = {}
        with self._held():
            for batch in self._batches(prompts, limit):
                with self._accounted(batch.head.task, len(batch.tails)):
                    written = self._engine.write(batch.tokens, batch.tails, limit, _greedy, self._stopper(stop))
                thinking = self._template.opens_thought(batch.head)
                for place, one in zip(batch.places, written, strict=True):
                    text = without_thoughts(self._text(one.tokens), thinking)
                    results[place] = Completion(_before_stop(text, stop), one.finished, len(one.tokens))
        return [results[place] for place in range(len(prompts))]

    def stream(self, prompt: Prompt, limit: int, temperature: float = 0.0) -> Generator[str, None, None]:
        """The model is held a token at a time, so other calls may come between; the cells are held until the end or `close`."""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        speech = Speech(self._template.opens_thought(prompt.head))
        tokens = self._streamed(prompt, limit, _greedy if temperature <= 0 else _sampler(temperature))
        with closing(tokens):
            for token in tokens:
                if said := speech.hear(decoder.decode(self._piece(token))):
                    yield said
        if said := speech.hear(decoder.decode(b"", final=True)) + speech.rest():
            yield said

    def _streamed(self, prompt: Prompt, limit: int, pick: Pick) -> Generator[int, None, None]:
        with self._held():
            (batch,) = self._batches([prompt], limit)
            tokens = self._engine.stream(batch.tokens, batch.tails[0], limit, pick)
        try:
            for calls in chain((1,), repeat(0)):
                with self._accounted(prompt.head.task, calls):
                    token = next(tokens, None)
                if token is None:
                    return
                yield token
        finally:
            with self._lock:
                tokens.close()

    def write_json(self, prompt: Prompt, schema: Mapping[str, Any], limit: int) -> dict[str, Any]:
        with self._held():
            (batch,) = self._batches([prompt], limit)
            grammar = self._grammar(schema)
            with self._accounted(prompt.head.task, 1), grammar.fresh() as pick:
                (written,) = self._engine.write(batch.tokens, batch.tails, limit, pick, grammar.complete)
            return parse_object(self._text(written.tokens), written.finished)

    def choose(self, prompts: Sequence[Prompt], options: Sequence[str]) -> NDArray[np.float64]:
        scores = np.empty((len(prompts), len(options)))
        with self._held():
            first = self._first_tokens(options)
            for batch in self._batches(prompts, 0):
                with self._accounted(batch.head.task, reads=len(batch.tails)):
                    scores[batch.places] = self._engine.read(
                        batch.tokens, batch.tails, lambda row: row[first].astype(np.float64) - _log_of_sum(row)
                    )
        return scores

    def _first_tokens(self, options: Sequence[str]) -> list[int]:
        first = [token for option in options for token in self._engine.tokenize(option, special=False)[:1]]
        if len(set(first)) < len(options):
            raise ModelError(f"options {list(options)} cannot be told apart by their first tokens in {self._name}; choose others")
        return first

    # ---------------------------------------------------------------- text of tokens

    def _piece(self, token: int) -> bytes:
        """The bytes of a token; think tags are spelled out also where they are control tokens, so that thoughts can be told."""
        return self._think_tags.get(token) or self._engine.piece(token)

    def _text(self, tokens: Tokens) -> str:
        return b"".join(map(self._piece, tokens)).decode("utf-8", "replace")

    def _stopper(self, stop: Sequence[str]) -> Callable[[Tokens], bool]:
        longest = max((len(mark.encode()) for mark in stop), default=0)  # a token is at least one byte
        return lambda tokens: any(mark in self._text(tokens[-longest:]) for mark in stop)

    def _grammar(self, schema: Mapping[str, Any]) -> JsonGrammar:
        key = json.dumps(schema)
        if key not in self._grammars:
            self._grammars[key] = JsonGrammar(self._engine, key)
        return self._grammars[key]


@dataclass(frozen=True)
class _Batch:
    """Prompts of one head: its tokens, the places of the prompts in the call, their tails."""

    head: Head
    tokens: Tokens
    places: list[int] = field(default_factory=list)
    tails: list[Tokens] = field(default_factory=list)


class ControlStrings:
    """The loaded model's control strings, as untrusted text must not hold them."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = frozenset(text for text in texts if len(text) > 1)
        self._lengths = sorted({len(text) for text in self._texts})
        beginnings = "".join(sorted({text[0] for text in self._texts}))
        self._beginning = re.compile(f"[{re.escape(beginnings)}]" if beginnings else r"(?!)")

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def broken_up(self, text: str) -> list[str]:
        """The text cut inside each control string, nested ones too, so that no part holds a whole one; joined, the parts are it."""
        cuts = [0]
        for start in (match.start() for match in self._beginning.finditer(text)):
            length = next((length for length in self._lengths if text[start : start + length] in self._texts), 0)
            if length:
                cuts.append(start + length // 2)
        cuts = [*sorted(set(cuts)), len(text)]
        return [text[one:other] for one, other in pairwise(cuts) if one < other]


def parse_object(text: str, finished: bool) -> dict[str, Any]:
    """The JSON object a model wrote, thoughts and code fences left out. Raises ModelOutputInvalid; empty output is a failure."""
    body = without_thoughts(text).strip()
    if fenced := _FENCE.fullmatch(body):
        body = fenced.group(1)
    if not finished:
        raise ModelOutputInvalid(f"the model's JSON was cut off at its limit after {len(body)} characters; the entry stays pending")
    if not body:
        raise ModelOutputInvalid("the model wrote nothing where JSON was asked for; the entry stays pending")
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as problem:
        raise ModelOutputInvalid(f"the model wrote no valid JSON ({problem}); the entry stays pending") from problem
    if not isinstance(value, dict):
        raise ModelOutputInvalid("the model wrote JSON that is not an object; the entry stays pending")
    return value


def physical_cores() -> int:
    """Cores to compute on: hyper-threads only get in each other's way."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(psutil.cpu_count(logical=False) or usable, usable))


def control_strings(engine: Engine) -> ControlStrings:
    """What must not act as control in untrusted text: all control tokens, and markers of thought, turn and tool."""
    special = engine.special_texts().items()
    return ControlStrings(text for token, text in special if engine.is_control(token) or text[:1] + text[-1:] in ("<>", "[]"))


def untrusted_tokens(engine: Engine, control: ControlStrings, text: str) -> Tokens:
    """Text as tokens none of which is a control token, and which are the same text again when put together."""
    tokens: list[int] = []
    for part in control.broken_up(text):
        tokens += engine.tokenize(part, special=False)
    return tuple(tokens)


def _before_stop(text: str, stop: Sequence[str]) -> str:
    ends = [place for mark in stop if (place := text.find(mark)) >= 0]
    return text[: min(ends)] if ends else text


def _log_of_sum(logits: Logits) -> float:
    """What turns logits into log-probabilities when taken off."""
    highest = float(logits.max())
    return highest + float(np.log(np.exp(logits.astype(np.float64) - highest).sum()))


def _greedy(logits: Logits) -> int:
    return int(np.argmax(logits))


def _sampler(temperature: float, top: int = 40) -> Pick:
    """Sampling among the `top` likeliest tokens."""
    generator = np.random.default_rng()

    def pick(logits: Logits) -> int:
        best = np.argpartition(logits, -min(top, len(logits)))[-top:]
        weights = np.exp((logits[best] - logits[best].max()) / temperature)
        return int(generator.choice(best, p=weights / weights.sum()))

    return pick

