"""`pgmem people`: its options. What it does is in `persons.py`, which is imported when a command runs."""

from __future__ import annotations

from typing import Annotated

import typer

from pgmem_local.cli.options import AsJson, Home, Profile, Where

people_app = typer.Typer(name="people", invoke_without_command=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help='A name, "my sister" or an id such as p3.', show_default=False)]


@people_app.callback()
def people(context: typer.Context, home: Home = None, profile: Profile = "default", as_json: AsJson = False) -> None:
    """List the people, pets, places and groups you speak of, with what they are to you and how much is known.

    Example: pgmem people
    """
    context.obj = Where(home, profile)
    if context.invoked_subcommand is None:
        from pgmem_local.cli.persons import list_people

        list_people(Where(home, profile), as_json)


@people_app.command()
def show(context: typer.Context, name: Name, home: Home = None, profile: Profile = "default", as_json: AsJson = False) -> None:
    """Show what is known of one of them: profile, facts with their dates and sources, and who they are linked to.

    Example: pgmem people show "my sister"
    """
    from pgmem_local.cli.persons import show_person

    show_person(name, _where(context, home, profile), as_json)


@people_app.command()
def merge(
    context: typer.Context,
    kept: Annotated[str, typer.Argument(metavar="NAME", help="The one that stays.", show_default=False)],
    other: Annotated[str, typer.Argument(metavar="OTHER", help="The one that becomes part of it.", show_default=False)],
    home: Home = None,
    profile: Profile = "default",
    as_json: AsJson = False,
) -> None:
    """Say that two of them are one; `pgmem people undo` takes it back.

    Example: pgmem people merge Toby Tobias
    """
    from pgmem_local.cli.persons import merge_people

    merge_people(kept, other, _where(context, home, profile), as_json)


@people_app.command()
def split(
    context: typer.Context,
    name: Name,
    lines: Annotated[list[str], typer.Argument(metavar="ID...", help="Entries that speak of the other one: c12 c40.", show_default=False)],
    called: Annotated[str | None, typer.Option("--as", metavar="NAME", help="What the other one is called.")] = None,
    home: Home = None,
    profile: Profile = "default",
    as_json: AsJson = False,
) -> None:
    """Say that one of them is two: what is known from these entries alone becomes somebody else.

    Example: pgmem people split Ana c12 c40 --as "Ana Silva"
    """
    from pgmem_local.cli.persons import split_person

    split_person(name, lines, called, _where(context, home, profile), as_json)


@people_app.command()
def rename(
    context: typer.Context,
    name: Name,
    called: Annotated[str | None, typer.Argument(metavar="NEW", help="Left out: the name that was heard.", show_default=False)] = None,
    home: Home = None,
    profile: Profile = "default",
    as_json: AsJson = False,
) -> None:
    """Call one of them by another name; the names that were heard stay as aliases.

    Example: pgmem people rename "my boss" "Henrike Solberg"
    """
    from pgmem_local.cli.persons import rename_person

    rename_person(name, called, _where(context, home, profile), as_json)


@people_app.command()
def undo(context: typer.Context, home: Home = None, profile: Profile = "default", as_json: AsJson = False) -> None:
    """Take back the last merge, split or rename.

    Example: pgmem people undo
    """
    from pgmem_local.cli.persons import undo_correction

    undo_correction(_where(context, home, profile), as_json)


def _where(context: typer.Context, home: Home, profile: Profile) -> Where:
    """Options may stand before or after the name of the command."""
    given: Where = context.obj
    return Where(home or given.home, profile if profile != "default" else given.profile)
