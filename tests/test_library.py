"""The package as a library: what the README shows runs, names are loaded late, threads may share a memory."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import pgmem_local
from pgmem_local.graph.nodes import Kind
from pgmem_local.runtime import opening
from tests.cli.conftest import Models, RuleChat
from tests.control.conftest import opened

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def test_example_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    models = Models()
    monkeypatch.setattr(opening, "open_chat_model", models.open_chat_model)
    monkeypatch.setattr(opening, "open_embedder", models.open_embedder)
    monkeypatch.setenv("PGMEM_HOME", str(tmp_path))
    (example,) = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "I am allergic to hazelnuts."
    assert "I am allergic to hazelnuts." in printed[1]
    assert "I am allergic to walnuts." not in printed[1]
    assert printed[-2:] == ["['said', 'corrected by']", "1 line forgotten"]


def test_importing_the_package_loads_nothing_else() -> None:
    code = "import sys, pgmem_local; print(any(name in sys.modules for name in ('numpy', 'hnswlib', 'pgmem_local.memory')))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_public_names_are_there_and_others_are_not() -> None:
    assert [name for name in pgmem_local.__all__ if getattr(pgmem_local, name, None) is None] == []
    with pytest.raises(AttributeError, match="has no attribute 'Memry'"):
        pgmem_local.Memry  # noqa: B018


def test_threads_that_share_a_memory_lose_nothing(tmp_path: Path) -> None:
    with opened(tmp_path, RuleChat()) as memory:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(memory.observe, [f"Line number {number}." for number in range(20)]))
            states = list(pool.map(memory.remember, [f"Word{number} matters{number}." for number in range(10)]))
            list(pool.map(memory.pin, [state.id for state in states]))
        assert len(memory.graph.of_kind(Kind.CONTEXT)) == 30
        assert memory.graph.pinned == {state.id for state in states}
        assert memory.store.integrity_check() == []
