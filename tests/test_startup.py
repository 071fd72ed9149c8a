"""`pgmem --version` and `--help` answer at once: nothing that reads models or memories is imported for them."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

HEAVY = ("llama_cpp", "onnxruntime", "tokenizers", "numpy", "hnswlib", "sqlite3", "pgmem_local.memory")
LOADED = f"""
import sys
from pgmem_local.__main__ import main
try:
    main()
finally:
    print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)
"""


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["ingest", "--help"], ["models", "--help"], ["bench", "--help"]])
def test_help_and_version_load_no_library_of_models(arguments: list[str]) -> None:
    ended = subprocess.run([sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.strip() == "[]"


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_help_and_version_take_well_under_half_a_second(argument: str) -> None:
    """The best of five: what else this machine does is not ours to answer for."""
    assert min(_seconds(argument) for _ in range(5)) < 0.5


def _seconds(argument: str) -> float:
    before = time.perf_counter()
    subprocess.run([sys.executable, "-m", "pgmem_local", argument], capture_output=True, check=True)
    return time.perf_counter() - before
