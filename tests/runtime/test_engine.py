"""Shared cells never change what is computed, and no call leaves any behind. Tiny random models in full precision: exact."""

from __future__ import annotations

import gc
import random
import threading
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import numpy as np
import pytest

from pgmem_local.errors import Interrupted, ModelError, ModelFileError, PromptTooLong
from pgmem_local.runtime import engine as engine_module
from pgmem_local.runtime.engine import (
    INTERRUPTIBLE_STEP,
    MAX_HEADS,
    SEQUENCES,
    SHARED_WORTH,
    Engine,
    Logits,
    Tokens,
    Work,
    groups_by_prefix,
)

CONTEXT = 1024
TOLERANCE = 0.03
"""Of a logit: cells are kept in half precision; one wrong cell moves logits by whole units."""

Open = Callable[..., Engine]


@pytest.fixture
def open_engine(qwen_file: Path, gemma_file: Path) -> Iterator[Open]:
    opened: list[Engine] = []

    def open_one(kind: str = "qwen3", context_tokens: int = CONTEXT) -> Engine:
        path = qwen_file if kind == "qwen3" else gemma_file
        opened.append(Engine(path, context_tokens, threads=1, gpu_layers=0))
        return opened[-1]

    yield open_one
    for engine in opened:
        engine.close()


@pytest.fixture
def engine(open_engine: Open) -> Engine:
    return open_engine()


def words(seed: object, length: int) -> Tokens:
    chosen = random.Random(repr(seed))
    return tuple(chosen.randrange(97, 123) for _ in range(length))


def greedy(logits: Logits) -> int:
    return int(np.argmax(logits))


def sure_text(engine: Engine, head: Tokens, tail: Tokens, limit: int = 8) -> Tokens:
    """What is written before the first time the two best tokens are as near to each other as noise is."""
    margins: list[float] = []

    def pick(logits: Logits) -> int:
        second, best = np.sort(logits)[-2:]
        margins.append(best - second)
        return greedy(logits)

    (written,) = engine.write(head, [tail], limit, pick, never)
    sure = next((i for i, margin in enumerate(margins) if margin < 2 * TOLERANCE), limit)
    return written.tokens[:sure]


def never(tokens: Tokens) -> bool:
    return False


def read(engine: Engine, head: Tokens, *tails: Tokens) -> list[Logits]:
    return engine.read(head, tails, np.copy)


def read_again_and_again(engine: Engine) -> None:
    for i in range(100):
        read(engine, (), words(i, 900))


def plain(engine: Engine, prompt: Tokens) -> Logits:
    """The reference: the prompt in one sequence of its own, nothing shared."""
    return read(engine, (), prompt)[0]


def write(engine: Engine, head: Tokens, *tails: Tokens, limit: int = 8) -> list[Tokens]:
    return [written.tokens for written in engine.write(head, tails, limit, greedy, never)]


def assert_all_free(engine: Engine) -> None:
    """Every sequence is free, a head or the last prompt; a free one holds no cell."""
    last = [engine._last.sequence] if engine._last else []
    assert sorted([*engine._free, *engine._heads.values(), *last]) == list(range(SEQUENCES))
    assert engine._streams == {}
    for sequence in engine._free:
        assert engine._llama.llama_memory_seq_pos_max(engine._memory, sequence) == -1


def assert_whole_context_is_usable(engine: Engine) -> None:
    assert write(engine, words("all", 500), words("of it", CONTEXT - 500 - 8), limit=8)


class TestSharing:
    @pytest.mark.parametrize("kind", ["qwen3", "gemma3"])
    def test_a_batch_gives_what_one_by_one_gives(self, open_engine: Open, kind: str) -> None:
        together, alone = open_engine(kind), open_engine(kind)
        head, same = words("head", 100), words("same", 60)
        tails = [same + words(i, 5 + i) for i in range(10)] + [words("other", 7)]
        for tail, logits in zip(tails, read(together, head, *tails), strict=True):
            np.testing.assert_allclose(logits, plain(alone, head + tail), atol=TOLERANCE)

    @pytest.mark.parametrize("kind", ["qwen3", "gemma3"])
    def test_a_resumed_prompt_gives_what_a_fresh_one_gives(self, open_engine: Open, kind: str) -> None:
        resumed, fresh = open_engine(kind), open_engine(kind)
        head, notes = words("head", 50), words("notes", 200)
        write(resumed, head, notes + words("holds?", 10))
        resumed.work = Work()
        (logits,) = read(resumed, head, notes + words("answer", 6))
        assert resumed.work.evaluated == 6
        np.testing.assert_allclose(logits, plain(fresh, head + notes + words("answer", 6)), atol=TOLERANCE)

    def test_what_was_written_is_no_part_of_the_prompt_kept(self, open_engine: Open) -> None:
        engine, fresh = open_engine(), open_engine()
        tail = words("tail", 30)
        (written,) = write(engine, (), tail, limit=20)
        longer = tail + written[:3] + words("else", 5)
        np.testing.assert_allclose(read(engine, (), longer)[0], plain(fresh, longer), atol=TOLERANCE)

    def test_the_same_prompt_again_costs_one_token(self, engine: Engine) -> None:
        head, tail = words("head", 20), words("tail", 20)
        first = read(engine, head, tail)[0]
        engine.work = Work()
        again = read(engine, head, tail)[0]
        assert engine.work.evaluated == 1
        np.testing.assert_allclose(again, first, atol=TOLERANCE)

    def test_texts_written_together_are_those_written_alone(self, open_engine: Open) -> None:
        together, alone = open_engine(), open_engine()
        head = words("head", 40)
        tails = [words(i, 10 + 3 * i) for i in range(12)]
        expected = [sure_text(alone, head, tail) for tail in tails]
        written = write(together, head, *tails)
        assert [text[: len(sure)] for text, sure in zip(written, expected, strict=True)] == expected
        assert sum(map(len, expected)) > 3 * len(tails)

    def test_a_stream_gives_what_write_gives(self, open_engine: Open) -> None:
        head, tail = words("head", 40), words("tail", 20)
        (written,) = write(open_engine(), head, tail)
        assert tuple(open_engine().stream(head, tail, 8, greedy)) == written

    def test_order_of_results_is_that_of_the_tails_over_many_waves(self, open_engine: Open) -> None:
        engine, alone = open_engine(), open_engine()
        tails = [words(i, 90 + i % 7) for i in range(40)]
        for tail, logits in zip(tails, read(engine, words("head", 100), *tails), strict=True):
            np.testing.assert_allclose(logits, plain(alone, words("head", 100) + tail), atol=TOLERANCE)
        assert_all_free(engine)


class TestGroups:
    def test_neighbours_with_enough_in_common_share_it(self) -> None:
        same = words("same", 20)
        assert groups_by_prefix([(*same, 1), (*same, 2), (*same, 3)]) == [([0, 1, 2], 20)]

    def test_less_in_common_than_is_worth_it_is_not_shared(self) -> None:
        same = words("same", SHARED_WORTH - 1)
        assert groups_by_prefix([(*same, 1), (*same, 2)]) == [([0], 0), ([1], 0)]

    def test_each_tail_keeps_a_token_of_its_own(self) -> None:
        same = words("same", 20)
        assert groups_by_prefix([same, same]) == [([0, 1], 19)]
        assert groups_by_prefix([(*same, 1), same]) == [([0, 1], 19)]

    def test_a_stranger_begins_a_new_group(self) -> None:
        one, other = words("one", 20), words("other", 20)
        assert groups_by_prefix([(*one, 1), (*one, 2), (*other, 1), (*other, 2)]) == [([0, 1], 20), ([2, 3], 20)]


class TestRoom:
    def test_twenty_heads_in_a_small_context_put_each_other_out(self, open_engine: Open) -> None:
        engine, alone = open_engine(), open_engine()
        for turn in range(2):
            for i in range(20):
                head, tail = words(("head", i), 150), words((turn, i), 60)
                np.testing.assert_allclose(read(engine, head, tail)[0], plain(alone, head + tail), atol=TOLERANCE)
                assert head in engine._heads
        assert_all_free(engine)

    def test_no_more_heads_are_kept_than_leave_sequences_for_prompts(self, engine: Engine) -> None:
        for i in range(SEQUENCES):
            read(engine, words(("head", i), 4), words(i, 4))
        assert len(engine._heads) == MAX_HEADS
        assert_all_free(engine)

    @pytest.mark.parametrize(("memory", "evaluated"), [(1 << 30, 200), (1, 500)])
    def test_a_head_put_out_comes_back_without_being_evaluated(
        self, open_engine: Open, monkeypatch: pytest.MonkeyPatch, memory: int, evaluated: int
    ) -> None:
        monkeypatch.setattr("pgmem_local.runtime.engine.KEPT_BYTES", memory)
        engine, alone = open_engine(), open_engine()
        first, second, tail = words("first", 300), words("second", 300), words("tail", 200)
        for head in (first, second):
            read(engine, head, tail)
        engine.work = Work()
        again = read(engine, first, tail)[0]
        assert engine.work.evaluated == evaluated
        np.testing.assert_allclose(again, plain(alone, first + tail), atol=TOLERANCE)

    def test_old_heads_make_way_for_long_prompts(self, engine: Engine) -> None:
        for i in range(3):
            read(engine, words(("head", i), 250), words(i, 20))
        tails = [words(("long", i), 500) for i in range(3)]
        assert len(write(engine, words("head", 200), *tails, limit=20)) == 3
        assert_all_free(engine)

    def test_the_last_prompt_makes_way_and_takes_its_cells_along(self, engine: Engine) -> None:
        for i in range(6):
            write(engine, words(("head", i), 300), words(i, 600), limit=100)
        assert_all_free(engine)

    def test_a_batch_gets_the_cells_of_the_last_prompt(self, engine: Engine) -> None:
        read(engine, (), words("last", 800))
        assert list(engine._waves((), [words(i, 100) for i in range(8)], spare=0)) == [list(range(8))]

    def test_what_was_written_after_the_last_prompt_holds_no_cells(self, engine: Engine) -> None:
        engine.write((), [words("tail", 200)], 700, lambda logits: 97, never)
        assert read(engine, (), words("other", 500))
        assert_all_free(engine)

    def test_a_head_that_goes_takes_the_last_prompt_along(self, engine: Engine) -> None:
        stream = engine.stream(words("head", 300), words("tail", 300), 2, lambda logits: 97)
        next(stream)
        for i in range(MAX_HEADS - 1):
            read(engine, words(i, 4), words("x", 4))
        assert list(stream) == [97]  # now its prompt is the last, its head the oldest
        assert read(engine, words("one too many", 4), words("long", 600))
        assert_all_free(engine)

    def test_waves_of_one_do_not_keep_each_other(self, engine: Engine) -> None:
        tails = [words(i, 700) for i in range(4)]
        assert len(read(engine, words("head", 200), *tails)) == 4
        assert_all_free(engine)

    def test_resuming_puts_out_old_heads_rather_than_the_prompt(self, engine: Engine) -> None:
        read(engine, words("old", 200), words("x", 20))
        head, notes = words("head", 200), words("notes", 400)
        read(engine, head, notes + words("holds?", 10))
        engine.work = Work()
        write(engine, head, notes + words("answer", 20), limit=250)
        assert engine.work.evaluated == 20
        assert_all_free(engine)

    def test_prompt_and_reply_may_fill_the_context_exactly(self, engine: Engine) -> None:
        assert len(write(engine, words("head", 500), words("tail", CONTEXT - 510), limit=10)[0]) == 10

    def test_one_token_more_is_refused_before_anything_is_evaluated(self, engine: Engine) -> None:
        with pytest.raises(PromptTooLong, match=r"need 1025 tokens.*1024; shorten or split the text"):
            write(engine, words("head", 500), words("short", 5), words("tail", CONTEXT - 509), limit=10)
        assert engine.work == Work()
        assert_all_free(engine)

    def test_the_context_is_no_longer_than_the_model_was_trained_for(self, open_engine: Open) -> None:
        assert open_engine(context_tokens=100_000).context_tokens == 2048

    def test_a_prompt_without_a_word_of_its_own_is_refused(self, engine: Engine) -> None:
        with pytest.raises(ModelError, match="no words of its own"):
            read(engine, words("head", 5), ())


class TestStreams:
    def test_other_calls_come_between_the_tokens_of_a_stream(self, open_engine: Open) -> None:
        engine, alone = open_engine(), open_engine()
        head, tail = words("head", 100), words("tail", 50)
        streamed = []
        for i, token in enumerate(engine.stream(head, tail, 12, greedy)):
            streamed.append(token)
            write(engine, words(("other", i % 3), 200), words(i, 300), limit=100)
            read(engine, (), *(words((i, j), 40) for j in range(30)))
        expected = sure_text(alone, head, tail, limit=12)
        assert len(expected) > 4
        assert tuple(streamed[: len(expected)]) == expected
        assert_all_free(engine)

    def test_a_closed_stream_frees_its_cells(self, engine: Engine) -> None:
        stream = engine.stream(words("head", 100), words("tail", 300), 500, greedy)
        next(stream)
        stream.close()
        assert_all_free(engine)
        assert_whole_context_is_usable(engine)

    def test_a_forgotten_stream_frees_its_cells(self, engine: Engine) -> None:
        next(engine.stream(words("head", 100), words("tail", 300), 500, greedy))
        gc.collect()
        assert_all_free(engine)

    def test_the_head_of_an_open_stream_is_not_put_out(self, engine: Engine) -> None:
        stream = engine.stream(words("head", 300), words("tail", 200), 2, lambda logits: 97)
        next(stream)
        read(engine, words("other", 200), words("x", 200))
        assert list(stream) == [97]
        assert read(engine, (), words("long", 600))
        assert_all_free(engine)

    def test_what_an_open_stream_holds_is_said_not_overwritten(self, engine: Engine) -> None:
        stream = engine.stream((), words("tail", 300), 500, greedy)
        next(stream)
        with pytest.raises(ModelError, match="1 unfinished streams hold the context window"):
            read(engine, (), words("long", 300))
        stream.close()
        assert read(engine, (), words("long", 300))

    def test_more_streams_than_sequences_are_refused(self, engine: Engine) -> None:
        streams = [engine.stream((), words(i, 3), 2, greedy) for i in range(SEQUENCES - 1)]
        for stream in streams:
            next(stream)
        with pytest.raises(ModelError, match="unfinished streams"):
            read(engine, (), words("one more", 3))
        for stream in streams:
            stream.close()
        assert_all_free(engine)

    def test_a_stream_stops_at_its_limit(self, engine: Engine) -> None:
        engine.work = Work()
        assert len(list(engine.stream((), words("tail", 9), 5, greedy))) == engine.work.written == 5


class TestFailures:
    def test_a_failing_pick_frees_everything(self, engine: Engine) -> None:
        def pick(logits: Logits) -> int:
            raise ModelError("the grammar allows no further token")

        with pytest.raises(ModelError, match="no further token"):
            engine.write(words("head", 10), [words(i, 9) for i in range(5)], 5, pick, never)
        assert_all_free(engine)

    def test_a_failing_evaluation_frees_everything(self, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
        engine._llama = FailingLlama(engine._llama, after=3)
        with pytest.raises(ModelError, match="could not evaluate"):
            write(engine, words("head", 10), *(words(i, 9) for i in range(5)))
        assert_all_free(engine)
        engine._llama.after = 0
        with pytest.raises(ModelError, match="could not evaluate"):
            read(engine, words("new head", 10), words("x", 9))
        assert_all_free(engine)

    @pytest.mark.parametrize("seed", range(6))
    def test_any_calls_in_any_order_compute_the_same_and_leave_nothing(self, open_engine: Open, seed: int) -> None:
        engine, alone = open_engine(["qwen3", "gemma3"][seed % 2]), open_engine(["qwen3", "gemma3"][seed % 2])
        storm = Storm(engine, alone, random.Random(seed))
        storm.blow(40)
        assert storm.compared > 5
        assert_all_free(engine)
        assert_whole_context_is_usable(engine)


class FailingLlama:
    """llama_cpp whose `llama_decode` finds no cells after so many calls."""

    def __init__(self, real: object, after: int) -> None:
        self._real, self.after = real, after

    def __getattr__(self, name: str) -> object:
        return getattr(self._real, name)

    def llama_decode(self, context: object, batch: object) -> int:
        self.after -= 1
        return 1 if self.after < 0 else self._real.llama_decode(context, batch)  # type: ignore[attr-defined,no-any-return]


class Storm:
    """Random calls; what they return is compared with an engine that shares nothing."""

    def __init__(self, engine: Engine, alone: Engine, chance: random.Random) -> None:
        self.engine, self.alone, self.chance = engine, alone, chance
        self.streams: list[Generator[int, None, None]] = []
        self.compared = 0

    def blow(self, calls: int) -> None:
        for _ in range(calls):
            try:
                self.chance.choice([self.read, self.read, self.write, self.begin_stream, self.step_stream, self.too_long, self.interrupt])()
            except ModelError as refused:
                if "unfinished streams" not in str(refused):
                    raise
        for stream in self.streams:
            stream.close()

    def head(self) -> Tokens:
        """One of twelve, or what one of three conversations has grown to."""
        number = self.chance.randrange(12)
        grown = words(("grown", number), self.chance.randrange(60)) if number in (3, 4, 5) else ()
        return words(("head", number), 17 * number) + grown

    def tails(self) -> list[Tokens]:
        same = words(self.chance.randrange(4), self.chance.randrange(120))
        return [same + words(self.chance.random(), self.chance.randrange(1, 150)) for _ in range(self.chance.choice([1, 1, 3, 20]))]

    def read(self) -> None:
        head, tails = self.head(), self.tails()
        for tail, logits in list(zip(tails, read(self.engine, head, *tails), strict=True))[:3]:
            np.testing.assert_allclose(logits, plain(self.alone, head + tail), atol=TOLERANCE)
            self.compared += 1

    def write(self) -> None:
        head, tails = self.head(), self.tails()
        assert len(write(self.engine, head, *tails, limit=self.chance.randrange(1, 40))) == len(tails)

    def begin_stream(self) -> None:
        self.streams.append(self.engine.stream(self.head(), self.tails()[0], self.chance.randrange(1, 60), greedy))
        next(self.streams[-1])

    def step_stream(self) -> None:
        if self.streams:
            stream = self.chance.choice(self.streams)
            next(stream, None)
            if self.chance.random() < 0.3:
                stream.close()

    def interrupt(self) -> None:
        left = self.chance.randrange(1, 120)

        def asked() -> bool:
            nonlocal left
            left -= 1
            return left < 0

        self.engine.gives_way = asked
        try:
            self.chance.choice([self.write, self.step_stream, lambda: self.engine.prepare(self.head())])()
        except Interrupted:
            pass
        finally:
            self.engine.gives_way = None

    def too_long(self) -> None:
        with pytest.raises(PromptTooLong):
            read(self.engine, self.head(), words("much", CONTEXT + 1))


class TestGivingWay:
    def test_a_long_evaluation_ends_in_its_middle(self, engine: Engine) -> None:
        asked = threading.Event()
        engine.gives_way = asked.is_set
        whole = -time.perf_counter()
        read(engine, (), words("first", 900))
        whole += time.perf_counter()
        threading.Timer(whole / 3, asked.set).start()
        began = time.perf_counter()
        with pytest.raises(Interrupted):
            read_again_and_again(engine)
        assert time.perf_counter() - began < whole * 0.9
        assert_all_free(engine)

    @pytest.mark.parametrize("calls", [1, 2, 5])
    def test_writing_ends_before_the_next_token(self, engine: Engine, calls: int) -> None:
        picked: list[int] = []

        def pick(logits: Logits) -> int:
            picked.append(greedy(logits))
            return 97

        engine.gives_way = lambda: len(picked) >= calls
        with pytest.raises(Interrupted):
            engine.write(words("head", 10), [words("tail", 9)], 50, pick, never)
        assert len(picked) == calls
        assert_all_free(engine)

    def test_what_comes_after_is_as_if_nothing_had_been(self, open_engine: Open) -> None:
        engine, fresh = open_engine(), open_engine()
        head, tail = words("head", 300), words("tail", 200)
        for left in (1, 30, 60):
            countdown = iter(range(left))
            engine.gives_way = lambda steps=countdown: next(steps, None) is None  # type: ignore[misc]
            with pytest.raises(Interrupted):
                read(engine, head, tail)
        engine.gives_way = None
        np.testing.assert_allclose(read(engine, head, tail)[0], plain(fresh, head + tail), atol=TOLERANCE)
        assert_whole_context_is_usable(engine)

    def test_a_conversation_is_not_lost_by_an_interruption(self, engine: Engine) -> None:
        engine.prepare(words("head", 300))
        read(engine, words("other", 50), words("x", 9))
        engine.gives_way = lambda: True
        with pytest.raises(Interrupted):
            engine.prepare(words("head", 300) + words("turn", 40))
        engine.gives_way, engine.work = None, Work()
        engine.prepare(words("head", 300) + words("turn", 40))
        assert engine.work.evaluated == 40


    def test_a_long_head_gets_on_however_often_it_is_interrupted(self, open_engine: Open) -> None:
        engine, fresh = open_engine(), open_engine()
        head, tail = words("head", 700), words("tail", 9)
        tries = 0
        for tries in range(1, 50):
            before = engine.work.evaluated
            engine.gives_way = lambda started=before: engine.work.evaluated >= started + 2 * INTERRUPTIBLE_STEP  # type: ignore[misc]
            try:
                engine.prepare(head)
                break
            except Interrupted:
                engine.gives_way = None
                read(engine, words("chat", 30), words(tries, 9))  # what it gave way to
        engine.gives_way = None
        assert 3 <= tries <= 8
        np.testing.assert_allclose(read(engine, head, tail)[0], read(fresh, head, tail)[0], atol=TOLERANCE)
        read(engine, words("other", 30), words("x", 9))
        assert sorted(len(kept) for kept in engine._kept) == [30, 700]  # nothing of what was only on the way
        assert_all_free(engine)


class TestConversations:
    @pytest.mark.parametrize("kind", ["qwen3", "gemma3"])
    def test_a_head_that_continues_another_is_evaluated_from_there(self, open_engine: Open, kind: str) -> None:
        engine, alone = open_engine(kind), open_engine(kind)
        head = words("head", 200)
        engine.prepare(head)
        for turn in range(3):
            read(engine, words("learning", 100), words(turn, 50))
            head += words(("turn", turn), 30)
            engine.work = Work()
            engine.prepare(head)
            assert engine.work.evaluated == 30
            np.testing.assert_allclose(read(engine, head, words("?", 5))[0], plain(alone, head + words("?", 5)), atol=TOLERANCE)
        assert_all_free(engine)

    def test_of_a_conversation_only_its_beginning_and_its_end_are_kept(self, engine: Engine) -> None:
        heads = [words("head", 100)[: 40 + 10 * turn] for turn in range(6)]
        for head in heads:
            engine.prepare(head)
        read(engine, words("other", 20), words("x", 9))
        assert list(engine._kept) == [heads[0], heads[-1]]

    def test_what_was_evaluated_in_another_run_is_taken_over(self, open_engine: Open) -> None:
        before, after = open_engine(), open_engine()
        head, tail = words("head", 200), words("tail", 9)
        before.prepare(head)
        state = before.state_of(head)
        assert state is not None
        after.adopt(head, state)
        logits = read(after, head, tail)[0]
        assert after.work.evaluated == len(tail)
        np.testing.assert_allclose(logits, plain(before, head + tail), atol=TOLERANCE)

    @pytest.mark.parametrize("damage", ["foreign", "short"])
    def test_a_state_that_does_not_fit_is_evaluated_instead(self, open_engine: Open, damage: str) -> None:
        engine, foreign = open_engine(), open_engine("gemma3")
        head, tail = words("head", 50), words("tail", 9)
        source = foreign if damage == "foreign" else engine
        source.prepare(head)
        state = source.state_of(head) or b""
        fresh = open_engine()
        fresh.adopt(head, state if damage == "foreign" else state[: len(state) // 2])
        np.testing.assert_allclose(read(fresh, head, tail)[0], plain(engine, head + tail), atol=TOLERANCE)
        assert fresh.work.evaluated == len(head) + len(tail)

    def test_the_state_of_a_head_nobody_prepared_is_none(self, engine: Engine) -> None:
        assert engine.state_of(words("head", 9)) is None


class TestAccounts:
    def test_tokens_are_counted_as_by_hand(self, engine: Engine) -> None:
        head, same = words("head", 100), words("same", 30)
        read(engine, head, *((*same, i) for i in range(4)))
        assert engine.work == Work(asked=4 * 131, evaluated=100 + 30 + 4)
        assert engine.work.reused == 4 * 131 - 134

        engine.work = Work()
        assert len(write(engine, head, (*same, 7), limit=5)[0]) == 5
        assert engine.work == Work(asked=131, evaluated=31, written=5)

        engine.work = Work()
        read(engine, head, (*same, 9, 9))
        assert engine.work == Work(asked=132, evaluated=2)


class TestModel:
    def test_closing_twice_is_fine_and_a_stream_that_outlives_it_ends_with_a_reason(self, engine: Engine) -> None:
        stream = engine.stream((), words("tail", 9), 9, greedy)
        next(stream)
        engine.close()
        engine.close()
        with pytest.raises(ModelError, match="closed while a stream was open"):
            next(stream)
        assert engine.closed

    def test_a_second_engine_may_come_and_go(self, open_engine: Open, engine: Engine) -> None:
        other = open_engine("gemma3")
        other.close()
        del other
        gc.collect()
        assert plain(engine, words("x", 5)).shape == (engine.vocabulary_size,)

    def test_the_log_callback_outlives_every_engine(self) -> None:
        assert engine_module._quiet() is engine_module._quiet()

    def test_what_llama_cpp_cannot_load_is_a_model_file_error(self, tmp_path: Path) -> None:
        (tmp_path / "bad.gguf").write_bytes(b"GGUF" + b"\0" * 100)
        with pytest.raises(ModelFileError, match="cannot load this model"):
            Engine(tmp_path / "bad.gguf", 512, threads=1, gpu_layers=0)

    def test_header_values_come_whole_or_not_at_all(self, engine: Engine) -> None:
        assert engine.metadata("general.architecture") == "qwen3"
        assert engine.metadata("tokenizer.chat_template").endswith("{%- endif %}")  # type: ignore[union-attr]
        assert engine.metadata("no.such.key") is None

    def test_the_begin_token_is_the_models(self, open_engine: Open) -> None:
        assert open_engine("qwen3").begins_with() == ()
        assert open_engine("gemma3").begins_with() == (2,)
