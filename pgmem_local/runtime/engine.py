"""llama.cpp underneath: one model, one context, many sequences that share what they have in common.

In: token lists. Out: logits, or tokens written greedily. A fixed head is evaluated once in a sequence of its own and copied (a copy
shares the cells, nothing is computed) to every prompt that begins with it; prompts that also share their first words share those
cells too; all sequences are decoded together. The names and numbers of sequences never leave this file.
"""

from __future__ import annotations

import ctypes
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pgmem_local.errors import ModelError, ModelFileError, PromptTooLong

Tokens = tuple[int, ...]
Pick = Callable[[NDArray[np.float32]], int]

SEQUENCES = 64
BATCH = 2048
MICRO_BATCH = 512
SHARED_WORTH = 8
"""Prompts that have fewer first tokens than this in common are not grouped."""


@dataclass
class Work:
    """What one call evaluated, reused and wrote, in tokens."""

    evaluated: int = 0
    reused: int = 0
    written: int = 0


@dataclass(frozen=True)
class _Kept:
    """The prompt evaluated last, when it was alone: the next one often begins the same."""

    tokens: Tokens
    sequence: int


@dataclass(frozen=True)
class Written:
    """Tokens written after one prompt; `finished` is False where the limit ended them."""

    tokens: Tokens
    finished: bool


class Engine:
    """Owns the native model and context. Not thread-safe: two threads in one llama.cpp context end the process."""

    def __init__(self, path: Path, context_tokens: int, threads: int, gpu_layers: int) -> None:
        import llama_cpp

        self._llama = llama_cpp
        self._silence = llama_cpp.llama_log_callback(lambda level, text, data: None)
        llama_cpp.llama_log_set(self._silence, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        self._model = self._load(path, gpu_layers)
        self.vocabulary = llama_cpp.llama_model_get_vocab(self._model)
        self.vocabulary_size = int(llama_cpp.llama_vocab_n_tokens(self.vocabulary))
        trained = int(llama_cpp.llama_model_n_ctx_train(self._model))
        self.context_tokens = min(context_tokens, trained) if trained else context_tokens
        self._context = self._open(threads)
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._batch = llama_cpp.llama_batch_init(BATCH, 0, SEQUENCES)
        self._heads: OrderedDict[Tokens, int] = OrderedDict()
        self._last: _Kept | None = None
        self._free = list(range(SEQUENCES))
        self.work = Work()

    # ---------------------------------------------------------------- opening and closing

    def _load(self, path: Path, gpu_layers: int) -> Any:
        params = self._llama.llama_model_default_params()
        params.n_gpu_layers = gpu_layers if self._llama.llama_supports_gpu_offload() else 0
        model = self._llama.llama_model_load_from_file(os.fsencode(path), params)
        if not model:
            raise ModelFileError(f"{path}: llama.cpp cannot load this model; check it with `pgmem models verify`")
        return model

    def _open(self, threads: int) -> Any:
        params = self._llama.llama_context_default_params()
        params.n_ctx = self.context_tokens
        params.n_batch, params.n_ubatch = BATCH, MICRO_BATCH
        params.n_seq_max = SEQUENCES
        params.n_threads = params.n_threads_batch = threads
        params.kv_unified = True  # one pool of cells: a copied head costs none
        params.swa_full = True  # sliding-window models keep the whole head, or it could not be reused
        params.no_perf = True
        context = self._llama.llama_init_from_model(self._model, params)
        if not context:
            self._llama.llama_model_free(self._model)
            raise ModelError(f"llama.cpp cannot open a context of {self.context_tokens} tokens; try a smaller --context")
        return context

    def close(self) -> None:
        """Free everything native, in order; safe to call twice."""
        if self._context is None:
            return
        self._llama.llama_batch_free(self._batch)
        self._llama.llama_free(self._context)
        self._llama.llama_model_free(self._model)
        self._context = self._model = None

    # ---------------------------------------------------------------- vocabulary

    def tokenize(self, text: str, special: bool) -> Tokens:
        """Token ids of a text; with `special`, control strings in it become control tokens."""
        raw = text.encode("utf-8", "replace")
        buffer = (self._llama.llama_token * (len(raw) + 8))()
        count = self._llama.llama_tokenize(self.vocabulary, raw, len(raw), buffer, len(buffer), False, special)
        return tuple(buffer[:count])

    def piece(self, token: int) -> bytes:
        """The bytes a token stands for; none for a control token."""
        buffer = ctypes.create_string_buffer(256)
        count = self._llama.llama_token_to_piece(self.vocabulary, token, buffer, len(buffer), 0, False)
        return buffer.raw[: max(count, 0)]

    def is_end(self, token: int) -> bool:
        return bool(self._llama.llama_vocab_is_eog(self.vocabulary, token))

    def begins_with(self) -> Tokens:
        """The token every prompt of this model must start with, if any."""
        if not self._llama.llama_vocab_get_add_bos(self.vocabulary):
            return ()
        return (int(self._llama.llama_vocab_bos(self.vocabulary)),)

    def special_texts(self) -> dict[int, str]:
        """All control and user-defined tokens with their text."""
        wanted = self._llama.LLAMA_TOKEN_ATTR_CONTROL | self._llama.LLAMA_TOKEN_ATTR_USER_DEFINED
        found = {}
        for token in range(self.vocabulary_size):
            if self._llama.llama_vocab_get_attr(self.vocabulary, token) & wanted:
                found[token] = self._llama.llama_vocab_get_text(self.vocabulary, token).decode("utf-8", "replace")
        return found

    def is_control(self, token: int) -> bool:
        return bool(self._llama.llama_vocab_get_attr(self.vocabulary, token) & self._llama.LLAMA_TOKEN_ATTR_CONTROL)

    def metadata(self, key: str) -> str | None:
        """A text value of the GGUF header."""
        buffer = ctypes.create_string_buffer(1 << 16)
        length = self._llama.llama_model_meta_val_str(self._model, key.encode(), buffer, len(buffer))
        return buffer.raw[: min(length, len(buffer) - 1)].decode("utf-8", "replace") if length >= 0 else None

    # ---------------------------------------------------------------- reading

    def read(self, head: Tokens, tails: Sequence[Tokens]) -> NDArray[np.float32]:
        """Logits after head + tail for each tail, shape (tails, vocabulary)."""
        logits = np.empty((len(tails), self.vocabulary_size), dtype=np.float32)
        for wave in self._waves(head, tails, spare=0):
            rows: dict[int, NDArray[np.float32]] = {}
            sequences = self._prefill(head, [tails[i] for i in wave], rows.__setitem__)
            logits[wave] = [rows[k] for k in range(len(wave))]
            self._done(head, [tails[i] for i in wave], sequences)
        return logits

    # ---------------------------------------------------------------- writing

    def write(
        self, head: Tokens, tails: Sequence[Tokens], limit: int, pick: Pick, stopped: Callable[[Tokens], bool]
    ) -> list[Written]:
        """Tokens `pick` chooses after each head + tail, until an end token, `stopped` or the limit."""
        results: list[Written] = [Written((), False)] * len(tails)
        for wave in self._waves(head, tails, spare=limit):
            for index, written in zip(wave, self._write_wave(head, [tails[i] for i in wave], limit, pick, stopped), strict=True):
                results[index] = written
        return results

    def _write_wave(
        self, head: Tokens, tails: Sequence[Tokens], limit: int, pick: Pick, stopped: Callable[[Tokens], bool]
    ) -> list[Written]:
        following: dict[int, int] = {}
        sequences = self._prefill(head, tails, lambda k, row: following.__setitem__(k, pick(row)))
        texts: list[list[int]] = [[] for _ in tails]
        finished = [False] * len(tails)
        while following:
            for k, token in list(following.items()):
                if self.is_end(token) or len(texts[k]) >= limit:
                    finished[k] = self.is_end(token)
                    del following[k]
                    continue
                texts[k].append(token)
                self.work.written += 1
                if stopped(tuple(texts[k])):
                    finished[k] = True
                    del following[k]
            going = list(following)
            rows = [(following[k], len(head) + len(tails[k]) + len(texts[k]) - 1, (sequences[k],), True) for k in going]
            for k, row in zip(going, self._decode(rows), strict=True):
                following[k] = pick(row)
        self._done(head, tails, sequences)
        return [Written(tuple(text), done) for text, done in zip(texts, finished, strict=True)]

    def stream(self, head: Tokens, tail: Tokens, limit: int, pick: Pick) -> Iterator[int]:
        """The same for one prompt, token by token; closing the iterator frees its cells."""
        next(iter(self._waves(head, [tail], spare=limit)))
        chosen: list[int] = []
        sequences = self._prefill(head, [tail], lambda k, row: chosen.append(pick(row)))
        try:
            for step in range(limit):
                if self.is_end(chosen[-1]):
                    return
                self.work.written += 1
                yield chosen[-1]
                rows = self._decode([(chosen[-1], len(head) + len(tail) + step, (sequences[0],), True)])
                chosen.append(pick(rows[0]))
        finally:
            self._done(head, [tail], sequences)

    # ---------------------------------------------------------------- cells and sequences

    def _waves(self, head: Tokens, tails: Sequence[Tokens], spare: int) -> Iterator[list[int]]:
        """Indices of tails that fit together beside the head, in order; raises PromptTooLong where one alone does not."""
        longest = max((len(tail) for tail in tails), default=0)
        if any(not tail for tail in tails):
            raise ModelError("a prompt has no words of its own to read")
        if (needed := len(head) + longest + spare) > self.context_tokens:
            raise PromptTooLong(f"prompt and reply need {needed} tokens, the context window has {self.context_tokens}")
        self._pin(head, room=longest + spare)
        cells = self.context_tokens - sum(len(pinned) for pinned in self._heads)
        if self._last and (len(tails) > 1 or len(self._last.tokens) + longest + spare > cells):
            self._forget_last()
        wave: list[int] = []
        taken = 0
        for index, tail in enumerate(tails):
            cost = len(tail) + spare
            if wave and (taken + cost > cells or len(wave) == len(self._free)):
                yield wave
                wave, taken = [], 0
            wave.append(index)
            taken += cost
        if wave:
            yield wave

    def _pin(self, head: Tokens, room: int) -> None:
        """Make the head evaluated and resident, putting out the heads used longest ago where cells or sequences run short."""
        if head in self._heads:
            self._heads.move_to_end(head)
        while self._heads and (
            sum(len(pinned) for pinned in self._heads) + (0 if head in self._heads else len(head)) + room > self.context_tokens
            or len(self._heads) > SEQUENCES // 4
        ):
            oldest = next(iter(self._heads))
            if oldest == head:
                break
            self._release([self._heads.pop(oldest)])
        if head not in self._heads and head:
            sequence = self._free.pop()
            self._decode([(token, place, (sequence,), False) for place, token in enumerate(head)])
            self._heads[head] = sequence

    def _prefill(self, head: Tokens, tails: Sequence[Tokens], take: Callable[[int, NDArray[np.float32]], None]) -> list[int]:
        """Evaluate tails after the head, each in a sequence of its own; `take(k, logits)` sees the last row of each."""
        sequences = [self._free.pop() for _ in tails]
        if len(tails) == 1 and (known := self._resume(head, tails[0], sequences[0])):
            last = len(head) + len(tails[0]) - 1
            whole = head + tails[0]
            take(0, self._decode([(whole[i], i, (sequences[0],), i == last) for i in range(known, last + 1)])[0])
            return sequences
        if head:
            for sequence in sequences:
                self._llama.llama_memory_seq_cp(self._memory, self._heads[head], sequence, -1, -1)
            self.work.reused += len(head) * len(tails)
        rows: list[tuple[int, int, tuple[int, ...], bool]] = []
        ends: list[int] = []
        for members, shared in groups_by_prefix(tails):
            owners = tuple(sequences[k] for k in members)
            first = tails[members[0]]
            rows += [(first[i], len(head) + i, owners, False) for i in range(shared)]
            self.work.reused += shared * (len(members) - 1)
            for k in members:
                last = len(tails[k]) - 1
                rows += [(tails[k][i], len(head) + i, (sequences[k],), i == last) for i in range(shared, len(tails[k]))]
                ends.append(k)
        for k, row in zip(ends, self._decode(rows), strict=True):
            take(k, row)
        return sequences

    def _resume(self, head: Tokens, tail: Tokens, sequence: int) -> int:
        """Take over what the last prompt shares with this one beyond the head; how many tokens that makes, or 0."""
        if self._last is None:
            return 0
        whole = head + tail
        shared = common_prefix(self._last.tokens, whole, len(whole) - 1)
        if shared < len(head) + SHARED_WORTH:
            return 0
        self._llama.llama_memory_seq_cp(self._memory, self._last.sequence, sequence, 0, shared)
        self.work.reused += shared
        return shared

    def _done(self, head: Tokens, tails: Sequence[Tokens], sequences: Sequence[int]) -> None:
        """Free what a wave used; a prompt that was alone stays, in place of the one before."""
        if len(tails) != 1:
            self._release(sequences)
            return
        self._forget_last()
        self._last = _Kept(head + tails[0], sequences[0])

    def _forget_last(self) -> None:
        if self._last is not None:
            self._release([self._last.sequence])
            self._last = None

    def _release(self, sequences: Sequence[int]) -> None:
        for sequence in sequences:
            self._llama.llama_memory_seq_rm(self._memory, sequence, -1, -1)
            self._free.append(sequence)

    def _decode(self, rows: Sequence[tuple[int, int, tuple[int, ...], bool]]) -> list[NDArray[np.float32]]:
        """Evaluate rows of (token, position, sequences, wanted); the logits of the wanted ones in order."""
        wanted: list[NDArray[np.float32]] = []
        for start in range(0, len(rows), BATCH):
            part = rows[start : start + BATCH]
            batch = self._batch
            batch.n_tokens = len(part)
            for i, (token, position, owners, want) in enumerate(part):
                batch.token[i], batch.pos[i], batch.logits[i] = token, position, want
                batch.n_seq_id[i] = len(owners)
                for j, owner in enumerate(owners):
                    batch.seq_id[i][j] = owner
            self.work.evaluated += len(part)
            if (code := self._llama.llama_decode(self._context, batch)) != 0:
                raise ModelError(f"llama.cpp could not evaluate {len(part)} tokens (code {code}); nothing is lost, try again")
            for i, row in enumerate(part):
                if row[3]:
                    pointer = self._llama.llama_get_logits_ith(self._context, i)
                    wanted.append(np.ctypeslib.as_array(pointer, shape=(self.vocabulary_size,)).copy())
        return wanted


def groups_by_prefix(tails: Sequence[Tokens]) -> list[tuple[list[int], int]]:
    """Neighbouring tails with first tokens in common: (their indices, how many tokens they share).

    At least one token of each tail stays its own, so that each has a last row to read.
    """
    groups: list[tuple[list[int], int]] = []
    for index, tail in enumerate(tails):
        if groups:
            members, shared = groups[-1]
            first = tails[members[0]]
            common = common_prefix(first, tail, min(shared, len(tail) - 1))
            if common >= (max(SHARED_WORTH, shared // 2) if len(members) > 1 else SHARED_WORTH):
                groups[-1] = ([*members, index], common)
                continue
        groups.append(([index], len(tail) - 1))
    return [(members, shared if len(members) > 1 else 0) for members, shared in groups]


def common_prefix(one: Tokens, other: Tokens, at_most: int) -> int:
    """How many first tokens two prompts share."""
    limit = min(at_most, len(one), len(other))
    for i in range(limit):
        if one[i] != other[i]:
            return i
    return limit
