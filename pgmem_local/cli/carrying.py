"""`pgmem export` and `pgmem import` at work. Only an import of new texts needs a model, and only the one that embeds."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import typer

from pgmem_local.cli.opening import open_memory, open_to_look, say
from pgmem_local.cli.options import Where
from pgmem_local.cli.progress import counted, embedding_progress
from pgmem_local.cli.values import print_json
from pgmem_local.errors import StoreError
from pgmem_local.ingest.untrusted import printable
from pgmem_local.memory import PersonaMemory
from pgmem_local.portable.formats import Format

_PLAIN = "pgmem: this memory is encrypted, and an export is not: whoever reads the file reads all of it"


def export_memory(path: Path, format_name: str | None, where: Where, as_json: bool) -> None:
    """Write a file and say what it holds, or write to standard output. Raises StoreError."""
    form = _format(format_name)
    with open_to_look(where) as memory:
        if memory.store.encrypted:
            say(_PLAIN)
        if str(path) == "-":
            _write_out(memory, form or Format.JSONL)
            return
        done = memory.export(path, form)
    if as_json:
        print_json({"path": str(done.path), "format": done.format.value, "bytes": done.size, "records": dict(done.counts)})
    else:
        typer.echo(printable(f"exported to {done.path}: {_listed(done.counts)}"))


def _format(name: str | None) -> Format | None:
    if name is None:
        return None
    try:
        return Format(name.lower())
    except ValueError:
        raise StoreError(f"there is no format {name!r}; there are {', '.join(one.value for one in Format)}") from None


def _write_out(memory: PersonaMemory, form: Format) -> None:
    """Bytes, always UTF-8: what a terminal cannot show would be lost on the way otherwise."""
    for piece in memory.export_text(form):
        sys.stdout.buffer.write(piece.encode("utf-8"))
    sys.stdout.buffer.flush()


def import_memory(path: Path, where: Where, as_json: bool) -> None:
    """Take in a file and say what was new. Raises IngestError, StoreError."""
    with open_memory(where) as memory, embedding_progress() as report:
        done = memory.import_(path, report)
    if as_json:
        print_json({"path": str(done.path), "read": dict(done.read), "new": dict(done.new), "pending": done.pending})
        return
    new = _listed(done.new)
    typer.echo(printable(f"imported from {done.path}: {new}" if new else f"{done.path} holds nothing that is not known"))
    if done.pending:
        typer.echo(f"{counted(done.pending, 'line')} still to be learned: pgmem learn")


_PLURALS = {"entity": "people or places"}


def _listed(counts: Mapping[str, int]) -> str:
    named = [(number, _PLURALS.get(name, f"{name}s")) for name, number in counts.items() if number and name != "chunk"]
    return ", ".join(f"{number:,} {name}" for number, name in named)
