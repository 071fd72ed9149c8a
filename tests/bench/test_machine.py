"""What a run says of the machine."""

from __future__ import annotations

import time

from pgmem_local.bench.machine import MemoryWatch, RawSpeed, used_memory
from pgmem_local.ports import Spent


def test_memory_given_back_meanwhile_still_counts_as_peak() -> None:
    size = 64 * 2**20
    with MemoryWatch(seconds=0.005) as watch:
        watch.take()
        before = used_memory()
        held = b"x" * size
        time.sleep(0.1)
        del held
        assert watch.take() >= before + size // 2
        assert watch.take() < before + size // 2


def test_raw_speed_tells_what_tokens_would_take_one_after_another() -> None:
    assert RawSpeed(prompt=100.0, written=10.0).seconds(Spent(evaluated=200, written=30)) == 5.0
    assert RawSpeed(prompt=None, written=10.0).seconds(Spent(evaluated=200)) is None
