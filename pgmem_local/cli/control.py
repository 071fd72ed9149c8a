"""`pgmem search`, `get`, `history`, `remember`, `correct`, `pin`, `unpin`, `undo`, `forget`, `backup` and `restore`: their options.
What does the work is imported when a command runs.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from pgmem_local.cli.options import DAY, AsJson, Home, ModelName, Profile, Where

Identifier = Annotated[str, typer.Argument(metavar="ID", help="As `pgmem me` and `pgmem search` show it.", show_default=False)]
Words = Annotated[str, typer.Argument(metavar="TEXT", help="In quotes.", show_default=False)]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def add_control(app: typer.Typer) -> None:
    """Add these commands."""
    for command in (search, get, history, remember, correct, pin, unpin, undo, forget, backup, restore):
        app.command()(command)


def search(
    text: Words,
    limit: Annotated[int, typer.Option("--limit", min=1, help="At most this many.")] = 20,
    home: Home = None,
    profile: Profile = "default",
    as_json: AsJson = False,
) -> None:
    """Look for words, and for what resembles them, among lines and notes; no language model is asked.

    Example: pgmem search "knee"
    """
    from pgmem_local.cli.controlling import show_found

    show_found(text, limit, Where(home, profile), as_json)


def get(identifier: Identifier, home: Home = None, profile: Profile = "default", as_json: AsJson = False) -> None:
    """Show one line or note as it is kept.

    Example: pgmem get s12
    """
    from pgmem_local.cli.controlling import show_node

    show_node(identifier, Where(home, profile), as_json)


def history(identifier: Identifier, home: Home = None, profile: Profile = "default", as_json: AsJson = False) -> None:
    """Show how a note came about and what became of it, in order of time.

    Example: pgmem history s12
    """
    from pgmem_local.cli.controlling import show_history

    show_history(identifier, Where(home, profile), as_json)


def remember(text: Words, home: Home = None, profile: Profile = "default", model: ModelName = None, as_json: AsJson = False) -> None:
    """Keep a statement of yours in your words; it outranks what is inferred from your lines.

    Example: pgmem remember "I am allergic to walnuts."
    """
    from pgmem_local.cli.controlling import keep_statement

    keep_statement(text, Where(home, profile, model), as_json)


def correct(identifier: Identifier, text: Words, home: Home = None, profile: Profile = "default", as_json: AsJson = False) -> None:
    """Put your words in the place of a note, which is history from then on.

    Example: pgmem correct s12 "I swim on Fridays."
    """
    from pgmem_local.cli.controlling import keep_correction

    keep_correction(identifier, text, Where(home, profile), as_json)


def pin(identifier: Identifier, home: Home = None, profile: Profile = "default", as_json: AsJson = False) -> None:
    """Keep a note in view whatever is asked.

    Example: pgmem pin s12
    """
    from pgmem_local.cli.controlling import set_pin

    set_pin(identifier, True, Where(home, profile), as_json)


def unpin(identifier: Identifier, home: Home = None, profile: Profile = "default", as_json: AsJson = False) -> None:
    """Let a pinned note be ranked like any other again.

    Example: pgmem unpin s12
    """
    from pgmem_local.cli.controlling import set_pin

    set_pin(identifier, False, Where(home, profile), as_json)


def undo(home: Home = None, profile: Profile = "default", as_json: AsJson = False) -> None:
    """Take back your last remember, correct, pin or unpin. What is forgotten cannot be brought back.

    Example: pgmem undo
    """
    from pgmem_local.cli.controlling import take_back

    take_back(Where(home, profile), as_json)


def forget(
    identifiers: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Lines or notes.", show_default=False)] = None,
    text: Annotated[str | None, typer.Option("--text", help="Whatever holds these words, in any case.")] = None,
    entity: Annotated[str | None, typer.Option("--entity", metavar="NAME", help="Whatever mentions this name.")] = None,
    since: Annotated[datetime | None, typer.Option("--since", metavar="DAY", formats=DAY, help="Lines from this day on.")] = None,
    until: Annotated[datetime | None, typer.Option("--until", metavar="DAY", formats=DAY, help="Lines up to this day.")] = None,
    source: Annotated[str | None, typer.Option("--source", metavar="FILE", help="Lines that came from this file alone.")] = None,
    everything: Annotated[bool, typer.Option("--everything", help="All of this profile.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would go.")] = False,
    yes: Yes = False,
    home: Home = None,
    profile: Profile = "default",
    as_json: AsJson = False,
) -> None:
    """Remove lines and notes with everything that rests on them, from every file of the profile; there is no way back.

    Of several conditions all must hold. Backups and exports you made yourself are not touched.

    Example: pgmem forget --text "the diagnosis" --dry-run
    """
    from pgmem_local.cli.controlling import Wish, forget_selection

    wish = Wish(tuple(identifiers or ()), text, entity, since, until, source, everything)
    forget_selection(wish, Where(home, profile), dry_run, yes, as_json)


def backup(
    path: Annotated[Path, typer.Argument(help="A new file.", show_default=False)],
    home: Home = None,
    profile: Profile = "default",
    as_json: AsJson = False,
) -> None:
    """Copy the memory into one file, and check the copy. What you forget later stays in it.

    Example: pgmem backup memory-2026-05.db
    """
    from pgmem_local.cli.controlling import write_backup

    write_backup(path, Where(home, profile), as_json)


def restore(
    path: Annotated[Path, typer.Argument(help="A file that `pgmem backup` wrote.", show_default=False)],
    yes: Yes = False,
    home: Home = None,
    profile: Profile = "default",
    as_json: AsJson = False,
) -> None:
    """Put a backup in the place of the memory, once it is checked to be whole. What came in since is lost.

    Example: pgmem restore memory-2026-05.db
    """
    from pgmem_local.cli.controlling import read_backup

    read_backup(path, Where(home, profile), yes, as_json)
