"""`pgmem --version` and `--help` answer at once, and the chat soon asks for a message: what they do not need is not imported for them."""

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

NOT_BEFORE_A_MESSAGE = (
    "llama_cpp",
    "onnxruntime",
    "rich.markdown",
    "snowballstemmer",
    "pgmem_local.profiles.pipeline",
    "pgmem_local.ingest.registry",
    "pgmem_local.portable.reading",
    "pgmem_local.portable.graphml",
)
AT_THE_PROMPT = f"""
import sys
import pgmem_local.__main__, pgmem_local.cli.chat, pgmem_local.cli.chatting.editor
print([name for name in {NOT_BEFORE_A_MESSAGE} if name in sys.modules])
"""


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["ingest", "--help"], ["models", "--help"], ["bench", "--help"]])
def test_help_and_version_load_no_library_of_models(arguments: list[str]) -> None:
    ended = subprocess.run([sys.executable, "-c", LOADED, *arguments], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.strip() == "[]"


def test_nobody_waits_for_what_the_first_prompt_of_a_chat_does_not_need() -> None:
    ended = subprocess.run([sys.executable, "-c", AT_THE_PROMPT], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_help_and_version_take_well_under_half_a_second(argument: str) -> None:
    """The best of five: what else this machine does is not ours to answer for."""
    assert min(_seconds(argument) for _ in range(5)) < 0.5


def _seconds(argument: str) -> float:
    before = time.perf_counter()
    subprocess.run([sys.executable, "-m", "pgmem_local", argument], capture_output=True, check=True)
    return time.perf_counter() - before
