"""The commands: their options, and which module does the work. Those modules are imported when their command runs, so that
`pgmem --version` and `--help` load no model library and answer at once.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from pgmem_local import __version__
from pgmem_local.cli.bench import bench_app
from pgmem_local.cli.models import models_app
from pgmem_local.cli.options import AsJson, Home, ModelName, Profile, Where, Zone
from pgmem_local.errors import PGMemError

EXIT_CODES = (
    "Exit codes: 0 done; 1 an error, said in one line; 2 wrong usage; "
    "3 ingest finished, but some records were rejected; 130 stopped by Ctrl-C."
)

app = typer.Typer(
    name="pgmem",
    help="A personal memory that runs entirely on this machine: it reads your diary or chats and answers from them.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(models_app)
app.add_typer(bench_app)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and end the process. What went wrong on purpose becomes one line and exit code 1."""
    _never_fail_to_encode()
    try:
        app(args=arguments, prog_name="pgmem")
    except PGMemError as error:
        typer.echo(f"pgmem: {error}", err=True)
        sys.exit(1)


def _never_fail_to_encode() -> None:
    """Show a question mark where a terminal or a pipe has no such letter, instead of failing halfway."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pgmem-local {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    """What all commands have in common: nothing but the version."""


@app.command(epilog=EXIT_CODES)
def ingest(
    files: Annotated[list[Path], typer.Argument(help="JSON Lines of diary entries or chat turns.", show_default=False)],
    home: Home = None,
    profile: Profile = "default",
    model: ModelName = None,
    zone: Zone = None,
    as_json: AsJson = False,
) -> None:
    """Read files into the memory and learn from them. Entries it already knows cost nothing; Ctrl-C loses nothing.

    Example: pgmem ingest diary.jsonl --tz Europe/Vienna
    """
    from pgmem_local.cli.ingest import ingest_files

    raise typer.Exit(ingest_files(files, Where(home, profile, model), zone, as_json))


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="In quotes.", show_default=False)],
    explain: Annotated[bool, typer.Option("--explain", help="Also show seeds, paths with signs, val, φ and ψ.")] = False,
    home: Home = None,
    profile: Profile = "default",
    model: ModelName = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question from the memory, and quote the lines of the diary that the answer rests on.

    Example: pgmem ask "What do I drink in the morning now?"
    """
    from pgmem_local.cli.ask import ask_memory

    ask_memory(question, Where(home, profile, model), explain, as_json)


@app.command()
def recall(
    question: Annotated[str, typer.Argument(help="In quotes.", show_default=False)],
    home: Home = None,
    profile: Profile = "default",
    as_json: AsJson = False,
) -> None:
    """Show what the memory holds on a question, ranked; no language model is asked.

    Example: pgmem recall "running and my knee"
    """
    from pgmem_local.cli.look import recall_evidence

    recall_evidence(question, Where(home, profile), as_json)


@app.command()
def me(home: Home = None, profile: Profile = "default", as_json: AsJson = False) -> None:
    """Show what the memory holds about you: traits, what holds now, and what changed.

    Example: pgmem me
    """
    from pgmem_local.cli.look import show_portrait

    show_portrait(Where(home, profile), as_json)


@app.command()
def why(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="As `pgmem me` and `pgmem recall` show it.", show_default=False)],
    home: Home = None,
    profile: Profile = "default",
    as_json: AsJson = False,
) -> None:
    """Show how the memory came to hold something: the lines it rests on and the evidence around it.

    Example: pgmem why s12
    """
    from pgmem_local.cli.look import show_reasons

    show_reasons(identifier, Where(home, profile), as_json)


@app.command()
def stats(home: Home = None, profile: Profile = "default", as_json: AsJson = False) -> None:
    """Count what the memory holds, and what learning it cost, next to the paper's figures.

    Example: pgmem stats
    """
    from pgmem_local.cli.figures import show_figures

    show_figures(Where(home, profile), as_json)


@app.command()
def status(home: Home = None, profile: Profile = "default", as_json: AsJson = False) -> None:
    """Show whether a process is learning, how far it is and what is pending; disturbs nobody, so ask from another terminal.

    Example: pgmem status
    """
    from pgmem_local.cli.status import show_status

    show_status(Where(home, profile), as_json)


@app.command()
def doctor(
    privacy: Annotated[bool, typer.Option("--privacy", help="Prove that nothing leaves this machine, and who can read it.")] = False,
    home: Home = None,
    profile: Profile = "default",
    model: ModelName = None,
    as_json: AsJson = False,
) -> None:
    """Examine the memory: rows, index, models and the quality of its notes. Exits with 1 where something is beyond its bound.

    Example: pgmem doctor --privacy
    """
    from pgmem_local.cli.examine import examine_memory

    raise typer.Exit(examine_memory(Where(home, profile, model), privacy, as_json))


@app.command()
def chat(home: Home = None, profile: Profile = "default", model: ModelName = None) -> None:
    """Talk with the memory; what you say is stored at once and learned with /learn or at the end (/quit or end of input).

    Example: pgmem chat
    """
    from pgmem_local.cli.chat import chat_with_memory

    raise typer.Exit(chat_with_memory(Where(home, profile, model)))
