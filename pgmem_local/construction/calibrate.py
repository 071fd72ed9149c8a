"""Fits the heads of a model: its log-odds on the labelled pairs and messages in `heads/` -> `heads/MODEL.PART.json`.

The labelled data were written for fitting; none of their texts stands in the benchmark's, which stay for testing, though topics recur.
Eleven minutes for a 1.5B model on two cores, beside other work.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timezone
from importlib import resources
from typing import Any

import numpy as np

from pgmem_local.construction import judge, reveal
from pgmem_local.construction.annotate import Annotation, Annotator
from pgmem_local.construction.logistic import Floats, LogisticHead, fit
from pgmem_local.construction.pair import Pair
from pgmem_local.conversation import Moment
from pgmem_local.graph.edges import Relation
from pgmem_local.graph.nodes import Episode, Kind, Node, Polarity, RecallPriority, State, Trait, node_id
from pgmem_local.ports import ChatModel
from pgmem_local.prompts import one_line

TOGETHER = 10
"""Items read between two reports."""
JUDGE_PENALTY, REVEAL_PENALTY = 4.0, 12.0
"""Ridge penalties: the glance sees more features than the judge, from fewer items."""

Report = Callable[[int, int], None]


def calibrate(model: ChatModel, annotator: Annotator, report: Report = lambda done, total: None) -> list[LogisticHead]:
    """The four heads of a model: `judge`, `reveals`, `polarity`, `priority`. Reports items read and items in all."""
    pairs, messages = _labelled("pairs"), _labelled("messages")
    total = len(pairs) + len(messages)
    heads = [fit_judge(model, annotator, pairs, lambda done: report(done, total))]
    return heads + fit_reveal(model, annotator, messages, lambda done: report(len(pairs) + done, total))


def _labelled(name: str) -> list[dict[str, Any]]:
    text = resources.files(__package__).joinpath("heads").joinpath(f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _in_parts(items: Sequence[Any], report: Callable[[int], None]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), TOGETHER):
        yield items[start : start + TOGETHER]
        report(min(start + TOGETHER, len(items)))


def fit_judge(
    model: ChatModel, annotator: Annotator, labelled: Sequence[dict[str, Any]], report: Callable[[int], None]
) -> LogisticHead:
    pairs = labelled_pairs(annotator, labelled)
    odds = np.concatenate([judge.probe(model, part) for part in _in_parts(pairs, report)])
    labels = np.array([judge.RELATIONS.index(Relation(item["label"])) for item in labelled])
    return fit(f"{model.identity}.judge", judge.features(pairs, odds), labels, len(judge.RELATIONS), JUDGE_PENALTY)


def labelled_pairs(annotator: Annotator, labelled: Sequence[dict[str, Any]]) -> list[Pair]:
    """Labelled records as the judge sees them."""
    earlier = annotator.annotate([item["earlier"] for item in labelled])
    later = annotator.annotate([item["later"] for item in labelled])
    return [
        Pair(_node(item, "earlier", 2 * i + 1, one), _node(item, "later", 2 * i + 2, other), float(one.vector @ other.vector))
        for i, (item, one, other) in enumerate(zip(labelled, earlier, later, strict=True))
    ]


def _node(item: dict[str, Any], side: str, number: int, note: Annotation) -> Node:
    kind = Kind(item[f"{side}_type"])
    moment = Moment(datetime.fromisoformat(item[f"{side}_date"]).replace(tzinfo=timezone.utc))
    make: type[State] | type[Trait] | type[Episode] = {Kind.STATE: State, Kind.TRAIT: Trait, Kind.EPISODE: Episode}[kind]
    return make(node_id(kind, number), item[side], moment, note.keywords, note.domains)


def fit_reveal(
    model: ChatModel, annotator: Annotator, labelled: Sequence[dict[str, Any]], report: Callable[[int], None]
) -> list[LogisticHead]:
    """Heads for whether an utterance reveals a State, and for polarity and priority, which only those with one teach."""
    spoken = [reveal.Spoken(one_line(item["before"] or ""), one_line(item["message"])) for item in labelled]
    scores = np.concatenate([reveal.probe(model, part) for part in _in_parts(spoken, report)])
    seen = reveal.features(spoken, scores, annotator)
    has_state = np.array([item["has_state"] for item in labelled])
    stated = [item for item in labelled if item["has_state"]]
    return [
        _reveal_head(model, "reveals", seen, [int(not item["has_state"]) for item in labelled], 2),
        _reveal_head(model, "polarity", seen[has_state], [list(Polarity).index(Polarity(i["polarity"])) for i in stated], 3),
        _reveal_head(model, "priority", seen[has_state], [list(RecallPriority).index(RecallPriority(i["priority"])) for i in stated], 2),
    ]


def _reveal_head(model: ChatModel, part: str, seen: Floats, labels: Sequence[int], count: int) -> LogisticHead:
    return fit(f"{model.identity}.{part}", seen, np.array(labels), count, REVEAL_PENALTY)
