"""Our memory as one of the compared: `PersonaMemory` in a folder of its own that later runs find again, and its ablations.

All ablations change what is read, never what was learned, so that they share one built memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from pgmem_local.answering import Notes
from pgmem_local.bench.datasets.history import Entry, Question
from pgmem_local.bench.systems import Recalled
from pgmem_local.construction import pipeline
from pgmem_local.conversation import Exchange
from pgmem_local.graph.edges import Judgement, Relation, SourceEdge
from pgmem_local.graph.nodes import Context, Kind, NodeId
from pgmem_local.graph.people import People
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.memory import Construction, PersonaMemory, Progress
from pgmem_local.ports import ChatModel, Embedder, Spent
from pgmem_local.settings import (
    AssembleSettings,
    ConstructionSettings,
    FadingSettings,
    JoinedSettings,
    PeopleSettings,
    RetrievalSettings,
    SeedSettings,
    Settings,
    Weighing,
)
from pgmem_local.store.sqlite import MemoryStore

SERVING = frozenset({"answer", "advice", "option_check", "chat"})


@dataclass(frozen=True)
class Ablation:
    """What is left out when reading: settings of retrieval, and relations taken out of the graph."""

    retrieval: RetrievalSettings = field(default_factory=RetrievalSettings)
    without: frozenset[Relation] = frozenset()
    joined: JoinedSettings = field(default_factory=JoinedSettings)
    facts: bool = True
    """Whether verified facts are read; off, profiles and the exchanges they were made of remain."""


def ablation(name: str) -> Ablation | None:
    """The ablation after `pgmem-` in a system's name; None for a name of none. `lambda=0.3` sets λ."""
    if name in _ABLATIONS:
        return _ABLATIONS[name]
    kind, _, value = name.partition("=")
    if kind == "lambda" and value.replace(".", "", 1).isdigit():
        return Ablation(RetrievalSettings(assemble=AssembleSettings(validity_weight=float(value))))
    return None


_NO_PERSONA = RetrievalSettings(
    seed=SeedSettings(states=0, traits=0, active_persona=0), assemble=AssembleSettings(states=0, traits=0, changed_states=0)
)
_NO_EVENTS = RetrievalSettings(seed=SeedSettings(contexts=0, episodes=0), assemble=AssembleSettings(episodes=0))
_NO_EXPANSION = replace(RetrievalSettings(), expand=replace(RetrievalSettings().expand, hop_cap=0))
_COUNTED = RetrievalSettings(assemble=AssembleSettings(weighing=Weighing.COUNTED, fading=None))
_FADING = RetrievalSettings(assemble=AssembleSettings(fading=FadingSettings()))
_ABLATIONS = {
    "no-persona": Ablation(_NO_PERSONA),
    "no-events": Ablation(_NO_EVENTS),
    "no-expansion": Ablation(_NO_EXPANSION),
    "counted": Ablation(_COUNTED),
    "fading": Ablation(_FADING),
    "no-support": Ablation(without=frozenset({Relation.SUPPORT})),
    "no-contradict": Ablation(without=frozenset({Relation.CONTRADICT})),
    "no-shift": Ablation(without=frozenset({Relation.SHIFT_TO})),
}
ABLATIONS = tuple(_ABLATIONS)


class Persona:
    """`PersonaMemory` over models that belong to the benchmark: closing frees the files only."""

    def __init__(
        self,
        model: ChatModel,
        embedder: Embedder,
        home: Path,
        name: str = "pgmem",
        reading: Ablation | None = None,
        report: Callable[[Progress], None] | None = None,
        construction: Construction = pipeline,
        people: PeopleSettings | None = None,
        building: ConstructionSettings | None = None,
    ) -> None:
        self.name = name
        self._reading = reading or Ablation()
        settings = Settings(building or ConstructionSettings(), people or PeopleSettings(), self._reading.retrieval, self._reading.joined)
        self._home, self._report, self._model = home, report, model
        store = MemoryStore.open(home, chunk_exchanges=settings.construction.chunk_exchanges)
        self._memory = PersonaMemory(store, lambda: model, lambda: embedder, settings, construction)
        self._waiting: list[Exchange] = []
        self._entries_of: dict[str, list[str]] = {}

    def observe(self, entry: Entry) -> None:
        exchange = entry.masked.exchange
        self._waiting.append(exchange)
        self._entries_of.setdefault(exchange.key, []).append(entry.id)

    def settle(self) -> None:
        self._model.ledger.take()  # what was booked before is not learning
        self._memory.graph = self._memory.store.load_graph()
        self._memory.observe(self._waiting)
        self._memory.learn(self._report)
        self._waiting = []
        if self._reading.without:
            self._memory.graph = without_relations(self._memory.graph, self._reading.without)
        if not self._reading.facts:
            self._memory.people = without_facts(self._memory.people)

    def context(self, question: Question, budget: int) -> Recalled:
        notes = self._notes(question.text, budget)
        origins = {node: tuple(self._entries_behind(node)) for node in notes.labels.values()}
        return Recalled(notes, self._memory.graph, origins)

    def _notes(self, question: str, budget: int) -> Notes:
        """The persona alone, as PGMem has it."""
        return self._memory.notes(self._memory.recall(question).evidence, budget)

    def held(self) -> Recalled:
        graph, people = self._memory.graph, self._memory.people
        nodes = (node for kind in Kind for node in graph.of_kind(kind))
        origins = {node.id: tuple(self._entries_behind(node.id)) for node in nodes}
        profiles = [people.profile(entity.id).text for entity in people]
        return Recalled(graph=graph, origins=origins, beside=(*profiles, *(fact.text for fact in people.all_facts(current=False))))

    def _entries_behind(self, node: NodeId) -> list[str]:
        graph = self._memory.graph
        contexts = (graph[identifier] for identifier in graph.contexts_behind(node))
        return [entry for context in contexts if isinstance(context, Context) for entry in self._entries_of.get(context.key, ())]

    @property
    def spent(self) -> Spent:
        return sum((cost for task, cost in self._memory.store.spent().items() if task not in SERVING), Spent())

    @property
    def disk_bytes(self) -> int:
        return sum(path.stat().st_size for path in self._home.rglob("*") if path.is_file())

    def close(self) -> None:
        self._memory.vectors.save()
        self._memory.store.close()


def without_relations(graph: PersonaGraph, left_out: frozenset[Relation]) -> PersonaGraph:
    """A copy of a graph with some relations taken for irrelevant."""
    nodes = [node for kind in Kind for node in graph.of_kind(kind)]
    sources = [SourceEdge(source, node.id) for node in nodes for source in graph.sources(node.id)]
    edges = {edge: None for node in nodes for edge in graph.evidence(node.id) if edge.relation not in left_out}
    copy = PersonaGraph()
    copy.add(nodes, sources, [Judgement(e.source, e.target, e.relation, e.probability, "kept") for e in edges])
    return copy


def without_facts(people: People) -> People:
    """The same people as their profiles tell of them."""
    return People(people, [people.profile(entity.id) for entity in people])
