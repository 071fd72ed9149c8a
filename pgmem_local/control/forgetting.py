"""What forgetting takes with it: a graph and a selection come in, a plan comes out. Pure: nothing is removed here.

A line goes with every note that rests on it alone. A note with other sources stays, unless it says what only the forgotten line said;
its other lines are then read again. An Episode is told anew from what stays. A Trait stays on two witnesses that hold all it says.
What had been replaced by a note that goes is not thereby true again where a later note still stands in its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise

from pgmem_local.construction.extract import TRAIT_WITNESSES
from pgmem_local.construction.pair import by_time
from pgmem_local.control.traces import mentions, patterns
from pgmem_local.conversation import Moment
from pgmem_local.errors import ChangeRefused
from pgmem_local.graph.edges import Judgement, Relation
from pgmem_local.graph.nodes import Context, Episode, Kind, Node, NodeId, State, Trait, number_of
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.words import folded, keywords

BRIDGE = "bridge"
"""The judge of a shift that leads over a forgotten node."""

Retell = Callable[[Sequence[Context]], "str | None"]
"""An Episode's text from its Contexts, or None where that takes the language model."""


@dataclass(frozen=True)
class Selection:
    """What to forget: everything that meets all that is given.

    text: a term, in any case. entity: a name, as a whole word. since, until: days of the writer's clock, both included.
    source: a file as it was ingested, or its name alone; lines that came from another file as well stay.
    """

    ids: tuple[NodeId, ...] = ()
    text: str | None = None
    entity: str | None = None
    since: date | None = None
    until: date | None = None
    source: str | None = None
    everything: bool = False

    def __post_init__(self) -> None:
        terms = [term for term in (self.text, self.entity) if term is not None]
        if any(not term.strip() for term in terms):
            raise ChangeRefused("an empty term would mean everything; name what to forget, or use --everything")
        if not (self.everything or self.ids or terms or self.since or self.until or self.source):
            raise ChangeRefused("say what to forget: ids, --text, --entity, --since, --until, --source or --everything")

    @property
    def terms(self) -> tuple[str, ...]:
        return tuple(term for term in (self.text, self.entity) if term is not None)


@dataclass(frozen=True)
class Retelling:
    """An Episode of lines that go and lines that stay. `text` is None where the model must tell it anew, when it next learns."""

    old: Episode
    contexts: tuple[Context, ...]
    text: str | None


@dataclass(frozen=True)
class ForgetPlan:
    """What goes, what is rewritten, and what that does to the rest.

    holds_again: notes that nothing replaces any more. traces: patterns of words to be taken out of the files beside the database.
    files: paths that go too. judgements: pairs judged of which a node goes. entities, facts, sentences, names: what is known of others,
    and what the owner calls them. reject_lines, history_lines: entries of those files that go.
    """

    selection: Selection
    removed: tuple[Node, ...] = ()
    retold: tuple[Retelling, ...] = ()
    pending_again: tuple[NodeId, ...] = ()
    redated: Mapping[NodeId, Moment | None] = field(default_factory=dict)
    bridges: tuple[Judgement, ...] = ()
    holds_again: tuple[Node, ...] = ()
    traces: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    judgements: int = 0
    entities: int = 0
    facts: int = 0
    sentences: int = 0
    names: int = 0
    reject_lines: int = 0
    history_lines: int = 0

    def of_kind(self, kind: Kind) -> tuple[Node, ...]:
        """The nodes of a kind that go, without Episodes that are told anew."""
        anew = {retelling.old.id for retelling in self.retold}
        return tuple(node for node in self.removed if node.kind is kind and node.id not in anew)

    def __bool__(self) -> bool:
        beside_nodes = (self.entities, self.facts, self.sentences, self.names, self.reject_lines, self.history_lines)
        return self.selection.everything or bool(self.removed) or any(beside_nodes)


def plan_forgetting(
    graph: PersonaGraph, selection: Selection, files: Mapping[NodeId, frozenset[str]], retell: Retell
) -> ForgetPlan:
    """The plan. Raises UnknownNode for a named node that is not there."""
    if selection.everything:
        everyone = tuple(node for kind in Kind for node in graph.of_kind(kind))
        return ForgetPlan(selection, everyone, judgements=graph.judged_pairs({node.id for node in everyone}))
    fall = _Fall(graph, choose(graph, selection, files), frozenset(selection.ids))
    fall.take_states()
    fall.take_episodes(retell)
    fall.take_traits()
    removed = fall.removed()
    return ForgetPlan(
        selection,
        removed,
        tuple(fall.retold),
        tuple(sorted(fall.again - fall.gone, key=number_of)),
        fall.redated,
        tuple(_bridges(graph, fall.gone)),
        tuple(_holding_again(graph, fall.gone)),
        patterns(selection.text, selection.entity, removed),
        _whole_files(selection, files),
        graph.judged_pairs(fall.gone),
    )


# ------------------------------------------------------------------ what is meant


def choose(graph: PersonaGraph, selection: Selection, files: Mapping[NodeId, frozenset[str]]) -> set[NodeId]:
    """The nodes a selection means. Notes are meant by id or by their words; times and files are those of lines."""
    named = [graph[identifier] for identifier in selection.ids]
    by_words = selection.ids or selection.terms
    kinds = Kind if by_words and selection.source is None else (Kind.CONTEXT,)
    candidates = named or [node for kind in kinds for node in graph.of_kind(kind)]
    return {node.id for node in candidates if _is_meant(node, selection, files)}


def _is_meant(node: Node, selection: Selection, files: Mapping[NodeId, frozenset[str]]) -> bool:
    in_time = (selection.since is None and selection.until is None) or _is_between(node, selection.since, selection.until)
    words = "\n".join(_texts(node))
    return (
        in_time
        and (selection.text is None or folded(selection.text) in folded(words))
        and (selection.entity is None or mentions(words, selection.entity))
        and (selection.source is None or _is_from(files.get(node.id, frozenset()), selection.source))
    )


def _is_between(node: Node, since: date | None, until: date | None) -> bool:
    if node.moment is None:
        return False
    day = node.moment.day
    return (since is None or since <= day) and (until is None or day <= until)


def _is_from(paths: frozenset[str], source: str) -> bool:
    """Whether a line came from this file and from no other."""
    return bool(paths) and all(path == source or re.split(r"[\\/]", path)[-1] == source for path in paths)


def _whole_files(selection: Selection, files: Mapping[NodeId, frozenset[str]]) -> tuple[str, ...]:
    """The files meant as a whole: of them nothing stays but lines that are found elsewhere too."""
    if selection.source is None or selection != Selection(source=selection.source):
        return ()
    paths = {path for found in files.values() for path in found}
    return tuple(sorted(path for path in paths if _is_from(frozenset({path}), selection.source)))


def _texts(node: Node) -> list[str]:
    """All words of a node that came from outside or were made from them."""
    if isinstance(node, Context):
        return [text for text in (node.text, node.reply, node.author, node.session) if text]
    return [node.text]


# ------------------------------------------------------------------ what goes with it


class _Fall:
    """What goes, as it grows: first what was chosen, then States, Episodes and Traits that cannot stay without it."""

    def __init__(self, graph: PersonaGraph, chosen: Iterable[NodeId], named: frozenset[NodeId]) -> None:
        self._graph = graph
        self._named = named
        self.gone = set(chosen)
        self.again: set[NodeId] = set()
        self.redated: dict[NodeId, Moment | None] = {}
        self.retold: list[Retelling] = []

    def removed(self) -> tuple[Node, ...]:
        return tuple(node for kind in Kind for node in self._graph.of_kind(kind) if node.id in self.gone)

    def take_states(self) -> None:
        for state in self._affected(Kind.STATE):
            lost, left = self._parted(self._sources(state))
            answered_lost, answered_left = self._parted(self._before(left))
            if not left or state.id in self.gone:
                self._take(state, left if lost else ())
            elif self._says_what_is_lost(state, [*lost, *answered_lost], [*left, *answered_left]):
                self._take(state, left)
            elif isinstance(state, State) and lost:
                self._redate(state, min(left, key=by_time).moment)

    def _take(self, state: Node, read_again: Sequence[Node]) -> None:
        """A note that goes; its other lines are read again, unless the owner named the note itself."""
        self.gone.add(state.id)
        if state.id not in self._named:
            self.again.update(source.id for source in read_again)

    def take_episodes(self, retell: Retell) -> None:
        for episode in self._affected(Kind.EPISODE):
            lost, left = self._parted(self._sources(episode))
            self.gone.add(episode.id)
            if lost and left and episode.id not in self._named and isinstance(episode, Episode):
                contexts = tuple(node for node in sorted(left, key=by_time) if isinstance(node, Context))
                self.retold.append(Retelling(episode, contexts, retell(contexts)))

    def take_traits(self) -> None:
        for trait in self._affected(Kind.TRAIT):
            lost, left = self._parted(self._sources(trait))
            if trait.id in self.gone or len(left) < TRAIT_WITNESSES or self._says_what_is_lost(trait, lost, left):
                self.gone.add(trait.id)
            elif isinstance(trait, Trait):
                self._redate(trait, max(left, key=by_time).moment)

    def _affected(self, kind: Kind) -> list[Node]:
        """The notes of a kind that were chosen, lost a source, or may rest on what was said just before one of their sources."""
        after = self._after_gone() if kind is Kind.STATE else set()
        reached = {d for g in (*self.gone, *after) for d in self._graph.derived(g)} | self.gone
        return [node for node in self._graph.of_kind(kind) if node.id in reached]

    def _after_gone(self) -> set[NodeId]:
        """The lines said right after one that goes: what they answered may stand in the notes on them."""
        sessions = {node.session for g in self.gone if isinstance(node := self._graph[g], Context) and node.session is not None}
        steps = (step for session in sessions for step in self._steps(session))
        return {later.id for earlier, later in steps if earlier.id in self.gone}

    def _before(self, nodes: Iterable[Node]) -> list[Node]:
        """The lines right before these, in their sessions."""
        lines = {node.id: node.session for node in nodes if isinstance(node, Context) and node.session is not None}
        steps = (step for session in set(lines.values()) for step in self._steps(session))
        return [earlier for earlier, later in steps if later.id in lines]

    def _steps(self, session: str) -> Iterator[tuple[Context, Context]]:
        """Each line of a session with the next."""
        return pairwise(sorted((one for one in self._graph.of_session(session) if one.moment), key=by_time))

    def _sources(self, node: Node) -> list[Node]:
        return [self._graph[source] for source in self._graph.sources(node.id)]

    def _parted(self, nodes: Sequence[Node]) -> tuple[list[Node], list[Node]]:
        """Those that go, and those that stay."""
        return [node for node in nodes if node.id in self.gone], [node for node in nodes if node.id not in self.gone]

    def _says_what_is_lost(self, node: Node, lost: Sequence[Node], left: Sequence[Node]) -> bool:
        """Whether a note holds a word that stood in what goes and in nothing that stays."""
        return bool(keywords(node.text.removeprefix("User ")) & _words(self._grounds(lost)) - _words(self._grounds(left)))

    def _grounds(self, nodes: Sequence[Node]) -> list[Node]:
        """Notes with the lines they rest on."""
        return [*nodes, *(self._graph[line] for node in nodes if node.kind is not Kind.CONTEXT for line in self._lines(node))]

    def _lines(self, node: Node) -> list[NodeId]:
        return [line for line in self._graph.contexts_behind(node.id) if (line in self.gone) is (node.id in self.gone)]

    def _redate(self, node: Node, moment: Moment | None) -> None:
        if node.moment != moment:
            self.redated[node.id] = moment


def _words(nodes: Iterable[Node]) -> frozenset[str]:
    return keywords("\n".join(text for node in nodes for text in _texts(node)))


# ------------------------------------------------------------------ what had been replaced


def _bridges(graph: PersonaGraph, gone: set[NodeId]) -> list[Judgement]:
    """Where the middle of a chain of changes goes, its beginning is still replaced by its end."""
    return [
        Judgement(older, newer, Relation.SHIFT_TO, 1.0, BRIDGE)
        for older in _replaced_by_gone(graph, gone)
        for newer in _beyond(graph, older, gone)
    ]


def _holding_again(graph: PersonaGraph, gone: set[NodeId]) -> list[Node]:
    return [graph[older] for older in _replaced_by_gone(graph, gone) if not _beyond(graph, older, gone)]


def _replaced_by_gone(graph: PersonaGraph, gone: set[NodeId]) -> list[NodeId]:
    """What stays and had been replaced by nothing but nodes that go."""
    older = dict.fromkeys(one for g in sorted(gone) for one in graph.replaces(g) if one not in gone)
    return [one for one in older if gone.issuperset(graph.replaced_by(one))]


def _beyond(graph: PersonaGraph, start: NodeId, gone: set[NodeId]) -> list[NodeId]:
    """The first nodes that stay on the chains of changes from a node."""
    found: dict[NodeId, None] = {}
    seen, waiting = {start}, [start]
    while waiting:
        for following in graph.replaced_by(waiting.pop()):
            if following not in seen:
                seen.add(following)
                if following in gone:
                    waiting.append(following)
                else:
                    found[following] = None
    return list(found)
