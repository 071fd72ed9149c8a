"""What the owner says outright: their words come in, a State in the same words and its relation to the States like it come out.

Not in the paper, whose agent only listens. No model writes anything here, and where a State is denied in its own words, or none is
like it, none is asked either. Whatever a statement is at odds with was true before it at best: that becomes a shift, judged by the owner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pgmem_local.construction.annotate import Annotation
from pgmem_local.construction.judge import Verdict, is_hopeless, judge_pairs
from pgmem_local.construction.pair import Neighbourhood, Pair, closest, unique
from pgmem_local.denial import DENIAL, denies
from pgmem_local.errors import ChangeRefused
from pgmem_local.graph.edges import Judgement, Relation
from pgmem_local.graph.nodes import Context, Kind, Node, NodeId, Polarity, RecallPriority, State
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.ports import ChatModel
from pgmem_local.settings import ConstructionSettings
from pgmem_local.words import keywords

OWNER = "owner"
"""The judge of what the owner decided, and of what follows from it."""


def statement(identifier: NodeId, context: Context, note: Annotation) -> State:
    """The State in the owner's words. It stays in view like any of high priority."""
    polarity = Polarity.NEGATIVE if denies(context.text) else Polarity.NEUTRAL
    return State(
        identifier,
        context.text,
        context.moment,
        note.keywords,
        note.domains,
        note.scope,
        RecallPriority.HIGH,
        polarity,
        stated=True,
    )


def said_before(graph: PersonaGraph, text: str) -> State | None:
    """The statement of the owner in these very words that still holds."""
    for node in graph.of_kind(Kind.STATE):
        if isinstance(node, State) and node.stated and _same_words(node.text, text) and not graph.replaced_by(node.id):
            return node
    return None


def correctable(graph: PersonaGraph, identifier: NodeId) -> Node:
    """The node, if it is a note that holds now. Raises UnknownNode or ChangeRefused."""
    node = graph[identifier]
    if node.kind not in (Kind.STATE, Kind.TRAIT):
        raise ChangeRefused(
            f"{identifier} is {_article(node.kind)}, which tells what was said; correct a note made from it (`pgmem why {identifier}`)"
            f" or forget it with `pgmem forget {identifier}`"
        )
    if newer := graph.replaced_by(identifier):
        raise ChangeRefused(f"{identifier} no longer holds: {newer[0]} took its place; correct that one")
    return node


def rivals(near: Neighbourhood, graph: PersonaGraph, state: State, settings: ConstructionSettings) -> list[Pair]:
    """The States that hold now and that a statement may be at odds with, the most alike."""
    alike = [
        *near.by_meaning(state, Kind.STATE, settings.state_top_by_meaning),
        *near.by_words(state, Kind.STATE, settings.state_top_by_words),
    ]
    pairs = unique(near.pairs(state, [other for other in alike if not graph.replaced_by(other.id)]))
    return closest([pair for pair in pairs if not is_hopeless(pair)], [state.id], settings.judged_at_once)


def settle(pair: Pair, state: State) -> Judgement | None:
    """What the words alone decide: the same subject affirmed and denied is a change, said alike it is support."""
    other = _other(pair, state)
    if not isinstance(other, State) or _subject(other) != _subject(state):
        return None
    denied = other.polarity is not state.polarity and Polarity.NEGATIVE in (other.polarity, state.polarity)
    return Judgement(other.id, state.id, Relation.SHIFT_TO if denied else Relation.SUPPORT, 1.0, OWNER)


def weigh(
    model: ChatModel, pairs: Sequence[Pair], state: State, decide: Callable[[ChatModel, Sequence[Pair]], list[Verdict]]
) -> list[Judgement]:
    """What the judge says of the other pairs; where it sees a conflict, the owner has the last word."""
    return [_owner_prevails(judgement, state.id) for judgement in judge_pairs(model, pairs, decide)]


def _owner_prevails(judgement: Judgement, state: NodeId) -> Judgement:
    if judgement.relation not in (Relation.CONTRADICT, Relation.SHIFT_TO):
        return judgement
    return correction(judgement.source if judgement.target == state else judgement.target, state)


def correction(old: NodeId, new: NodeId) -> Judgement:
    """The owner's word that one took the place of the other."""
    return Judgement(old, new, Relation.SHIFT_TO, 1.0, OWNER)


def _other(pair: Pair, state: State) -> Node:
    return pair.earlier if pair.later.id == state.id else pair.later


def _subject(state: State) -> frozenset[str]:
    return keywords(DENIAL.sub(" ", state.text.removeprefix("User ")))


def _same_words(one: str, other: str) -> bool:
    return one.split() == other.split()


def _article(kind: Kind) -> str:
    return "an episode" if kind is Kind.EPISODE else "a line of yours"
