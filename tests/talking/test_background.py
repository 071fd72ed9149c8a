"""A job in the background runs when it is due, gives way at once, and is taken up again."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pgmem_local.errors import Interrupted, ModelError, PGMemError
from pgmem_local.talking.background import Background
from tests.talking.conftest import SECONDS, until


class Job:
    """Works until it is let go or asked to stop."""

    def __init__(self) -> None:
        self.begun = self.done = 0
        self.let_go = threading.Event()
        self.failing: PGMemError | None = None
        self.failures: list[PGMemError] = []

    @contextmanager
    def running(self) -> Iterator[Background]:
        self.background = Background(self, self.failures.append)
        try:
            yield self.background
        finally:
            self.background.close()

    def __call__(self) -> None:
        self.begun += 1
        if self.failing is not None:
            raise self.failing
        deadline = time.monotonic() + SECONDS
        while not self.let_go.is_set() and time.monotonic() < deadline:
            if self.background.must_stop():
                raise Interrupted("asked")
            time.sleep(0.002)
        self.done += 1


def test_it_runs_only_when_due() -> None:
    job = Job()
    job.let_go.set()
    with job.running() as background:
        time.sleep(0.05)
        assert job.begun == 0
        background.due()
        until(lambda: background.settled)
        assert job.done == 1


def test_it_gives_way_and_is_taken_up_again() -> None:
    job = Job()
    with job.running() as background:
        background.due()
        until(lambda: job.begun == 1)
        with background.aside():
            assert not background.settled
            time.sleep(0.05)
            assert job.begun == 1
            job.let_go.set()
        until(lambda: background.settled)
    assert (job.begun, job.done) == (2, 1)


def test_it_waits_for_all_who_hold_it_back() -> None:
    job = Job()
    job.let_go.set()
    with job.running() as background:
        with background.aside():
            with background.aside():
                background.due()
            time.sleep(0.05)
            assert job.begun == 0
        until(lambda: job.done == 1)


def test_who_waits_for_it_may_give_up() -> None:
    stubborn, let_go = threading.Event(), threading.Event()

    def job() -> None:
        stubborn.set()
        let_go.wait(SECONDS)

    background = Background(job, lambda error: None)
    background.due()
    assert stubborn.wait(SECONDS)
    with pytest.raises(Interrupted), background.aside(lambda: True):
        pytest.fail("the job was still running")
    let_go.set()
    until(lambda: background.settled)
    background.close()


def test_who_closes_it_need_not_wait_for_a_call_that_cannot_be_stopped() -> None:
    begun, let_go = threading.Event(), threading.Event()

    def job() -> None:
        begun.set()
        let_go.wait(SECONDS)

    background = Background(job, lambda error: None)
    background.due()
    assert begun.wait(SECONDS)
    assert not background.close(0.05)
    let_go.set()
    assert background.close()


def test_failure_is_told_and_the_next_time_it_is_tried_again() -> None:
    job = Job()
    job.failing = ModelError("broken")
    with job.running() as background:
        background.due()
        until(lambda: background.settled)
        assert [str(error) for error in job.failures] == ["broken"]
        job.failing = None
        job.let_go.set()
        background.due()
        until(lambda: job.done == 1)


def test_closing_ends_it_where_it_is() -> None:
    job = Job()
    with job.running() as background:
        background.due()
        until(lambda: job.begun == 1)
    assert (job.begun, job.done) == (1, 0)
