"""Opening the memory a command works on, with a word about what takes time and what looks wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from getpass import getpass

import typer

from pgmem_local.cli.options import Where
from pgmem_local.memory import PersonaMemory


def say(line: str) -> None:
    """A line for the person at the terminal: on standard error, so that results can be piped."""
    typer.echo(line, err=True)


def open_memory(where: Where, say: Callable[[str], None] = say, quietly: bool = False) -> PersonaMemory:
    """The memory, to be closed by the caller; `say` hears of a doubtful place and, unless `quietly`, of a chat model being loaded."""
    loading = None if quietly else lambda name: say(f"loading {name} …")
    memory = PersonaMemory.open(where.home, where.profile, where.model, loading=loading, prompt=passphrase_prompt())
    if warning := memory.store.place.warning:
        say(f"pgmem: warning: {warning}")
    return memory


def passphrase_prompt() -> Callable[[], str] | None:
    """How to ask for a passphrase; None where nobody sits at a terminal."""
    return partial(getpass, "passphrase: ") if sys.stdin.isatty() else None


def open_to_look(where: Where) -> PersonaMemory:
    """The memory for a command that only reads; an empty one is no error, but its owner may have meant another."""
    memory = open_memory(where)
    if not len(memory.graph):
        say(f"pgmem: the memory in {memory.store.place.folder} is empty; fill it with `pgmem ingest FILE`")
    return memory
