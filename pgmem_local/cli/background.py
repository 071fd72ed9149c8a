"""Long work beside the terminal. llama.cpp computes for seconds at a stretch, in which Python hears no Ctrl-C: so the work has a
thread of its own, and the main thread shows progress and listens.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import NoReturn, TypeVar

INTERRUPTED = 130
_TICK_SECONDS = 0.25

Result = TypeVar("Result")


def attended(work: Callable[[], Result], farewell: Callable[[], None], tick: Callable[[], None] = lambda: None) -> Result:
    """The result of `work`. Ctrl-C says `farewell` and ends the process at once.

    That is safe, as any other sudden end is: what has landed in the store stays and nothing lands halfway. Waiting for the call at
    hand would take long, and freeing a model while it computes would crash.
    """
    with ThreadPoolExecutor(1) as pool:
        try:
            outcome = pool.submit(work)
            while not wait([outcome], timeout=_TICK_SECONDS).done:
                tick()
        except KeyboardInterrupt:
            farewell()
            leave_at_once(INTERRUPTED)
    return outcome.result()


def leave_at_once(code: int) -> NoReturn:
    """End the process while another thread of it is still in a call of the model."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
