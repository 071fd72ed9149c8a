"""The persona core of a conversation: the few Traits and high-priority States that hold now and come with every message.

Not a step of the paper, whose Active Persona Set is chosen anew for each question. The core is part of what stays evaluated, so it is
kept as long as all of it holds, and only then chosen anew.
"""

from __future__ import annotations

from dataclasses import dataclass

from pgmem_local.graph.nodes import Node, RecallPriority, State
from pgmem_local.retrieval.assemble import Evidence
from pgmem_local.retrieval.serialise import day, on_one_line
from pgmem_local.settings import ChatSettings

_HEADING = "What you know about the user:"


@dataclass(frozen=True)
class PersonaCore:
    """What holds now and matters whatever is talked about."""

    nodes: tuple[Node, ...] = ()

    @property
    def text(self) -> str:
        """As the model sees it; empty where there is nothing."""
        lines = [f"- {day(node)}: {on_one_line(node.text)}" for node in self.nodes]
        return "\n".join([_HEADING, *lines]) if lines else ""

    def holds(self, portrait: Evidence) -> bool:
        """Whether everything in it still holds, word for word."""
        return set(self.nodes) <= {entry.node for entry in (*portrait.traits, *portrait.states)}


def persona_core(portrait: Evidence, settings: ChatSettings) -> PersonaCore:
    """The best of the Traits that nothing challenges and of the States of high priority that nothing replaced."""
    lasting = [entry.node for entry in portrait.traits][: settings.core_traits]
    urgent = [entry.node for entry in portrait.states if _is_urgent(entry.node)][: settings.core_states]
    return PersonaCore((*lasting, *urgent))


def _is_urgent(node: Node) -> bool:
    return isinstance(node, State) and node.priority is RecallPriority.HIGH
