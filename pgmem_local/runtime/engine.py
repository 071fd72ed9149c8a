"""llama.cpp underneath: one model, one context, many sequences that share what they have in common.

In: token lists. Out: logits, or tokens written greedily. A fixed head is evaluated once in a sequence of its own and copied (a copy
shares the cells, nothing is computed) to every prompt that begins with it; prompts that also share their first words share those
cells too; all sequences are decoded together. A head that continues another (a conversation that has grown) is evaluated from there
on. The names and numbers of sequences never leave this file.
"""

from __future__ import annotations

import ctypes
import os
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pgmem_local.errors import Interrupted, ModelError, ModelFileError, PromptTooLong

Tokens = tuple[int, ...]
Logits = NDArray[np.float32]
Pick = Callable[[Logits], int]
Seen = TypeVar("Seen")
_Row = tuple[int, int, tuple[int, ...], bool]
"""(token, position, sequences it belongs to, whether its logits are wanted)"""

SEQUENCES = 64
MAX_HEADS = 1
"""Heads in the context at a time. Attention passes over every cell in use, so heads that wait are kept outside, evaluated."""
KEPT_BYTES = 1 << 30
"""Memory for evaluated heads outside the context; beyond it the one used longest ago is forgotten."""
BATCH = 2048
MICRO_BATCH = 512
SHARED_WORTH = 8
"""Prompts that have fewer first tokens than this in common are not grouped."""
LONG_DECODE = 16
"""Tokens from which on one evaluation takes longer than a token's time, so that it must be able to end in its middle."""
INTERRUPTIBLE_STEP = 128
"""Tokens of a head evaluated at a time where that may be interrupted: large enough for speed, small enough to get anywhere."""
_ABORTED = 2
"""What llama_decode returns when it was told to stop."""


@dataclass
class Work:
    """What one call cost in tokens: prompt tokens asked for, those of them that had to be evaluated, tokens written."""

    asked: int = 0
    evaluated: int = 0
    written: int = 0

    @property
    def reused(self) -> int:
        return max(self.asked - self.evaluated, 0)


@dataclass(frozen=True)
class _Kept:
    """The prompt evaluated last, when it was alone: the next one often begins the same."""

    head: Tokens
    tail: Tokens
    sequence: int


@dataclass(frozen=True)
class _Stream:
    """What an open stream keeps from others: its head, and all cells it may come to fill."""

    head: Tokens
    cells: int


@dataclass
class _Text:
    """One text being written after a prompt of `prompt` tokens."""

    sequence: int
    prompt: int
    tokens: list[int] = field(default_factory=list)
    finished: bool = False
    ended: bool = False


@dataclass(frozen=True)
class Written:
    """Tokens written after one prompt; `finished` is False where the limit ended them."""

    tokens: Tokens
    finished: bool


class Engine:
    """Owns the native model and context. Not thread-safe: two threads in one llama.cpp context end the process."""

    def __init__(self, path: Path, context_tokens: int, threads: int, gpu_layers: int) -> None:
        # Threads that wait for each other spin for a moment only: spinning on made writing 8 times slower beside another busy process.
        os.environ.setdefault("GOMP_SPINCOUNT", "1000")
        import llama_cpp

        self._llama = llama_cpp
        llama_cpp.llama_log_set(_quiet(), ctypes.c_void_p(0))
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
        self._kept: OrderedDict[Tokens, ctypes.Array[ctypes.c_uint8]] = OrderedDict()
        self._last: _Kept | None = None
        self._continued: set[Tokens] = set()
        self._streams: dict[int, _Stream] = {}
        self._free = list(range(SEQUENCES))
        self._abort = llama_cpp.ggml_abort_callback(lambda data: self._asked_to_stop())
        self._never_abort = llama_cpp.ggml_abort_callback()
        self.work = Work()
        self.gives_way: Callable[[], bool] | None = None
        """Asked while tokens are evaluated; where it says yes, the call ends with Interrupted and leaves nothing behind."""

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

    @property
    def version(self) -> str:
        """Of llama.cpp as it is bound here: another may lay out what it evaluated differently."""
        return str(self._llama.__version__)

    @property
    def closed(self) -> bool:
        return self._context is None

    def close(self) -> None:
        """Free everything native, in order; safe to call twice."""
        if self.closed:
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
        if count < 0:
            buffer = ctypes.create_string_buffer(-count)
            count = self._llama.llama_token_to_piece(self.vocabulary, token, buffer, len(buffer), 0, False)
        return buffer.raw[:count]

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
        length = self._llama.llama_model_meta_val_str(self._model, key.encode(), None, 0)
        if length < 0:
            return None
        buffer = ctypes.create_string_buffer(length + 1)
        self._llama.llama_model_meta_val_str(self._model, key.encode(), buffer, len(buffer))
        return buffer.value.decode("utf-8", "replace")

    # ---------------------------------------------------------------- reading

    def read(self, head: Tokens, tails: Sequence[Tokens], look: Callable[[Logits], Seen]) -> list[Seen]:
        """What `look` makes of the logits after head + tail, for each tail."""
        seen: dict[int, Seen] = {}
        for wave in self._waves(head, tails, spare=0):
            with self._evaluated(head, [tails[i] for i in wave], keep=len(tails) == 1) as (_, rows):
                seen.update(zip(wave, map(look, rows), strict=True))
        return [seen[i] for i in range(len(tails))]

    # ---------------------------------------------------------------- writing

    def write(
        self, head: Tokens, tails: Sequence[Tokens], limit: int, pick: Pick, stopped: Callable[[Tokens], bool]
    ) -> list[Written]:
        """Tokens `pick` chooses after each head + tail, until an end token, `stopped` or the limit."""
        results: dict[int, Written] = {}
        for wave in self._waves(head, tails, spare=limit):
            mine = [tails[i] for i in wave]
            with self._evaluated(head, mine, keep=len(tails) == 1) as (sequences, rows):
                texts = [_Text(sequence, len(head) + len(tail)) for sequence, tail in zip(sequences, mine, strict=True)]
                self._write_on(texts, rows, limit, pick, stopped)
            results.update(zip(wave, (Written(tuple(text.tokens), text.finished) for text in texts), strict=True))
        return [results[i] for i in range(len(tails))]

    def _write_on(
        self, texts: list[_Text], rows: Sequence[Logits], limit: int, pick: Pick, stopped: Callable[[Tokens], bool]
    ) -> None:
        going = texts
        while going:
            for text, token in zip(going, map(pick, rows), strict=True):
                text.finished = self.is_end(token)
                if text.finished or len(text.tokens) >= limit:
                    text.ended = True
                    continue
                text.tokens.append(token)
                self.work.written += 1
                text.ended = text.finished = stopped(tuple(text.tokens))
            going = [text for text in going if not text.ended]
            rows = self._decode([(text.tokens[-1], text.prompt + len(text.tokens) - 1, (text.sequence,), True) for text in going])

    def stream(self, head: Tokens, tail: Tokens, limit: int, pick: Pick) -> Generator[int, None, None]:
        """The same for one prompt, token by token. Its cells stay taken until the iterator ends or is closed."""
        for _ in self._waves(head, [tail], spare=limit):
            with self._evaluated(head, [tail], keep=True) as ((sequence,), rows):
                self._streams[sequence] = _Stream(head, len(head) + len(tail) + limit)
                try:
                    yield from self._stream_on(sequence, len(head) + len(tail), rows[0], limit, pick)
                finally:
                    del self._streams[sequence]

    def _stream_on(self, sequence: int, place: int, row: Logits, limit: int, pick: Pick) -> Iterator[int]:
        for step in range(limit):
            token = pick(row)
            if self.is_end(token):
                return
            self.work.written += 1
            yield token
            if step + 1 < limit:
                row = self._decode([(token, place + step, (sequence,), True)])[0]

    # ---------------------------------------------------------------- cells and sequences

    def require_room(self, head: Tokens, tails: Sequence[Tokens], spare: int) -> None:
        """Raises PromptTooLong where a prompt can never fit, ModelError where it cannot while streams are open."""
        if any(not tail for tail in tails):
            raise ModelError("a prompt has no words of its own to read")
        needed = len(head) + max(map(len, tails), default=0) + spare
        if needed > self.context_tokens:
            raise PromptTooLong(
                f"prompt and reply need {needed} tokens, the context window has {self.context_tokens}; "
                "shorten or split the text, or open the model with a larger --context"
            )
        if needed > self.context_tokens - self._streamed() or len(self._free) < 2:
            raise ModelError(f"{len(self._streams)} unfinished streams hold the context window; read them to the end or close them")

    def _waves(self, head: Tokens, tails: Sequence[Tokens], spare: int) -> Iterator[list[int]]:
        """Indices of tails that fit together beside the head, in order, once the head is resident."""
        self.require_room(head, tails, spare)
        if len(tails) > 1:
            self._forget_last()
        known = self._known(head, tails[0]) if len(tails) == 1 else 0
        self._make_way(head, max(map(len, tails), default=0) + spare - known, resuming=known > 0)
        self._pin(head)
        cells = self.context_tokens - self._held()
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

    def _held(self) -> int:
        """Cells taken by heads, by what the last prompt has beside its head, and by open streams."""
        last = len(self._last.tail) if self._last else 0
        return sum(map(len, self._heads)) + last + self._streamed()

    def _streamed(self) -> int:
        return sum(stream.cells for stream in self._streams.values())

    def _make_way(self, head: Tokens, room: int, resuming: bool) -> None:
        """Put out the last prompt (unless resumed), then the heads used longest ago, until this head and `room` more cells fit."""
        if head in self._heads:
            self._heads.move_to_end(head)
        new = 0 if head in self._heads else len(head)
        needed = {head, *(stream.head for stream in self._streams.values())}
        while (crowded := new and len(self._heads) >= MAX_HEADS) or self._held() + new + room > self.context_tokens:
            oldest = next((other for other in self._heads if other not in needed), None)
            if self._last and not crowded and (oldest is None or not resuming):
                self._forget_last()
            elif oldest is not None:
                self._put_out(oldest)
            else:
                return

    def _put_out(self, head: Tokens) -> None:
        if self._last and self._last.head == head:
            self._forget_last()  # its sequence would keep the head's cells
        sequence = self._heads.pop(head)
        self._save(head, sequence)
        self._release([sequence])

    def _save(self, head: Tokens, sequence: int) -> None:
        """Keep what a head was evaluated to outside the context."""
        if head not in self._kept:
            buffer = (ctypes.c_uint8 * self._llama.llama_state_seq_get_size(self._context, sequence))()
            if not self._llama.llama_state_seq_get_data(self._context, buffer, len(buffer), sequence):
                return
            self._kept[head] = buffer
        self._kept.move_to_end(head)
        while sum(map(len, self._kept.values())) > KEPT_BYTES:
            self._kept.popitem(last=False)

    def _restore(self, head: Tokens, sequence: int) -> Tokens:
        """Put back the longest kept beginning of a head without evaluating it; which that is, () where there is none."""
        for known in sorted((one for one in self._kept if head[: len(one)] == one), key=len, reverse=True):
            buffer = self._kept[known]
            if self._llama.llama_state_seq_set_data(self._context, buffer, len(buffer), sequence):
                return known
            del self._kept[known]  # of another make
        return ()

    def _follow(self, known: Tokens, head: Tokens) -> None:
        """Note that one head continues another; what itself continued one, a conversation that has grown since, need not be kept."""
        if known and known != head:
            self._continued.add(head)
            if known in self._continued:
                self._continued.discard(known)
                del self._kept[known]

    def prepare(self, head: Tokens) -> None:
        """Evaluate a head ahead of the prompts that will begin with it."""
        self.require_room(head, [], spare=0)
        self._make_way(head, room=0, resuming=False)
        self._pin(head)

    def knows(self, head: Tokens) -> bool:
        """Whether a head need not be evaluated any more."""
        return head in self._heads or head in self._kept

    def state_of(self, head: Tokens) -> bytes | None:
        """What a resident head was evaluated to; None where it is not resident."""
        if head in self._heads:
            self._save(head, self._heads[head])
        return bytes(self._kept[head]) if head in self._kept else None

    def adopt(self, head: Tokens, state: bytes) -> None:
        """Take over what a head was evaluated to by the same model in another run. What does not fit is not used."""
        if head not in self._heads:
            self._kept[head] = (ctypes.c_uint8 * len(state)).from_buffer_copy(state)

    def _pin(self, head: Tokens) -> None:
        """Make the head evaluated and resident."""
        if not head or head in self._heads:
            return
        sequence = self._free.pop()
        try:
            known = self._restore(head, sequence)
            self._read_on(head, known, sequence)
        except BaseException:
            self._release([sequence])
            raise
        self._follow(known, head)
        self._heads[head] = sequence

    def _read_on(self, head: Tokens, known: Tokens, sequence: int) -> None:
        """Evaluate a head from where it is known on. What there is of it when it is interrupted is kept: the next try goes on there."""
        step = INTERRUPTIBLE_STEP if self.gives_way else BATCH
        done = len(known)
        try:
            while done < len(head):
                part = head[done : done + step]
                self._decode_prompt([(token, done + i, (sequence,), False) for i, token in enumerate(part)])
                done += len(part)
        except Interrupted:
            if done > len(known):
                self._llama.llama_memory_seq_rm(self._memory, sequence, done, -1)
                self._save(head[:done], sequence)
                self._follow(known, head[:done])
                self._continued.add(head[:done])
            raise

    @contextmanager
    def _evaluated(self, head: Tokens, tails: Sequence[Tokens], keep: bool) -> Iterator[tuple[list[int], list[Logits]]]:
        """A sequence for each tail, evaluated after the head, and its last logits. All is free again after the block, except that
        a prompt to `keep` stays, in place of the one before."""
        sequences = [self._free.pop() for _ in tails]
        done = False
        try:
            yield sequences, self._prefill(head, tails, sequences)
            done = True
        finally:
            if done and keep:
                self._keep(head, tails[0], sequences[0])
            else:
                self._release(sequences)

    def _keep(self, head: Tokens, tail: Tokens, sequence: int) -> None:
        self._forget_last()
        self._llama.llama_memory_seq_rm(self._memory, sequence, len(head) + len(tail), -1)  # what was written after it
        self._last = _Kept(head, tail, sequence)

    def _prefill(self, head: Tokens, tails: Sequence[Tokens], sequences: Sequence[int]) -> list[Logits]:
        self.work.asked += sum(len(head) + len(tail) for tail in tails)
        if len(tails) == 1 and self._last and (known := self._known(head, tails[0])):
            self._llama.llama_memory_seq_cp(self._memory, self._last.sequence, sequences[0], 0, len(head) + known)
            return self._decode_prompt(_rows_after(head, tails[0], sequences[0], known))
        if head:
            for sequence in sequences:
                self._llama.llama_memory_seq_cp(self._memory, self._heads[head], sequence, -1, -1)
        rows: list[_Row] = []
        for members, shared in groups_by_prefix(tails):
            owners = tuple(sequences[k] for k in members)
            rows += [(token, len(head) + i, owners, False) for i, token in enumerate(tails[members[0]][:shared])]
            for k in members:
                rows += _rows_after(head, tails[k], sequences[k], shared)
        return self._decode_prompt(rows)

    def _known(self, head: Tokens, tail: Tokens) -> int:
        """How many first tokens of this tail the last prompt has evaluated after the same head; 0 where they are few."""
        if self._last is None or self._last.head != head:
            return 0
        shared = common_prefix(self._last.tail, tail, len(tail) - 1)
        return shared if shared >= SHARED_WORTH else 0

    def _forget_last(self) -> None:
        if self._last is not None:
            self._release([self._last.sequence])
            self._last = None

    def _release(self, sequences: Sequence[int]) -> None:
        if self.closed:
            return  # a stream that outlived the model
        for sequence in sequences:
            self._llama.llama_memory_seq_rm(self._memory, sequence, -1, -1)
            self._free.append(sequence)

    def _decode_prompt(self, rows: Sequence[_Row]) -> list[Logits]:
        self.work.evaluated += len(rows)
        return self._decode(rows)

    def _decode(self, rows: Sequence[_Row]) -> list[Logits]:
        """The logits of the wanted rows, in order."""
        if self.closed:
            raise ModelError("this model was closed while a stream was open; open it again")
        wanted: list[Logits] = []
        for start in range(0, len(rows), BATCH):
            part = rows[start : start + BATCH]
            batch = self._batch
            batch.n_tokens = len(part)
            for i, (token, position, owners, want) in enumerate(part):
                batch.token[i], batch.pos[i], batch.logits[i] = token, position, want
                batch.n_seq_id[i] = len(owners)
                for j, owner in enumerate(owners):
                    batch.seq_id[i][j] = owner
            self._evaluate(batch, len(part))
            for i, row in enumerate(part):
                if row[3]:
                    pointer = self._llama.llama_get_logits_ith(self._context, i)
                    wanted.append(np.ctypeslib.as_array(pointer, shape=(self.vocabulary_size,)).copy())
        return wanted


    def _evaluate(self, batch: Any, tokens: int) -> None:
        if self._asked_to_stop():
            raise Interrupted("the model was needed for something else; try again")
        watched = self.gives_way is not None and tokens >= LONG_DECODE  # asking costs a little at every step of the network
        self._llama.llama_set_abort_callback(self._context, self._abort if watched else self._never_abort, None)
        code = self._llama.llama_decode(self._context, batch)
        if code == _ABORTED:
            raise Interrupted("the model was needed for something else; try again")
        if code != 0:
            raise ModelError(f"llama.cpp could not evaluate {tokens} tokens (code {code}); nothing is lost, try again")

    def _asked_to_stop(self) -> bool:
        return self.gives_way is not None and self.gives_way()


@cache
def _quiet() -> Any:
    """A log callback that says nothing: one for the life of the process, because llama.cpp keeps the pointer as long."""
    import llama_cpp

    return llama_cpp.llama_log_callback(lambda level, text, data: None)


def _rows_after(head: Tokens, tail: Tokens, sequence: int, known: int) -> list[_Row]:
    """The rows of a tail from its `known`-th token on; the logits of the last are wanted."""
    last = len(tail) - 1
    return [(tail[i], len(head) + i, (sequence,), i == last) for i in range(known, last + 1)]


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
