"""`pgmem` in a process of its own, with stand-ins that take no time in place of the models: python -m tests.scripted_cli COMMAND …

Every message becomes a State in its own words. Indexes go to disk from few vectors on, so that their files are at stake too.

    python -m tests.scripted_cli forget-each --home DIR TERM …      forget what holds each term, saying when each is begun and done
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from pgmem_local import memory
from pgmem_local.cli.app import main
from pgmem_local.construction import extract
from pgmem_local.control.forgetting import Selection
from pgmem_local.runtime import opening
from pgmem_local.store import VectorIndexes
from tests.cli.conftest import Models
from tests.reader import plain_glance

EXACT_BELOW = 50
FORGET_EACH = "forget-each"


def stand_in() -> None:
    """Put the stand-ins in place, for the rest of this process."""
    models = Models()
    models.chat.asked = Forgetful()
    opening.open_chat_model = models.open_chat_model  # type: ignore[assignment]
    opening.open_embedder = models.open_embedder
    opening.require_chat_model = lambda name=None: None
    extract.glance = plain_glance
    memory.VectorIndexes = partial(VectorIndexes, exact_below=EXACT_BELOW)  # type: ignore[misc, assignment]


class Forgetful(list):  # type: ignore[type-arg]
    """What was asked, not kept: a long run asks much."""

    def append(self, asked: object) -> None:
        pass


def forget_each(home: Path, terms: list[str]) -> None:
    with memory.PersonaMemory.open(home) as opened:
        for term in terms:
            print(f"begun {term}", flush=True)
            opened.forget(opened.plan_forgetting(Selection(entity=term)))
            print(f"done {term}", flush=True)


if __name__ == "__main__":
    stand_in()
    command, *arguments = sys.argv[1:]
    if command == FORGET_EACH:
        forget_each(Path(arguments[1]), arguments[2:])
    else:
        main(sys.argv[1:])
