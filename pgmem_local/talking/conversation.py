"""One conversation: what was said in it, and whether it is kept. An earlier one is found again in the memory."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from enum import Enum

from pgmem_local.conversation import Moment
from pgmem_local.graph.nodes import Context, Kind, number_of
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.ports import Message

SESSION_PREFIX = "chat-"


class Keeping(Enum):
    """What becomes of what is said."""

    STORED = "stored"
    PRIVATE = "private"
    """Nothing is stored from here on."""
    TEMPORARY = "temporary"
    """Nothing of the whole conversation is stored."""


@dataclass
class Conversation:
    """The session its exchanges belong to, and its messages in order."""

    session: str
    history: list[Message] = field(default_factory=list)
    keeping: Keeping = Keeping.STORED

    @classmethod
    def begun(cls, moment: Moment, keeping: Keeping = Keeping.STORED) -> Conversation:
        return cls(f"{SESSION_PREFIX}{moment.isoformat()}", keeping=keeping)

    @property
    def stored(self) -> bool:
        return self.keeping is Keeping.STORED

    def add(self, message: str, reply: str | None) -> None:
        self.history.append(Message("user", message))
        if reply:
            self.history.append(Message("assistant", reply))

    def take_out(self, texts: Container[str]) -> None:
        """Remove messages of the user and the replies to them."""
        kept: list[Message] = []
        gone = False
        for message in self.history:
            gone = message.text in texts if message.role == "user" else gone
            if not gone:
                kept.append(message)
        self.history = kept


def last_conversation(graph: PersonaGraph) -> Conversation | None:
    """The conversation in which something was said last; None where there was none."""
    said = sorted(
        (context.moment, number_of(context.id), context)
        for context in graph.of_kind(Kind.CONTEXT)
        if isinstance(context, Context) and context.moment and (context.session or "").startswith(SESSION_PREFIX)
    )
    if not said:
        return None
    conversation = Conversation(said[-1][2].session or "")
    for _, _, context in said:
        if context.session == conversation.session:
            conversation.add(context.text, context.reply)
    return conversation
