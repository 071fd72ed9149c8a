"""What the steps of construction work on, in a line or two."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pgmem_local.construction.annotate import Annotator
from pgmem_local.construction.desk import Desk
from pgmem_local.construction.extract import Reading, Said
from pgmem_local.construction.judge import by_letters
from pgmem_local.construction.pair import Pair
from pgmem_local.graph.nodes import Context, Episode, Kind, Node, NodeId, Polarity, State, Trait, node_id
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.lesson import Lesson
from pgmem_local.ports import ChatModel, Embedder
from pgmem_local.settings import ConstructionSettings
from pgmem_local.words import keywords
from tests.builders import on_day
from tests.fakes import ExactSearch, HashEmbedder

SETTINGS = ConstructionSettings(utterance_words=22, judged_from=-1.0)


def context(text: str, day: int | None = 0, number: int = 1, reply: str | None = None) -> Context:
    identifier = node_id(Kind.CONTEXT, number)
    return Context(identifier, text, on_day(day), keywords(text), frozenset(), key=identifier, reply=reply)


def reading(text: str, before: str | None = None, number: int = 1) -> Reading:
    return Reading(context(text, number=number), Said("Assistant", before) if before else None)


def state(text: str, day: int | None = 0, number: int = 1, polarity: Polarity = Polarity.NEUTRAL) -> State:
    return State(node_id(Kind.STATE, number), text, on_day(day), note_words(text), frozenset(), polarity=polarity)


def episode(text: str, day: int | None = 0, number: int = 1) -> Episode:
    return Episode(node_id(Kind.EPISODE, number), text, on_day(day), note_words(text), frozenset())


def trait(text: str, day: int | None = 0, number: int = 1) -> Trait:
    return Trait(node_id(Kind.TRAIT, number), text, on_day(day), note_words(text), frozenset())


def pair(earlier: Node, later: Node, cosine: float = 0.9) -> Pair:
    return Pair(earlier, later, cosine)


def note_words(text: str) -> frozenset[str]:
    return keywords(text.removeprefix("User"))


class Bench:
    """A desk over a graph in memory, where lessons land as `PersonaMemory` lands them."""

    def __init__(self, model: ChatModel, embedder: Embedder | None = None, settings: ConstructionSettings = SETTINGS) -> None:
        self.graph, self.search = PersonaGraph(), ExactSearch()
        self._numbers = dict.fromkeys(Kind, 0)
        self.annotator = Annotator(embedder or HashEmbedder())
        self.desk = Desk(model, self.annotator, self.graph, self.search, self.new_id, settings, by_letters)

    def new_id(self, kind: Kind) -> NodeId:
        self._numbers[kind] += 1
        return node_id(kind, self._numbers[kind])

    def context(self, text: str, day: int | None = 0) -> Context:
        """A Context that is known and not learned yet."""
        new = context(text, day, number=int(self.new_id(Kind.CONTEXT)[1:]))
        self.graph.add([new])
        self.search.add(new.id, self.annotator.annotate([text])[0].vector)
        return new

    def land(self, *lessons: Lesson) -> None:
        for lesson in lessons:
            self.graph.add(lesson.nodes, lesson.sources, lesson.judgements)
            for identifier, vector in lesson.vectors.items():
                self.search.add(identifier, vector)

    def learn(self, learn: Callable[[Desk, Sequence[Reading]], list[Lesson]], *contexts: Context) -> list[Lesson]:
        lessons = learn(self.desk, [Reading(one) for one in contexts])
        self.land(*lessons)
        return lessons

    def texts(self, kind: Kind) -> list[str]:
        return [node.text for node in self.graph.of_kind(kind)]
