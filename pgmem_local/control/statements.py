"""Remember, correct, pin and undo: each act of the owner is one transaction, noted so that it can be told and taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pgmem_local.construction import stating
from pgmem_local.construction.annotate import Annotation
from pgmem_local.construction.judge import judge_for
from pgmem_local.construction.pair import Neighbourhood, Pair
from pgmem_local.control import erasing
from pgmem_local.control.opened import Opened
from pgmem_local.conversation import Moment, Turn, entry_key
from pgmem_local.errors import ChangeRefused, ModelFileError
from pgmem_local.graph.acts import Act, Deed
from pgmem_local.graph.edges import Judgement, SourceEdge
from pgmem_local.graph.nodes import Context, Kind, Node, NodeId, State
from pgmem_local.ingest.secrets import mask_secrets
from pgmem_local.ingest.untrusted import clean
from pgmem_local.lesson import Lesson


def remember(memory: Opened, text: str, now: Moment) -> State:
    """A new statement, or a further source of one made in the same words before."""
    memory.refresh()
    context, note = _owners_words(memory, text, now)
    known = stating.said_before(memory.graph, context.text)
    if known is not None:
        _declare(memory, context, note, Lesson(sources=(SourceEdge(context.id, known.id),)), Act(Deed.REMEMBER, now, known.id))
        return known
    state = stating.statement(memory.store.next_id(Kind.STATE), context, note)
    judgements = _settle(memory, _rivals(memory, context, state, note), state)
    _declare(memory, context, note, _lesson(context, state, note, judgements), Act(Deed.REMEMBER, now, state.id))
    return state


def correct(memory: Opened, identifier: NodeId, text: str, now: Moment) -> State:
    """A statement in the place of a note."""
    memory.refresh()
    old = stating.correctable(memory.graph, identifier)
    context, note = _owners_words(memory, text, now)
    state = stating.statement(memory.store.next_id(Kind.STATE), context, note)
    lesson = _lesson(context, state, note, [stating.correction(old.id, state.id)])
    _declare(memory, context, note, lesson, Act(Deed.CORRECT, now, state.id, target=old.id))
    return state


def pin(memory: Opened, identifier: NodeId, now: Moment) -> Node:
    memory.refresh()
    node = memory.graph[identifier]
    if node.kind is Kind.CONTEXT:
        raise ChangeRefused(f"{identifier} is a line of yours; pin a note made from it, `pgmem why {identifier}` shows them")
    if identifier not in memory.graph.pinned:
        memory.store.record(Act(Deed.PIN, now, identifier))
        memory.refresh()
    return node


def unpin(memory: Opened, identifier: NodeId, now: Moment) -> Node:
    memory.refresh()
    node = memory.graph[identifier]
    if identifier in memory.graph.pinned:
        memory.store.record(Act(Deed.UNPIN, now, identifier))
        memory.refresh()
    return node


def undo(memory: Opened) -> str:
    """Take the last act back and say what it was."""
    memory.refresh()
    act = next(reversed(memory.store.acts()), None)
    if act is None or act.node is None:
        raise ChangeRefused(
            "nothing is left to undo: no statement, correction or pinning"
            if act is None
            else "the last thing you did was to forget, and what is forgotten cannot be brought back"
        )
    told = f"{act.deed.value} {act.node} taken back: {memory.graph[act.node].text}"
    if act.deed in (Deed.PIN, Deed.UNPIN):
        memory.store.take_back(act)
    elif act.context is not None:
        erasing.take_back(memory, act.context)
    memory.refresh()
    return told


def _owners_words(memory: Opened, text: str, now: Moment) -> tuple[Context, Annotation]:
    """A Context for a statement, without the secrets in it."""
    words = mask_secrets(clean(text)).text.strip()
    if not words:
        raise ChangeRefused("there are no words to remember; say what the memory should hold")
    note = memory.annotator.annotate([words])[0]
    identifier = memory.store.next_id(Kind.CONTEXT)
    return Context(identifier, words, now, note.keywords, note.domains, entry_key(Turn(words, now))), note


def _rivals(memory: Opened, context: Context, state: State, note: Annotation) -> list[Pair]:
    near = Neighbourhood(memory.graph, memory.vectors)
    near.add(state, note.vector, [context.id])
    return stating.rivals(near, memory.graph, state, memory.settings.construction)


def _settle(memory: Opened, pairs: Sequence[Pair], state: State) -> list[Judgement]:
    """How a statement goes together with the States like it. Where the words tell, no language model is asked; what is left open
    the next learning looks at, as at any new State."""
    told = [judgement for pair in pairs if (judgement := stating.settle(pair, state)) is not None]
    if told or not pairs:
        return told
    try:
        model = memory.model
    except ModelFileError:  # the next learning will say what is missing
        return []
    return stating.weigh(model, pairs, state, judge_for(model.identity))


def _lesson(context: Context, state: State, note: Annotation, judgements: Sequence[Judgement]) -> Lesson:
    return Lesson((state,), {state.id: note.vector}, (SourceEdge(context.id, state.id),), tuple(judgements))


def _declare(memory: Opened, context: Context, note: Annotation, lesson: Lesson, act: Act) -> None:
    memory.store.declare(context, note.vector, lesson, replace(act, context=context.id))
    memory.refresh()
