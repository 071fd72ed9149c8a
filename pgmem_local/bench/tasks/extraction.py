"""Task `extraction`: does a message reveal a State, and what is noted? Through `construction.extract`, with secrets masked as at ingest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Literal

from pgmem_local.bench.datasets.extraction import LabelledMessage, extraction_files, read_extraction
from pgmem_local.bench.datasets.files import spread
from pgmem_local.bench.journal import Build, Journal, Outcome
from pgmem_local.bench.scoring.extraction import Noted, has_forbidden, has_required, measure_extraction
from pgmem_local.bench.scoring.forms import norm
from pgmem_local.bench.scoring.intervals import Metrics
from pgmem_local.bench.workbench import Step, Workbench
from pgmem_local.construction.annotate import Annotator
from pgmem_local.construction.extract import ASSISTANT, Reading, Said, StateDraft, extract_states
from pgmem_local.errors import IngestError, ModelOutputInvalid
from pgmem_local.graph.nodes import Context, Kind, Polarity, RecallPriority, node_id
from pgmem_local.ingest.secrets import mask_secrets
from pgmem_local.ingest.untrusted import clean
from pgmem_local.ports import Spent
from pgmem_local.settings import ConstructionSettings
from pgmem_local.words import keywords

TOGETHER = 8
_FIRST_PERSON = re.compile(r"\b(?:i|me|my|we|our|i'm|i've|i'd|i'll)\b", re.IGNORECASE)

Drafts = Sequence[StateDraft] | None
"""What was noted of one message; None where the call failed."""


class Extraction:
    name: ClassVar[str] = "extraction"
    systems: ClassVar[tuple[str, ...]] = ("copy", "first-person", "pgmem")
    headline: ClassVar[tuple[str, ...]] = (
        "all_right", "has_state_f1", "has_state_precision", "has_state_recall", "required_mentions", "forbidden_mentions", "polarity",
        "priority", "priority_high_recall", "copies",
    )  # fmt: skip
    decisive: ClassVar[tuple[str, ...]] = ("all_right", "has_state_f1", "forbidden_mentions", "polarity", "priority")
    lower: ClassVar[frozenset[str]] = frozenset({"forbidden_mentions", "copies"})
    plain: ClassVar[tuple[str, ...]] = ("copy", "first-person")
    per: ClassVar[Literal["turn", "question"]] = "turn"
    checks: ClassVar[tuple[str, ...]] = ()
    item: ClassVar[str] = "message"

    def files(self, data: Path | None) -> list[Path]:
        return extraction_files(data)

    def read(self, raw: dict[str, Any]) -> Noted:
        return Noted(**raw)

    def measure(self, results: Sequence[Noted]) -> Metrics:
        return measure_extraction(results)

    def controls(self, bench: Workbench) -> Metrics:
        return {}

    def run(self, bench: Workbench, system: str, journal: Journal) -> Iterator[Build | Outcome]:
        if system not in _EXTRACTORS:
            raise IngestError(f"no extractor is called {system!r}; there are {', '.join(_EXTRACTORS)}")
        messages = spread(read_extraction(bench.options.data), bench.options.limit)
        missing = [message for message in messages if message.id not in journal.outcomes(system)]
        for start in range(0, len(missing), TOGETHER):
            group = missing[start : start + TOGETHER]
            bench.model.ledger.take()
            noted = _EXTRACTORS[system](bench, group)
            costs = [bench.model.ledger.total(), *[Spent()] * (len(group) - 1)]
            for message, drafts, spent in zip(group, noted, costs, strict=True):
                yield Outcome(message.id, asdict(score_notes(message, drafts)), spent)
            bench.report(Step(f"{system} reads messages", start + len(group), len(missing)))


def score_notes(message: LabelledMessage, drafts: Drafts) -> Noted:
    """Several notes on one message are read as one: it is high when any is, and the first gives the polarity."""
    expect = message.expect
    common = (message.id, message.trap, expect.about, expect.has_state)
    if not drafts:
        return Noted(*common, found=False, failed=drafts is None)
    note = " ".join(draft.text for draft in drafts)
    priority = RecallPriority.HIGH if any(draft.priority is RecallPriority.HIGH for draft in drafts) else RecallPriority.LOW
    return Noted(
        *common,
        found=True,
        note=note,
        required=has_required(note, expect.must_mention),
        forbidden=has_forbidden(f"{note} {' '.join(sorted(keywords(note)))}", expect.must_not_mention, message.trap),
        polarity_right=drafts[0].polarity is expect.polarity,
        priority_right=priority is expect.priority,
        priority_high=expect.priority is RecallPriority.HIGH,
        copied=norm(note).removeprefix("user ") == norm(message.message),
    )


def _ours(bench: Workbench, messages: Sequence[LabelledMessage]) -> list[Drafts]:
    """A failed call fails its message alone: the group is asked again one by one."""
    readings = [_reading(message, place) for place, message in enumerate(messages, 1)]
    try:
        return list(extract_states(bench.model, Annotator(bench.embedder), readings, ConstructionSettings()))
    except ModelOutputInvalid:
        return [None] if len(messages) == 1 else [drafts for message in messages for drafts in _ours(bench, [message])]


def _reading(message: LabelledMessage, number: int) -> Reading:
    text = mask_secrets(clean(message.message)).text
    context = Context(node_id(Kind.CONTEXT, number), text, None, keywords(text), frozenset(), message.id)
    return Reading(context, Said(ASSISTANT, message.before) if message.before else None)


def _copy(bench: Workbench, messages: Sequence[LabelledMessage]) -> list[Drafts]:
    """The floor: every message is a State, in its own words."""
    return [[_own_words(message)] for message in messages]


def _first_person(bench: Workbench, messages: Sequence[LabelledMessage]) -> list[Drafts]:
    """The floor that looks for I, me, my, we, our."""
    return [[_own_words(message)] if _FIRST_PERSON.search(message.message.replace("’", "'")) else [] for message in messages]


def _own_words(message: LabelledMessage) -> StateDraft:
    return StateDraft(message.message, RecallPriority.LOW, Polarity.NEGATIVE, message.message)


_EXTRACTORS: dict[str, Callable[[Workbench, Sequence[LabelledMessage]], list[Drafts]]] = {
    "copy": _copy,
    "first-person": _first_person,
    "pgmem": _ours,
}
