"""The paper's five rounds of validation (section 4, quality assurance). Each returns what is wrong with a question, or None."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from pgmem_local.bench.generation.chains import Chain
from pgmem_local.bench.generation.network import Network
from pgmem_local.bench.generation.sessions import Chats
from pgmem_local.bench.scoring.forms import holds, norm

FEWEST_WORDS, MOST_WORDS = 4, 45
NEAR_DUPLICATE = 0.9
"""Share of words in common, in their counts, from which two questions of one depth are one."""
_FIELDS = {"k": int, "answerable": bool, "question": str, "aliases": list, "chain": list, "decomposition": list, "evidence": list}
_PLACEHOLDER = re.compile(r"[{}]")
_DOUBLED = re.compile(r"\b(\w+) \1\b", re.IGNORECASE)

Record = dict[str, Any]


def problem(record: Record, chain: Chain, network: Network, chats: Chats, others: Sequence[Record]) -> str | None:
    """The first thing wrong, in the order of the rounds."""
    rounds: tuple[Callable[[], str | None], ...] = (
        lambda: structure(record),
        lambda: grounding(record, chain, chats),
        lambda: consistency(record, chain, network),
        lambda: wording(record),
        lambda: duplication(record, others),
    )
    return next((found for check in rounds if (found := check()) is not None), None)


def structure(record: Record) -> str | None:
    """Round 1: required fields of the right type, and a step for each hop."""
    wrong = [name for name, kind in _FIELDS.items() if not isinstance(record.get(name), kind)]
    if wrong:
        return f"no valid {', '.join(wrong)}"
    if record["answerable"] and not (record["k"] == len(record["decomposition"]) == len(record.get("evidence_by_step", ()))):
        return "hops, sub-questions and evidence differ in number"
    return None


def grounding(record: Record, chain: Chain, chats: Chats) -> str | None:
    """Round 2: every turn cited for a step holds that step's anchors."""
    facts = [step.relationship.id for step in chain.steps] + ([chain.seen.id] if chain.seen else [])
    for fact, places in zip(facts, record.get("evidence_by_step", ()), strict=False):
        for session, turn in places:
            missing = [anchor for anchor in chats.anchors[fact] if anchor not in chats.text((session, turn))]
            if missing:
                return f"{session}:{turn} does not say {missing[0]!r}"
    return None


def consistency(record: Record, chain: Chain, network: Network) -> str | None:
    """Round 3: each step has one target, the last sub-answer is the answer, and nothing gives it away."""
    for step in chain.steps:
        targets = {other.end for other in network.steps_from(step.start) if other.type == step.type}
        if targets != {step.end}:
            return f"{step.start}'s {step.type} could be any of {sorted(targets)}"
    if not record["answerable"]:
        return None
    if record["decomposition"][-1]["a"] != record["answer"]:
        return "the last sub-answer is not the answer"
    return "the question holds its answer" if holds(record["question"], [record["answer"]]) else None


def wording(record: Record) -> str | None:
    """Round 4: a whole question of sensible length, with nothing left to be filled in."""
    text = record["question"]
    if not FEWEST_WORDS <= len(text.split()) <= MOST_WORDS:
        return "too short or too long"
    if _PLACEHOLDER.search(text) or _DOUBLED.search(text):
        return "a placeholder or a doubled word"
    return None if text[0].isupper() and text.endswith("?") else "no question"


def duplication(record: Record, others: Sequence[Record]) -> str | None:
    """Round 5: no other question is the same, or says nearly the same at the same depth about the same fact."""
    for other in others:
        if record["question"] == other["question"] or (record["chain"] == other["chain"] and record["k"] == other["k"]):
            return f"asked already: {other['question']}"
        if record["chain"][-1] == other["chain"][-1] and record["k"] == other["k"] and _alike(record, other) >= NEAR_DUPLICATE:
            return f"nearly the same as: {other['question']}"
    return None


def _alike(one: Record, other: Record) -> float:
    mine, theirs = set(norm(one["question"]).split()), set(norm(other["question"]).split())
    return len(mine & theirs) / len(mine | theirs)
