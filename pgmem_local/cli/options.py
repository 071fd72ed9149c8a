"""Options that several commands share, spelled and explained once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

Home = Annotated[
    Path | None, typer.Option("--home", metavar="DIR", help="Folder of the memory; else PGMEM_HOME, else your data folder.")
]
Profile = Annotated[str, typer.Option("--profile", "-p", metavar="NAME", help="Which of the memories in the home.")]
ModelName = Annotated[
    str | None, typer.Option("--model", metavar="NAME|PATH", help="Chat model or GGUF file; else the best one installed.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for scripts.")]
Zone = Annotated[
    str | None, typer.Option("--tz", metavar="ZONE", help="Time zone of times without one, such as Europe/Vienna; else this computer's.")
]
MaxMinutes = Annotated[
    float | None,
    typer.Option("--max-minutes", min=0, metavar="N", help="Stop learning after so long; the rest waits for `pgmem learn`."),
]
DAY = ["%Y-%m-%d"]
"""How days are written in options."""
Keyring = Annotated[bool, typer.Option("--keyring", help="Keep the passphrase in the system's keyring, so that nobody is asked.")]
NewPassphrase = Annotated[
    Path | None, typer.Option("--new", metavar="FILE", help="Read the new passphrase from the first line of this file (0600).")
]


@dataclass(frozen=True)
class Where:
    """Which memory a command works on, and with which chat model."""

    home: Path | None
    profile: str
    model: str | None = None
