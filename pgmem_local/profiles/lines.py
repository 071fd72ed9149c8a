"""A chunk as numbered sentences: the unit that a profile sentence or a fact names as its source.

Only what people said is here, never the assistant's replies: its words are no facts about anybody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pgmem_local.graph.nodes import Context
from pgmem_local.prompts import one_line
from pgmem_local.sentences import sentences

LONGEST = 60
"""Words of a sentence as it is shown to the model; what is longer was rather pasted than said."""

_QUESTION = re.compile(
    r"\?[\"'”’)\]]*$|^(how|what|why|could|can|should|would) (do|does|did|can|could|should|is|are|was|to|would|will|you|i|we)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Line:
    """One sentence of a chunk. `asks` is true of a question: it states nothing about those it names."""

    number: int
    text: str
    context: Context
    asks: bool

    @property
    def shown(self) -> str:
        """The sentence with whoever said it where it was not the user."""
        return f"{one_line(self.context.author)}: {self.text}" if self.context.author else self.text


def listing(texts: Iterable[str]) -> str:
    """Lines for a prompt, numbered from one: a small model counts on, whatever the numbers it is shown."""
    return "\n".join(f"{number}. {' '.join(text.split()[:LONGEST])}" for number, text in enumerate(texts, 1))


def lines_of(contexts: Sequence[Context]) -> list[Line]:
    """The sentences of a chunk in their order, numbered from one."""
    spoken = [(text, context) for context in contexts for text in sentences(context.text)]
    return [Line(number, text, context, bool(_QUESTION.search(text))) for number, (text, context) in enumerate(spoken, 1)]
