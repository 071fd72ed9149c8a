"""Memory graph construction (PGMem, Algorithm 1): extract, pair, judge. Each function returns the lesson of one step.

Contexts are learned a few at a time so that their prompts are decoded together; their lessons still land one by one, in order.
Departure: a State nearly identical to an older one adds a source to it instead of a node (ten repeats of a remark are one State),
unless another has taken its place meanwhile: who moves away and comes back says something new.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgmem_local.construction.annotate import Annotation
from pgmem_local.construction.desk import Desk
from pgmem_local.construction.extract import Reading, StateDraft, TraitDraft, extract_episode, extract_states, extract_trait
from pgmem_local.construction.judge import judge_pairs
from pgmem_local.construction.pair import (
    Neighbourhood,
    Pair,
    by_time,
    closest,
    distant_pairs,
    local_episode_pairs,
    local_state_pairs,
    local_trait_pairs,
    unique,
)
from pgmem_local.denial import denies
from pgmem_local.graph.edges import Judgement, Relation, SourceEdge
from pgmem_local.graph.nodes import Context, Episode, Kind, Node, NodeId, Polarity, State, Trait
from pgmem_local.lesson import Lesson
from pgmem_local.ports import Vectors

SAME_COSINE = 0.93
"""Two States this close, of the same words and neither of them a denial, or both, are one State said twice."""


def learn_contexts(desk: Desk, readings: Sequence[Reading]) -> list[Lesson]:
    """What each Context teaches: its States, their source edges, and their relation to the States nearest in time."""
    drafts = extract_states(desk.model, desk.annotator, readings, desk.settings)
    annotations = iter(desk.annotator.annotate([draft.dated for group in drafts for draft in group]))
    near = Neighbourhood(desk.graph, desk.vectors)
    window = _Window(desk, near, [])
    for reading, group in zip(readings, drafts, strict=True):
        window.made.append(_Made(reading.context))
        for draft in group:
            _take_state(window, draft, next(annotations))
    window.judge()
    return [one.lesson(window.judgements) for one in window.made]


class _Window:
    """Contexts learned together: what each has led to so far, and what is judged of it."""

    def __init__(self, desk: Desk, near: Neighbourhood, made: list[_Made]) -> None:
        self.desk, self.near, self.made = desk, near, made
        self.judgements: dict[frozenset[NodeId], Judgement] = {}

    def judge(self) -> None:
        """Judge the pairs found since the last time."""
        found = unique(pair for one in self.made for pair in one.pairs)
        self.judgements |= _judged(self.desk, [pair for pair in found if pair.ids not in self.judgements])

    def known(self, state: State) -> State | None:
        """The State that says the same already, unless another took its place before this one was said."""
        for other in self.near.by_meaning(state, Kind.STATE, 3):
            if isinstance(other, State) and _says_the_same(self.near, state, other) and not self._replaced_before(state, other):
                return other
        return None

    def _replaced_before(self, state: State, other: State) -> bool:
        self.judge()
        fresh = [j.target for j in self.judgements.values() if j.relation is Relation.SHIFT_TO and j.source == other.id]
        newer = (self.near.node(one) for one in (*self.desk.graph.replaced_by(other.id), *fresh))
        return any(by_time(one) <= by_time(state) for one in newer)


class _Made:
    """What one Context has led to so far."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.nodes: list[Node] = []
        self.vectors: dict[NodeId, Vectors] = {}
        self.sources: list[SourceEdge] = []
        self.pairs: list[Pair] = []

    def lesson(self, judgements: dict[frozenset[NodeId], Judgement]) -> Lesson:
        mine = [judgements[pair.ids] for pair in self.pairs]
        return Lesson(tuple(self.nodes), self.vectors, tuple(self.sources), tuple(mine), learned=(self.context.id,))


def _take_state(window: _Window, draft: StateDraft, note: Annotation) -> None:
    """A new State, or a further source of one already known."""
    desk, near, made = window.desk, window.near, window.made[-1]
    context = made.context
    state = State(
        desk.new_id(Kind.STATE), draft.dated, context.moment, note.keywords, note.domains, note.scope, draft.priority, draft.polarity
    )
    near.add(state, note.vector, [context.id])
    known = window.known(state)
    if known is not None:
        near.forget(state.id)
        if context.id not in near.origins(known.id):
            made.sources.append(SourceEdge(context.id, known.id))
        return
    made.nodes.append(state)
    made.vectors[state.id] = note.vector
    made.sources.append(SourceEdge(context.id, state.id))
    chosen = closest(local_state_pairs(near, state, desk.settings), [state.id], desk.settings.judged_at_once, desk.settings.judged_from)
    made.pairs = unique([*made.pairs, *chosen])


def _says_the_same(near: Neighbourhood, state: State, other: State) -> bool:
    """The model's polarity wavers between neutral and positive for one and the same note, so only a negative one tells two apart."""
    if state.text.casefold() == other.text.casefold():
        return True
    alike = float(near.vector(state.id) @ near.vector(other.id)) >= SAME_COSINE
    return alike and other.keywords == state.keywords and denies(other.text) == denies(state.text) and _of_one_side(state, other)


def _of_one_side(state: State, other: State) -> bool:
    return (state.polarity is Polarity.NEGATIVE) == (other.polarity is Polarity.NEGATIVE)


def close_chunk(desk: Desk, chunk: int, contexts: Sequence[Context]) -> Lesson:
    """The Episode of a chunk and its relation to the previous one."""
    text = extract_episode(desk.model, contexts, desk.settings)
    if not text:
        return Lesson(closes=chunk)
    note = desk.annotator.annotate([text])[0]
    last = max(contexts, key=by_time)
    episode = Episode(desk.new_id(Kind.EPISODE), text, last.moment, note.keywords, note.domains)
    near = Neighbourhood(desk.graph, desk.vectors)
    near.add(episode, note.vector, [context.id for context in contexts])
    judgements = _judged(desk, local_episode_pairs(near, episode))
    sources = tuple(SourceEdge(context.id, episode.id) for context in contexts)
    return Lesson((episode,), {episode.id: note.vector}, sources, tuple(judgements.values()), closes=chunk)


def consolidate(desk: Desk, contexts: Sequence[Context]) -> Lesson:
    """Every B chunks: at most one Trait from what came since, then the offline pass over distant pairs that touch a new node."""
    states = derived_from(desk, contexts, Kind.STATE)
    episodes = derived_from(desk, contexts, Kind.EPISODE)
    near = Neighbourhood(desk.graph, desk.vectors)
    nodes: list[Node] = []
    vectors: dict[NodeId, Vectors] = {}
    sources: list[SourceEdge] = []
    pairs: list[Pair] = []
    draft = extract_trait(desk.model, _trait_notes(near, states, desk), desk.settings)
    if draft is not None:
        note = desk.annotator.annotate([draft.text])[0]
        known = _same_trait(near, note)
        if known is not None:
            sources = [SourceEdge(w.id, known.id) for w in draft.witnesses if w.id not in desk.graph.sources(known.id)]
        else:
            trait = _new_trait(desk, draft, note)
            near.add(trait, note.vector, [c for witness in draft.witnesses for c in near.origins(witness.id)])
            nodes, vectors = [trait], {trait.id: note.vector}
            sources = [SourceEdge(witness.id, trait.id) for witness in draft.witnesses]
            pairs = local_trait_pairs(near, trait, [*states, *episodes])
    new = [*nodes, *states]
    pairs = unique([*pairs, *distant_pairs(near, new, desk.settings)])
    pairs = closest(pairs, [node.id for node in new], desk.settings.judged_offline, desk.settings.judged_from, sure=1)
    return Lesson(tuple(nodes), vectors, tuple(sources), tuple(_judged(desk, pairs).values()), consolidates=True)


def _new_trait(desk: Desk, draft: TraitDraft, note: Annotation) -> Trait:
    last = max(draft.witnesses, key=by_time)
    return Trait(desk.new_id(Kind.TRAIT), draft.text, last.moment, note.keywords, note.domains)


def _same_trait(near: Neighbourhood, note: Annotation) -> Node | None:
    for other in near.of_kind(Kind.TRAIT):
        if float(note.vector @ near.vector(other.id)) >= SAME_COSINE:
            return other
    return None


def _trait_notes(near: Neighbourhood, states: Sequence[Node], desk: Desk) -> list[Node]:
    """The new States with the older ones most like them: a disposition shows over time, not within two days."""
    older = {other.id: other for state in states for other in near.by_meaning(state, Kind.STATE, 2)}
    return sorted({**older, **{state.id: state for state in states}}.values(), key=by_time)


def derived_from(desk: Desk, contexts: Sequence[Context], kind: Kind) -> list[Node]:
    """The nodes of a kind made from these Contexts, each once, in order."""
    ids = dict.fromkeys(i for context in contexts for i in desk.graph.derived(context.id))
    return [node for node in (desk.graph[i] for i in ids) if node.kind is kind]


def _judged(desk: Desk, pairs: Sequence[Pair]) -> dict[frozenset[NodeId], Judgement]:
    judgements = judge_pairs(desk.model, pairs, desk.decide)
    return {frozenset((judgement.source, judgement.target)): judgement for judgement in judgements}
