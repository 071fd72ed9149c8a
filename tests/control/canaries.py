"""A memory with twenty canaries in every place that holds words, and a look at every byte of every file for one.

Run as `python -m tests.control.canaries HOME MOMENT` it forgets them and is killed at that moment.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from pgmem_local.control import traces
from pgmem_local.control.forgetting import Selection
from pgmem_local.memory import PersonaMemory
from pgmem_local.store import MemoryStore, VectorIndexes, erasing
from pgmem_local.store.database import Database
from tests.control.conftest import NOTES, believe, opened, said
from tests.reader import Reader

STEM = "qxcanary"
CANARIES = [f"{STEM}{number:02}" for number in range(20)]
FORGETTING = Selection(text=STEM)
KEPT = ("I drink espresso.", "It is jasmine tea now.", "I swim every Wednesday.")


def reader() -> Reader:
    notes = NOTES | {f"lives{number}": f"lives{number} near {CANARIES[number]}" for number in range(4)}
    return Reader(notes, trait="is fond of warm beverages", shown_by=("espresso", "jasmine"))


def planted(home: Path) -> None:
    """Seven canaries in lines, four of which become States; in replies, a session, an author, statements, rejects, chat history."""
    lines = [f"She lives{number} near {CANARIES[number]}." for number in range(4)] + [f"Bread from {one}." for one in CANARIES[4:7]]
    with opened(home, reader()) as memory:
        memory.observe([said(text, day) for day, text in enumerate((*KEPT, *lines))])
        memory.observe([said("Where?", 30, f"chat {CANARIES[7]}", CANARIES[8]), said("Then?", 31, "talk", f"Ask {CANARIES[9]}")])
        memory.observe([said("A walk by the lake.", 40), said(f"Met {CANARIES[10]} there.", 40)])
        memory.learn()
        memory.remember(f"My code name is {CANARIES[11]}.")
        memory.correct(memory.remember(f"I collect {CANARIES[12]}.").id, f"I sell {CANARIES[13]}.")
        place = memory.store.place
    rejects = [{"file": "d.jsonl", "line": 1, "reason": "no time", "raw": json.dumps({"text": f"é {CANARIES[14]}"})}]
    rejects += [{"file": f"{CANARIES[15]}.jsonl", "line": 2, "reason": "cut", "raw": f'{{"text": "{CANARIES[16]}'}]
    rejects += [{"file": "d.jsonl", "line": 3, "reason": "no time", "raw": "bread"}]
    place.rejects.write_text("".join(f"{json.dumps(one)}\n" for one in rejects))
    typed = [f"+{CANARIES[17]}", f"+one\n+{CANARIES[18].upper()}", "+weather"]
    place.chat_history.write_text("".join(f"\n# 2026-05-01 10:00:00\n{entry}\n" for entry in typed))
    place.model_states.mkdir()
    (place.model_states / "chat.state").write_bytes(CANARIES[19].encode())


def traces_in(home: Path) -> dict[str, list[str]]:
    """The canaries that any file holds, in UTF-8 or UTF-16, in any case."""
    found = {}
    for path in home.rglob("*"):
        if path.is_file():
            content = path.read_bytes().lower()
            held = [one for one in CANARIES if one.encode() in content or one.encode("utf-16-le") in content]
            if held:
                found[path.name] = held
    return found


def index_everything(patch: pytest.MonkeyPatch) -> None:
    """hnswlib files also for a few vectors."""
    patch.setattr("pgmem_local.memory.VectorIndexes", lambda store: VectorIndexes(store, exact_below=1))


def killed(*_: Any, **__: Any) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("still alive")


MOMENTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "before the rows go": lambda patch: patch.setattr(MemoryStore, "erase", killed),
    "inside the transaction": lambda patch: patch.setattr(erasing, "note_sweep", killed),
    "before the files are swept": lambda patch: patch.setattr(traces, "clear_from", killed),
    "before the index is built": lambda patch: patch.setattr(VectorIndexes, "rebuild", killed),
    "before the pages are overwritten": lambda patch: patch.setattr(Database, "scrub", killed),
    "before the sweep is ended": lambda patch: patch.setattr(erasing, "end_sweep", killed),
}


def forget_and_die(home: Path, moment: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        believe(patch)
        index_everything(patch)
        memory: PersonaMemory = opened(home)
        MOMENTS[moment](patch)
        memory.forget(memory.plan_forgetting(FORGETTING))


if __name__ == "__main__":
    forget_and_die(Path(sys.argv[1]), sys.argv[2])
