"""JSON of a fixed schema, token by token: llama.cpp's grammar sampler behind a `Pick`.

Schemas are ours and few; each is compiled once. Some constructs end the process inside llama.cpp instead of raising (a string of
`maxLength` over 500, a `pattern` with a backslash class), so they are refused here before it sees them.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgmem_local.errors import ModelError
from pgmem_local.runtime.engine import Engine, Logits, Pick, Tokens

LONGEST_STRING = 500
RULES = {
    "space": '| " "',
    "char": r"""[^"\\\x00-\x1F\x7F] | "\\" ["\\/bfnrt]""",
}
"""Ours in place of llama-cpp-python's: at most one blank between parts, no bare control character in a string (it is no valid JSON),
and no `\\u` escape, of which half a pair could be written."""


class JsonGrammar:
    """A compiled schema. Raises ModelError for a schema llama.cpp is known to crash on or cannot compile."""

    def __init__(self, engine: Engine, schema: str) -> None:
        import llama_cpp
        from llama_cpp.llama_grammar import json_schema_to_gbnf

        check_schema(json.loads(schema))
        self._llama, self._engine = llama_cpp, engine
        try:
            rules = json_schema_to_gbnf(schema)
        except (AssertionError, ValueError, LookupError) as problem:
            raise ModelError(f"a JSON schema of ours cannot be made a grammar: {problem}") from problem
        self._sampler = llama_cpp.llama_sampler_init_grammar(engine.vocabulary, _with_our_rules(rules).encode(), b"root")
        if not self._sampler:
            raise ModelError("llama.cpp cannot compile a JSON schema of ours; make its strings and lists shorter")

    def close(self) -> None:
        if self._sampler:
            self._llama.llama_sampler_free(self._sampler)
            self._sampler = None

    @contextmanager
    def fresh(self) -> Iterator[Pick]:
        """A picker at the grammar's beginning: the likeliest token the grammar allows, for one text at a time."""
        self._llama.llama_sampler_reset(self._sampler)
        yield self._pick

    def _pick(self, logits: Logits) -> int:
        likeliest = int(np.argmax(logits))
        if not self._allows(likeliest):
            likeliest = self._best_allowed(logits)
        self._llama.llama_sampler_accept(self._sampler, likeliest)
        return likeliest

    def _allows(self, token: int) -> bool:
        return bool(np.isfinite(self._filtered(np.array([token]), np.zeros(1, dtype=np.float32)))[0])

    def _best_allowed(self, logits: Logits) -> int:
        """Asks the grammar about ever more of the likeliest tokens: it nearly always allows one of the first hundred."""
        for top in (128, 4096, len(logits)):
            best = np.argsort(logits)[::-1][:top]
            allowed = self._filtered(best, logits[best])
            if np.isfinite(allowed).any():
                return int(best[int(np.argmax(allowed))])
        raise ModelError("the grammar allows no further token")

    def _filtered(self, tokens: NDArray[np.int64], logits: Logits) -> Logits:
        """The logits with -inf where the grammar forbids the token."""
        candidates = (self._llama.llama_token_data * len(tokens))()
        for i, (token, logit) in enumerate(zip(tokens, logits, strict=True)):
            candidates[i] = self._llama.llama_token_data(int(token), float(logit), 0.0)
        array = self._llama.llama_token_data_array(candidates, len(tokens), -1, False)
        self._llama.llama_sampler_apply(self._sampler, ctypes.byref(array))
        return np.array([candidates[i].logit for i in range(len(tokens))], dtype=np.float32)

    def complete(self, tokens: Tokens) -> bool:
        """Whether a whole object has been written (the brace that closes the first one)."""
        if b"}" not in self._engine.piece(tokens[-1]):
            return False
        try:
            json.loads(b"".join(map(self._engine.piece, tokens)).decode("utf-8", "replace"))
        except ValueError:
            return False
        return True


def _with_our_rules(rules: str) -> str:
    named = (line.split(" ::= ", 1) for line in rules.splitlines())
    return "\n".join(f"{name} ::= {RULES.get(name, body)}" for name, body in named)


def check_schema(schema: Any) -> None:
    """Raises ModelError where llama.cpp is known to end the process on a schema."""
    if isinstance(schema, dict):
        length = schema.get("maxLength", 0)
        if isinstance(length, int) and length > LONGEST_STRING:
            raise ModelError(f"a JSON schema of ours asks for maxLength {length}; llama.cpp crashes above {LONGEST_STRING}")
        if "\\" in str(schema.get("pattern", "")):
            raise ModelError("a JSON schema of ours has a pattern with a backslash class; llama.cpp crashes on it")
    for part in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        check_schema(part)
