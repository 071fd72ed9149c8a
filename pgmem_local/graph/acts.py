"""What the owner did to the memory outside of telling it something (not in the paper): the record that history and undo read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from pgmem_local.conversation import Moment
from pgmem_local.graph.nodes import NodeId


class Deed(str, Enum):
    """What an act was. A forgetting leaves nothing but the time it happened at."""

    REMEMBER = "remember"
    CORRECT = "correct"
    PIN = "pin"
    UNPIN = "unpin"
    FORGET = "forget"


@dataclass(frozen=True)
class Act:
    """One act. `node` is the statement made or the node pinned, `context` the owner's words, `target` what was corrected."""

    deed: Deed
    moment: Moment
    node: NodeId | None = None
    context: NodeId | None = None
    target: NodeId | None = None
