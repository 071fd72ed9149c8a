"""The short form of `scripts/two_processes.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgmem_local.store import MemoryStore
from scripts import two_processes
from scripts.two_processes import Broken, Met


def test_ingest_and_chat_on_one_memory_lose_nothing_and_show_no_lock(tmp_path: Path) -> None:
    met = two_processes.meet(tmp_path, seconds=15)
    assert met.ingests >= 1
    assert len(met.texts) > two_processes.BATCH


@pytest.mark.parametrize(
    ("met", "said"),
    [
        (Met(["never stored"]), "1 entries are lost"),
        (Met(shown=["pgmem: database is locked"]), "this was shown"),
        (Met(shown=["Traceback (most recent call last)"]), "this was shown"),
    ],
)
def test_script_sees_what_is_lost_or_shown(met: Met, said: str, tmp_path: Path) -> None:
    MemoryStore.open(tmp_path / "home").close()
    with pytest.raises(Broken, match=said):
        two_processes.look(tmp_path / "home", met)
