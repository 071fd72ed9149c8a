"""`pgmem export` and `pgmem import`: their options. What does the work is imported when a command runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pgmem_local.cli.options import AsJson, Home, Profile, Where

FormatName = Annotated[
    str | None, typer.Option("--format", metavar="NAME", help="jsonl, markdown, graphml or html; else as the file's ending says.")
]


def add_portable(app: typer.Typer) -> None:
    """Add these commands."""
    app.command()(export)
    app.command("import")(import_)


def export(
    path: Annotated[Path, typer.Argument(help="A new file; - is standard output.", show_default=False)],
    format_name: FormatName = None,
    home: Home = None,
    profile: Profile = "default",
    as_json: AsJson = False,
) -> None:
    """Write the memory for people and other programs: JSON Lines to import again, a Markdown dossier, GraphML, or a page with a picture.

    Example: pgmem export memory.html
    """
    from pgmem_local.cli.carrying import export_memory

    export_memory(path, format_name, Where(home, profile), as_json)


def import_(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="JSON Lines that `pgmem export` wrote.", show_default=False)],
    home: Home = None,
    profile: Profile = "default",
    as_json: AsJson = False,
) -> None:
    """Take in what an export holds and the memory does not, all of it or nothing. What was learned there is not learned again.

    Example: pgmem import memory.jsonl
    """
    from pgmem_local.cli.carrying import import_memory

    import_memory(path, Where(home, profile), as_json)
