"""Work that is done while nobody waits: one job in a thread of its own, which gives way at once to whoever needs the model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pgmem_local.errors import Interrupted, PGMemError

_LOOK_SECONDS = 0.1
"""How often a wait that may be given up looks whether it is."""


class Background:
    """Does `job` whenever it is due and nobody holds it back. A job that ends with Interrupted is due again.

    The job must ask `must_stop` all the time. `failed` hears of what went wrong on purpose; then the job waits to be due again.
    """

    def __init__(self, job: Callable[[], None], failed: Callable[[PGMemError], None]) -> None:
        self._job, self._failed = job, failed
        self._changed = threading.Condition()
        self._due = self._running = self._closing = False
        self._held_back = 0
        self._thread = threading.Thread(target=self._run, name="pgmem-background", daemon=True)
        self._thread.start()

    def must_stop(self) -> bool:
        return self._held_back > 0 or self._closing

    def due(self) -> None:
        """There is something to do."""
        with self._changed:
            self._due = True
            self._changed.notify_all()

    @property
    def settled(self) -> bool:
        """Whether there is nothing to do, or nobody left who does it."""
        with self._changed:
            return not (self._due or self._running) or not self._thread.is_alive()

    @contextmanager
    def aside(self, give_up: Callable[[], bool] = lambda: False) -> Iterator[None]:
        """Inside the block the job does not run. Raises Interrupted where `give_up` says so before it has stopped."""
        with self._changed:
            self._held_back += 1
        try:
            self._await_pause(give_up)
            yield
        finally:
            with self._changed:
                self._held_back -= 1
                self._changed.notify_all()

    def _await_pause(self, give_up: Callable[[], bool]) -> None:
        with self._changed:
            while self._running and self._thread.is_alive():
                if give_up():
                    raise Interrupted("given up before the model was free; try again")
                self._changed.wait(_LOOK_SECONDS)

    def close(self, patience: float | None = None) -> bool:
        """Stop the job where it is and end its thread; whether that has ended within so many seconds. Safe to call twice."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join(patience)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while self._may_begin():
            try:
                self._job()
            except Interrupted:
                self.due()
            except PGMemError as error:
                self._failed(error)
            finally:
                with self._changed:
                    self._running = False
                    self._changed.notify_all()

    def _may_begin(self) -> bool:
        """Wait until the job is due and may run; False where there is to be no more of it."""
        with self._changed:
            self._changed.wait_for(lambda: self._closing or (self._due and not self._held_back))
            self._running = not self._closing
            self._due = False
            return self._running
