"""`ChatModel` on llama-cpp-python: templates, token budgets, accounting and one lock over `engine.Engine`."""

from __future__ import annotations

import codecs
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

from pgmem_local.errors import ModelError, ModelOutputInvalid, PromptTooLong
from pgmem_local.ports import Completion, Head, Ledger, Prompt, Spent
from pgmem_local.runtime.engine import Engine, Tokens, Work
from pgmem_local.runtime.grammar import JsonGrammar
from pgmem_local.runtime.templates import ChatTemplate, without_thoughts

DEFAULT_CONTEXT = 8192
ALL_LAYERS = 999


class LlamaChat:
    """A GGUF model in this process. Safe to share between threads; close it explicitly.

    path must be a file that `model_files.check_gguf` accepted. gpu_layers counts only where the build can offload.
    Raises TemplateError for a model without a usable chat template, ModelError where it cannot be opened.
    """

    def __init__(
        self, path: Path, name: str, context_tokens: int = DEFAULT_CONTEXT, threads: int | None = None, gpu_layers: int = ALL_LAYERS
    ) -> None:
        self._name = name
        self._lock = threading.RLock()
        self._engine = Engine(path, context_tokens, threads or physical_cores(), gpu_layers)
        self.ledger = Ledger()
        try:
            self._template = ChatTemplate(self._engine.metadata("tokenizer.chat_template"), *self._edges())
        except ModelError:
            self._engine.close()
            raise
        self._control = _control_strings(self._engine)
        self._head_tokens: dict[tuple[str, bool], Tokens] = {}
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
        with self._lock:
            return len(self._plain(text))

    def room(self, head: Head, reply_tokens: int) -> int:
        with self._lock:
            first, rest = self._tokens(Prompt(head, ""))
            return self.context_tokens - len(first) - len(rest) - reply_tokens

    def _plain(self, text: str) -> Tokens:
        """Untrusted text as tokens none of which is a control token: control strings are tokenized in two halves."""
        tokens: list[int] = []
        for part in _broken_up(text, self._control):
            tokens += self._engine.tokenize(part, special=False)
        return tuple(tokens)

    def _tokens(self, prompt: Prompt) -> tuple[Tokens, Tokens]:
        """(head, tail) of a prompt; the head's tokens are the same object for every prompt of that head."""
        pieces = self._template.pieces(prompt)
        key = (pieces[0].text, prompt.head.thinking)
        if key not in self._head_tokens:
            tokens = self._engine.tokenize(pieces[0].text, special=True)
            begin = self._engine.begins_with()
            self._head_tokens[key] = tokens if tokens[: len(begin)] == begin else begin + tokens
        tail: list[int] = []
        for piece in pieces[1:]:
            tail += self._engine.tokenize(piece.text, special=True) if piece.trusted else self._plain(piece.text)
        return self._head_tokens[key], tuple(tail)

    # ---------------------------------------------------------------- calls

    @contextmanager
    def _accounted(self, task: str, calls: int = 0, reads: int = 0) -> Iterator[None]:
        with self._lock:
            self._engine.work = Work()
            began = time.perf_counter()
            try:
                yield
            finally:
                work = self._engine.work
                seconds = time.perf_counter() - began
                self.ledger.book(task, Spent(calls, reads, work.evaluated, work.reused, work.written, seconds))

    def _by_head(self, prompts: Sequence[Prompt]) -> list[tuple[Tokens, list[int], list[Tokens]]]:
        """Prompts grouped by head: (head, their places, their tails)."""
        groups: dict[Tokens, tuple[list[int], list[Tokens]]] = {}
        for place, prompt in enumerate(prompts):
            head, tail = self._tokens(prompt)
            places, tails = groups.setdefault(head, ([], []))
            places.append(place)
            tails.append(tail)
        return [(head, places, tails) for head, (places, tails) in groups.items()]

    def write(self, prompts: Sequence[Prompt], limit: int, stop: Sequence[str] = ()) -> list[Completion]:
        if not prompts:
            return []
        results: list[Completion] = [Completion("", False, 0)] * len(prompts)
        with self._accounted(prompts[0].head.task, len(prompts)):
            for head, places, tails in self._by_head(prompts):
                written = self._engine.write(head, tails, limit, _greedy, self._stopper(stop))
                for place, one in zip(places, written, strict=True):
                    text = without_thoughts(self._text(one.tokens))
                    results[place] = Completion(_before_stop(text, stop), one.finished, len(one.tokens))
        return results

    def stream(self, prompt: Prompt, limit: int, temperature: float = 0.0) -> Iterator[str]:
        pick = _greedy if temperature <= 0 else _sampler(temperature)
        with self._accounted(prompt.head.task, 1):
            head, tail = self._tokens(prompt)
            decoder = codecs.getincrementaldecoder("utf-8")("replace")
            for token in self._engine.stream(head, tail, limit, pick):
                if piece := decoder.decode(self._engine.piece(token)):
                    yield piece
            if rest := decoder.decode(b"", final=True):
                yield rest

    def write_json(self, prompt: Prompt, schema: Mapping[str, Any], limit: int) -> dict[str, Any]:
        with self._accounted(prompt.head.task, 1):
            head, tail = self._tokens(prompt)
            grammar = self._grammar(schema)
            with grammar.fresh() as pick:
                written = self._engine.write(head, [tail], limit, pick, grammar.complete)[0]
        return parse_object(self._text(written.tokens), written.finished)

    def choose(self, prompts: Sequence[Prompt], options: Sequence[str]) -> NDArray[np.float64]:
        if not prompts:
            return np.empty((0, len(options)))
        with self._accounted(prompts[0].head.task, reads=len(prompts)):
            first = [self._engine.tokenize(option, special=False)[0] for option in options]
            if len(set(first)) < len(first):
                raise ModelError(f"options {list(options)} begin with the same token for {self._name} and cannot be told apart")
            scores = np.empty((len(prompts), len(options)))
            for head, places, tails in self._by_head(prompts):
                logits = self._engine.read(head, tails).astype(np.float64)
                scores[places] = logits[:, first] - np.logaddexp.reduce(logits, axis=1)[:, None]
        return scores

    # ---------------------------------------------------------------- text of tokens

    def _text(self, tokens: Tokens) -> str:
        return b"".join(self._engine.piece(token) for token in tokens).decode("utf-8", "replace")

    def _stopper(self, stop: Sequence[str]) -> Callable[[Tokens], bool]:
        if not stop:
            return lambda tokens: False
        return lambda tokens: any(mark in self._text(tokens[-8:]) for mark in stop)

    def _grammar(self, schema: Mapping[str, Any]) -> JsonGrammar:
        key = json.dumps(schema, sort_keys=True)
        if key not in self._grammars:
            self._grammars[key] = JsonGrammar(self._engine, key)
        return self._grammars[key]


def parse_object(text: str, finished: bool) -> dict[str, Any]:
    """The JSON object a model wrote, thoughts and code fences left out. Raises ModelOutputInvalid; empty output is a failure."""
    body = without_thoughts(text).strip()
    if body.startswith("```"):
        body = body.strip("`").removeprefix("json").strip()
    if not finished:
        raise ModelOutputInvalid(f"the model's JSON was cut off at its limit after {len(body)} characters; the entry stays pending")
    try:
        value = json.loads(body)
    except json.JSONDecodeError as problem:
        raise ModelOutputInvalid(f"the model wrote no valid JSON ({problem}); the entry stays pending") from problem
    if not isinstance(value, dict):
        raise ModelOutputInvalid("the model wrote JSON that is not an object; the entry stays pending")
    return value


def physical_cores() -> int:
    """Cores to compute on: hyper-threads only get in each other's way."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(psutil.cpu_count(logical=False) or usable, usable))


def _control_strings(engine: Engine) -> tuple[str, ...]:
    """What must not act as control in untrusted text: all control tokens, and markers of thought, turn and tool."""
    special = engine.special_texts().items()
    texts = {text for token, text in special if engine.is_control(token) or text[:1] + text[-1:] in ("<>", "[]")}
    return tuple(sorted((text for text in texts if len(text) > 1), key=len, reverse=True))


def _broken_up(text: str, control: Sequence[str]) -> list[str]:
    """The text cut inside each control string, so that no part holds a whole one; joined, the parts are the text."""
    for mark in control:
        if mark in text:
            before, _, after = text.partition(mark)
            middle = max(1, len(mark) // 2)
            return [*_broken_up(before + mark[:middle], control), *_broken_up(mark[middle:] + after, control)]
    return [text] if text else []


def _before_stop(text: str, stop: Sequence[str]) -> str:
    ends = [place for mark in stop if (place := text.find(mark)) >= 0]
    return text[: min(ends)] if ends else text


def _greedy(logits: NDArray[np.float32]) -> int:
    return int(np.argmax(logits))


def _sampler(temperature: float, top: int = 40) -> Callable[[NDArray[np.float32]], int]:
    """Sampling among the `top` likeliest tokens."""
    generator = np.random.default_rng()

    def pick(logits: NDArray[np.float32]) -> int:
        best = np.argpartition(logits, -top)[-top:]
        weights = np.exp((logits[best] - logits[best].max()) / temperature)
        return int(generator.choice(best, p=weights / weights.sum()))

    return pick


__all__ = ["LlamaChat", "PromptTooLong", "parse_object", "physical_cores"]
