"""Words for the model, one Markdown file a task: `## head` is fixed and trusted, `## tail` is filled with what varies.

A file may offer several `## opening NAME` sections: the words an answer begins with, which is how one head asks several questions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from pgmem_local.ports import Head, Message, Prompt

_SECTION = re.compile(r"^## +(.+?) *$", re.MULTILINE)
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Task:
    """One task's words: its head, the tail with {slots}, and the openings by name."""

    head: Head
    tail: str
    openings: Mapping[str, str]

    def ask(self, values: Mapping[str, str], opening: str = "answer", history: tuple[Message, ...] = ()) -> Prompt:
        """A prompt with the slots filled. Raises KeyError for a slot without a value or an opening that the file does not have."""
        text = _SLOT.sub(lambda slot: values[slot.group(1)], self.tail)
        return Prompt(self.head, text, self.openings[opening], history)


@cache
def load(name: str) -> Task:
    """The task in `NAME.md`. Raises FileNotFoundError where there is none."""
    parts = _SECTION.split(resources.files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8"))
    sections = {title: body.strip("\n") for title, body in zip(parts[1::2], parts[2::2], strict=True)}
    openings = {title.removeprefix("opening "): body.strip() for title, body in sections.items() if title.startswith("opening ")}
    thinking = sections.get("thinking", "").strip() == "yes"
    return Task(Head(name, sections["head"].strip(), thinking), sections["tail"].strip(), openings)


def one_line(text: str) -> str:
    """Text for a slot: on one line, so that it cannot begin a line that looks like ours."""
    return " ".join(text.split())
