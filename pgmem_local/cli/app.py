"""The commands: their options, and which module does the work. Those modules are imported when their command runs, so that
`pgmem --version` and `--help` load no model library and answer at once.
"""

from __future__ import annotations

import gc
import io
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from pgmem_local import __version__
from pgmem_local.cli.bench import bench_app
from pgmem_local.cli.control import add_control
from pgmem_local.cli.models import models_app
from pgmem_local.cli.options import DAY, AsJson, Home, Keyring, MaxMinutes, ModelName, NewPassphrase, Profile, Where, Zone
from pgmem_local.cli.people import people_app
from pgmem_local.cli.portable import add_portable
from pgmem_local.errors import PGMemError

EXIT_CODES = (
    "Exit codes: 0 done; 1 an error, said in one line; 2 wrong usage; "
    "3 ingest finished, but some records were rejected; 130 stopped by Ctrl-C."
)

_NEW_OBJECTS = 10_000
"""After how many Python looks for garbage. Imports leave none, and looking after every 700 takes a twelfth of the start."""

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
app.add_typer(people_app)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and end the process. What went wrong on purpose becomes one line and exit code 1."""
    gc.set_threshold(_NEW_OBJECTS)
    _never_fail_to_encode()
    try:
        app(args=arguments, prog_name="pgmem")
    except PGMemError as error:
        from pgmem_local.ingest.untrusted import printable

        typer.echo(f"pgmem: {printable(str(error))}", err=True)
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
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files (also .gz), folders, zip archives.", show_default=False)],
    format_name: Annotated[str | None, typer.Option("--format", metavar="NAME", help="Where content does not tell.")] = None,
    me: Annotated[str | None, typer.Option("--me", metavar="NAME", help="Your name in chats between people.")] = None,
    fields: Annotated[
        str | None, typer.Option("--map", metavar="FIELDS", help="Names of your own fields: text=note,timestamp=when,role=who.")
    ] = None,
    day_first: Annotated[
        bool | None, typer.Option("--day-first/--month-first", help="What 03/04 means, where the file does not show it.")
    ] = None,
    since: Annotated[datetime | None, typer.Option(formats=DAY, metavar="DAY", help="Only what happened from that day on.")] = None,
    until: Annotated[datetime | None, typer.Option(formats=DAY, metavar="DAY", help="Only what happened up to that day.")] = None,
    minutes: MaxMinutes = None,
    no_llm: Annotated[bool, typer.Option("--no-llm", help="Store and index only; `pgmem learn` can learn from it later.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be read; no model, nothing written.")] = False,
    home: Home = None,
    profile: Profile = "default",
    model: ModelName = None,
    zone: Zone = None,
    as_json: AsJson = False,
) -> None:
    """Read exports, diaries and chats into the memory and learn from them. What it already knows costs nothing; Ctrl-C loses nothing.

    Example: pgmem ingest "WhatsApp Chat with Tariq.txt" --me Nora --dry-run
    """
    from pgmem_local.cli.ingest import Effort, ingest_paths
    from pgmem_local.cli.preview import preview_paths
    from pgmem_local.cli.reading import Request, fields_to_map
    from pgmem_local.ingest.formats import ReadOptions
    from pgmem_local.ingest.moments import named_zone
    from pgmem_local.ingest.period import Period

    where = Where(home, profile, model)
    options = ReadOptions(named_zone(zone) if zone else None, me=me, day_first=day_first, fields=fields_to_map(fields))
    period = Period(since.date() if since else None, until.date() if until else None)
    request = Request(tuple(dict.fromkeys(paths)), options, format_name, period)
    if dry_run:
        raise typer.Exit(preview_paths(request, where, as_json))
    raise typer.Exit(ingest_paths(request, where, Effort(minutes, no_llm), as_json))


@app.command()
def learn(
    minutes: MaxMinutes = None, home: Home = None, profile: Profile = "default", model: ModelName = None, as_json: AsJson = False
) -> None:
    """Learn what is stored and not learned yet: after `ingest --no-llm`, `--max-minutes` or Ctrl-C.

    Example: pgmem learn --max-minutes 30
    """
    from pgmem_local.cli.learning import learn_pending

    raise typer.Exit(learn_pending(Where(home, profile, model), minutes, as_json))


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
def timeline(
    name: Annotated[str | None, typer.Argument(help="Somebody you speak of; else everything.", show_default=False)] = None,
    home: Home = None,
    profile: Profile = "default",
    as_json: AsJson = False,
) -> None:
    """Show what happened when, oldest first: your days and those of the people you speak of, or one of them.

    Example: pgmem timeline Ana
    """
    from pgmem_local.cli.persons import show_timeline

    show_timeline(name, Where(home, profile), as_json)


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
def encrypt(
    keyring: Keyring = False,
    new: NewPassphrase = None,
    drop_files: Annotated[
        bool, typer.Option("--drop-files", help="Also overwrite and remove what lies unencrypted beside the memory, such as rejects.")
    ] = False,
    home: Home = None,
    profile: Profile = "default",
) -> None:
    """Encrypt the memory with a passphrase. Needs `pip install 'pgmem-local[encrypted]'`; without the passphrase nobody opens it again.

    Example: pgmem encrypt --keyring
    """
    from pgmem_local.cli.encryption import encrypt_memory

    encrypt_memory(Where(home, profile), new, keyring, drop_files)


@app.command()
def decrypt(home: Home = None, profile: Profile = "default") -> None:
    """Take the encryption off again.

    Example: pgmem decrypt
    """
    from pgmem_local.cli.encryption import decrypt_memory

    decrypt_memory(Where(home, profile))


@app.command()
def rekey(keyring: Keyring = False, new: NewPassphrase = None, home: Home = None, profile: Profile = "default") -> None:
    """Give an encrypted memory another passphrase.

    Example: pgmem rekey
    """
    from pgmem_local.cli.encryption import rekey_memory

    rekey_memory(Where(home, profile), new, keyring)


@app.command()
def chat(
    goes_on: Annotated[bool, typer.Option("--continue", "-c", help="Go on with the last conversation.")] = False,
    no_learn: Annotated[bool, typer.Option("--no-learn", help="Store what is said, but learn from it another time.")] = False,
    home: Home = None,
    profile: Profile = "default",
    model: ModelName = None,
) -> None:
    """Talk with the memory. It answers first and learns while you read and type; what is not learned when you leave waits.

    In a terminal /help lists the commands. Piped input gets an answer for each line and nothing else.

    Example: pgmem chat -c
    """
    from pgmem_local.cli.chat import Wishes, chat_with_memory

    raise typer.Exit(chat_with_memory(Where(home, profile, model), Wishes(goes_on, learns=not no_learn)))


add_control(app)
add_portable(app)
