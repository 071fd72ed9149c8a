"""Words for the model that only the benchmark says: the paper's JSON prompts, and those of the local judge. Files as in `prompts`.

They lie apart because a built memory is known by the words of construction: those of a comparison must not make it stale.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

from pgmem_local.ports import Head
from pgmem_local.prompts import Task

_SECTION = re.compile(r"^## +(.+?) *$", re.MULTILINE)


@cache
def load(name: str) -> Task:
    """The task in `NAME.md` of this folder. Raises FileNotFoundError where there is none."""
    parts = _SECTION.split(resources.files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8"))
    sections = {title: body.strip() for title, body in zip(parts[1::2], parts[2::2], strict=True)}
    openings = {title.removeprefix("opening "): body for title, body in sections.items() if title.startswith("opening ")}
    return Task(Head(name, sections["head"]), sections["tail"], openings)
