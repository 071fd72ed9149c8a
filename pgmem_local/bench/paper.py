"""System `pgmem-paper`: PGMem's construction as its paper has it (Algorithm 1, appendix B), over the same store, model and answer.

One JSON answer a turn extracts at most one State and writes all its fields; every chunk is summarised; a Trait is believed as written
and rests on all it was inferred from; every candidate pair is judged by JSON, without a gate. An edge has no probability but 1, so that
validity counts paths (equation 9), and what is superseded is dropped instead of shown as history. Left open by the paper and taken as
ours: C, α, the prompts' words. Departure: an answer that is cut off counts as nothing found; the paper asks again with a temperature.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pgmem_local.bench.json_judge import judge_in_json
from pgmem_local.bench.prompts import load
from pgmem_local.construction.desk import Desk
from pgmem_local.construction.extract import Reading
from pgmem_local.construction.pair import (
    Neighbourhood,
    Pair,
    by_time,
    distant_pairs,
    local_state_pairs,
    local_trait_pairs,
    unique,
)
from pgmem_local.construction.pipeline import derived_from
from pgmem_local.errors import ModelOutputInvalid
from pgmem_local.graph.edges import Judgement, Relation, SourceEdge
from pgmem_local.graph.nodes import Context, Episode, Kind, Node, RecallPriority, Scope, State, Trait
from pgmem_local.lesson import Lesson
from pgmem_local.ports import ChatModel, Vectors
from pgmem_local.prompts import one_line
from pgmem_local.settings import AssembleSettings, ConstructionSettings, PeopleSettings, RetrievalSettings, Weighing
from pgmem_local.words import keywords

RETRIEVAL = RetrievalSettings(assemble=AssembleSettings(changed_states=0, weighing=Weighing.COUNTED, fading=None))
PEOPLE = PeopleSettings(enabled=False)
CONSTRUCTION = ConstructionSettings(trait_interval=2)
"""Profiles of others are another paper's."""
PRIOR_EXCHANGES = 3
"""Exchanges before a turn that help to understand it."""
WRITTEN_TOKENS = 400
"""Room for one node as JSON; with the schema's bounds nothing an English text needs is cut."""
LABELS = 8
JUDGE = "json"


@dataclass(frozen=True)
class Draft:
    """A node as the model wrote it."""

    text: str
    keywords: frozenset[str]
    domains: frozenset[str]
    scope: Scope
    priority: RecallPriority = RecallPriority.LOW


class EveryPair(Neighbourhood):
    """Candidates as the paper pairs them: an Episode or a Trait also with what it was made from."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.graph, desk.vectors)
        self._judged = desk.graph.judged

    def pair(self, one: Node, other: Node) -> Pair | None:
        if one.id == other.id or self._judged(one.id, other.id):
            return None
        earlier, later = sorted((one, other), key=by_time)
        return Pair(earlier, later, float(self.vector(one.id) @ self.vector(other.id)))


# ------------------------------------------------------------------ the three steps


def learn_contexts(desk: Desk, readings: Sequence[Reading]) -> list[Lesson]:
    """Lines 4 to 11: at most one State a turn, judged against the most recent ones."""
    near = EveryPair(desk)
    return [_learn(desk, near, reading.context) for reading in readings]


def _learn(desk: Desk, near: EveryPair, context: Context) -> Lesson:
    draft = _extract_state(desk, context)
    if draft is None:
        return Lesson(learned=(context.id,))
    state = State(
        desk.new_id(Kind.STATE), draft.text, context.moment, draft.keywords, draft.domains, draft.scope, draft.priority
    )
    vector = _embedded(desk, near, state, [context])
    judgements = _judged(desk, local_state_pairs(near, state, desk.settings))
    return Lesson((state,), {state.id: vector}, (SourceEdge(context.id, state.id),), judgements, learned=(context.id,))


def close_chunk(desk: Desk, chunk: int, contexts: Sequence[Context]) -> Lesson:
    """Lines 13 to 17: the chunk's summary, judged against the Episode before it and the chunk's States."""
    draft = _written(desk.model, "paper_episode", {"conversation": _talk(contexts)}, _only("episode", _EVENT))
    if draft is None:
        return Lesson(closes=chunk)
    last = max(contexts, key=by_time)
    episode = Episode(desk.new_id(Kind.EPISODE), draft.text, last.moment, draft.keywords, draft.domains, draft.scope)
    near = EveryPair(desk)
    vector = _embedded(desk, near, episode, contexts)
    before = near.nearest_in_time(episode, Kind.EPISODE, 1)
    judgements = _judged(desk, near.pairs(episode, [*before, *derived_from(desk, contexts, Kind.STATE)]))
    sources = tuple(SourceEdge(context.id, episode.id) for context in contexts)
    return Lesson((episode,), {episode.id: vector}, sources, judgements, closes=chunk)


def consolidate(desk: Desk, contexts: Sequence[Context]) -> Lesson:
    """Lines 19 to 29: at most one Trait from the last B chunks, then the offline pass over distant pairs that touch what is new."""
    near = EveryPair(desk)
    states, episodes = (derived_from(desk, contexts, kind) for kind in (Kind.STATE, Kind.EPISODE))
    draft = _written(desk.model, "paper_trait", {"conversations": _talk(contexts)}, _at_most_one("traits", _EVENT))
    if draft is None:
        return Lesson(judgements=_judged(desk, _distant(desk, near, states, episodes)), consolidates=True)
    last = max(contexts, key=by_time)
    trait = Trait(desk.new_id(Kind.TRAIT), draft.text, last.moment, draft.keywords, draft.domains, draft.scope)
    vector = _embedded(desk, near, trait, contexts)
    pairs = unique([*local_trait_pairs(near, trait, [*states, *episodes]), *_distant(desk, near, [trait, *states], episodes)])
    sources = tuple(SourceEdge(source.id, trait.id) for source in (*contexts, *states, *episodes))
    return Lesson((trait,), {trait.id: vector}, sources, _judged(desk, pairs), consolidates=True)


def _distant(desk: Desk, near: EveryPair, new: Sequence[Node], episodes: Sequence[Node]) -> list[Pair]:
    found = distant_pairs(near, new, desk.settings)
    for episode in episodes:
        found += near.pairs(episode, near.by_meaning(episode, Kind.STATE, desk.settings.episode_top_by_meaning))
        found += near.pairs(episode, near.by_words(episode, Kind.STATE, desk.settings.episode_top_by_words))
    return unique(found)


def _embedded(desk: Desk, near: EveryPair, node: Node, contexts: Iterable[Context]) -> Vectors:
    vector = desk.annotator.annotate([node.text])[0].vector
    near.add(node, vector, [context.id for context in contexts])
    return vector


def _judged(desk: Desk, pairs: Sequence[Pair]) -> tuple[Judgement, ...]:
    relations = judge_in_json(desk.model, pairs)
    return tuple(
        Judgement(pair.earlier.id, pair.later.id, relation or Relation.IRRELEVANT, 1.0, JUDGE)
        for pair, relation in zip(pairs, relations, strict=True)
    )


# ------------------------------------------------------------------ what the model writes

_LIST = {"type": "array", "items": {"type": "string", "maxLength": 24}, "maxItems": LABELS}
_EVENT: Mapping[str, Any] = {
    "content": {"type": "string", "maxLength": 400},
    "keywords": _LIST,
    "domain_labels": _LIST,
    "scope": {"enum": ["NARROW", "BROAD"]},
}
_STATE: Mapping[str, Any] = {**_EVENT, "recall_priority": {"enum": ["HIGH", "LOW"]}}


def _extract_state(desk: Desk, context: Context) -> Draft | None:
    values = {"prior": _talk(_prior(desk, context)), "reply": context.reply or "(none)", "utterance": context.text}
    return _written(desk.model, "paper_state", values, _at_most_one("states", _STATE))


def _prior(desk: Desk, context: Context) -> list[Context]:
    """The exchanges before one in its session; a diary's entries have none."""
    moment = context.moment
    if context.session is None or moment is None:
        return []
    others = (node for node in desk.graph.of_kind(Kind.CONTEXT) if isinstance(node, Context) and node.session == context.session)
    return sorted((other for other in others if other.moment and other.moment < moment), key=by_time)[-PRIOR_EXCHANGES:]


def _talk(contexts: Sequence[Context]) -> str:
    return "\n".join(_exchange(context) for context in contexts) or "(none)"


def _exchange(context: Context) -> str:
    reply = f"\nAssistant: {one_line(context.reply)}" if context.reply else ""
    return f"User: {one_line(context.text)}{reply}"


def _written(model: ChatModel, name: str, values: Mapping[str, str], schema: dict[str, Any]) -> Draft | None:
    """The one node that an answer holds; None for an empty answer, an empty note and one that was cut off."""
    task = load(name)
    room = (model.room(task.head, WRITTEN_TOKENS) - model.count(task.tail)) // len(values)
    prompt = task.ask({slot: _newest(model, text, room) for slot, text in values.items()})
    try:
        (found,) = model.write_json(prompt, schema, WRITTEN_TOKENS).values()
    except ModelOutputInvalid:
        return None
    raw = found if isinstance(found, dict) else next(iter(found), None)
    return _draft(raw) if raw and raw["content"].strip() else None


def _newest(model: ChatModel, text: str, tokens: int) -> str:
    """The end of a text that has room."""
    while model.count(text) > tokens and len(text) > 1:
        text = text[len(text) // 4 + 1 :]
    return text


def _draft(raw: Mapping[str, Any]) -> Draft:
    words, labels = (keywords(" ".join(raw[field])) for field in ("keywords", "domain_labels"))
    priority = RecallPriority(raw.get("recall_priority", "LOW").lower())
    return Draft(one_line(raw["content"]), words, labels, Scope(raw["scope"].lower()), priority)


def _only(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    return _object({name: _object(fields)})


def _at_most_one(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    return _object({name: {"type": "array", "items": _object(fields), "maxItems": 1}})


def _object(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(fields), "required": list(fields), "additionalProperties": False}
