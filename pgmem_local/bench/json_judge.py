"""JUDGE as PGMem has it: the model writes a relation and a reason for each pair as JSON, and no number says how sure it is.

The task `relations` asks about one pair a call; `paper.py` about several, as the paper's construction does (4 judgements a call).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from pgmem_local.bench.prompts import load
from pgmem_local.construction.pair import Pair
from pgmem_local.conversation import written_day
from pgmem_local.errors import ModelOutputInvalid
from pgmem_local.graph.edges import Relation
from pgmem_local.graph.nodes import Kind, Node
from pgmem_local.ports import ChatModel
from pgmem_local.prompts import one_line

PAIRS_A_CALL = 8
TOKENS_A_PAIR = 100
REASON_CHARACTERS = 120


def judge_in_json(model: ChatModel, pairs: Sequence[Pair], together: int = PAIRS_A_CALL) -> list[Relation | None]:
    """A relation a pair; None where the answer was cut off or no JSON. A shift between kinds or without an order in time is doubt."""
    groups = [pairs[start : start + together] for start in range(0, len(pairs), together)]
    return list(chain.from_iterable(_judge_group(model, group) for group in groups))


def _judge_group(model: ChatModel, pairs: Sequence[Pair]) -> list[Relation | None]:
    prompt = load("paper_judge").ask({"pairs": "\n".join(_listed(number, pair) for number, pair in enumerate(pairs, 1))})
    try:
        raw = model.write_json(prompt, _schema(len(pairs)), TOKENS_A_PAIR * len(pairs))
    except ModelOutputInvalid:
        return [None] * len(pairs)
    said = [Relation(one["relation"].lower()) for one in raw["judgements"]]
    return [_possible(pair, relation) for pair, relation in zip(pairs, said, strict=True)]


def _schema(count: int) -> dict[str, Any]:
    judgement = {
        "type": "object",
        "properties": {
            "reason": {"type": "string", "maxLength": REASON_CHARACTERS},
            "relation": {"enum": [relation.value.upper() for relation in Relation]},
        },
        "required": ["reason", "relation"],
        "additionalProperties": False,
    }
    judgements = {"type": "array", "items": judgement, "minItems": count, "maxItems": count}
    return {"type": "object", "properties": {"judgements": judgements}, "required": ["judgements"], "additionalProperties": False}


def _listed(number: int, pair: Pair) -> str:
    return f"{number}. older {_shown(pair.earlier)}\n   newer {_shown(pair.later)}"


def _shown(node: Node) -> str:
    return f"{node.kind.value.title()} ({written_day(node.moment)}): {one_line(node.text)}"


def _possible(pair: Pair, relation: Relation) -> Relation:
    same_kind = pair.earlier.kind is pair.later.kind and pair.earlier.kind in (Kind.STATE, Kind.TRAIT)
    return relation if relation is not Relation.SHIFT_TO or (same_kind and pair.dated) else Relation.IRRELEVANT
