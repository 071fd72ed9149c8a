"""Chains of statements (ours, in place of ProGraph's stage 2): a question comes in, the paths that explain it come out.

The paper compares every candidate with the whole question, so that at depth everybody resembles it a little and nobody enough. Here a
hop is worth what its statement explains of one relation that the path has not explained yet, and the last one is compared with what is
left of the question. "Which instrument does Ana's flatmate play?" goes from Ana by "flatmate" to Ben, and asks of Ben "instrument play".
Paths are followed best first, a beam of them at each length; one that explains the question by fewer hops ranks before a longer one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import nlargest

from pgmem_local.graph.nodes import NodeId
from pgmem_local.graph.people import Entity, EntityId, Sentence
from pgmem_local.graph.relations import relation_word
from pgmem_local.retrieval.asked import Asked, read_question
from pgmem_local.retrieval.told import Statement, Told, other_spellings
from pgmem_local.settings import HopSettings


@dataclass(frozen=True)
class Path:
    """A chain from somebody the question names, or from the user.

    people: everybody on the way, in order; the last is the one asked about. statements: what leads from one to the next, then what answers.
    introduction: the sentence by which the user called the first one "my flatmate". left: what the last statement had to answer.
    """

    people: tuple[EntityId, ...] = ()
    statements: tuple[Statement, ...] = ()
    introduction: Sentence | None = None
    explained: frozenset[int] = frozenset()
    left: str = ""
    worth: float = 0.0

    @property
    def end(self) -> EntityId | None:
        return self.people[-1] if self.people else None

    @property
    def sources(self) -> tuple[NodeId, ...]:
        """Contexts the chain rests on, in its order."""
        introduced = self.introduction.sources if self.introduction else ()
        return (*introduced, *(source for statement in self.statements for source in statement.sources))


def find_paths(told: Told, question: str, settings: HopSettings) -> tuple[Path, ...]:
    """The chains that explain most of a question, best first; none where nobody is known."""
    asked = read_question(question, told.people)
    walk = _Walk(told, asked, settings)
    frontier = list(_starts(told, question, asked, settings))
    ended = [path for start in frontier for path in walk.ends(start)]
    for _ in range(settings.longest):
        frontier = _best_apart(walk.steps(frontier), settings.beam)
        ended += [path for start in frontier for path in walk.ends(start)]
    return tuple(_distinct(ended, settings.chains))


def _starts(told: Told, question: str, asked: Asked, settings: HopSettings) -> Iterator[Path]:
    """Whom the question names, by "my flatmate" too; and the user, of whose relations the memory may know by other words."""
    people, named = told.people, False
    for mention in people.mentions_in(question):
        related = question[mention.start : mention.end].lower().startswith(("my ", "our "))
        for one in mention.candidates if len(mention.candidates) == 1 else ():
            named = True
            yield _introduced(told, one, asked, settings) if related else Path((one,))
    if asked.of_user or not named:
        yield Path(worth=-settings.from_user if named else 0.0)


def _introduced(told: Told, entity: EntityId, asked: Asked, settings: HopSettings) -> Path:
    """A path that begins with "my flatmate": the sentence that says so, and what tells it best in the user's own words."""
    sentence = next((one for one in told.people.profile(entity).sentences if " is the user's " in one.text), None)
    explained = _named_by(told.people[entity], asked)
    words = " ".join(asked.relations[place] for place in explained)
    said = sorted(told.of(entity), key=lambda one: -told.resemblance(words, one))[:1] if words else []
    return Path((entity,), tuple(said), sentence, explained, worth=settings.introduced)


def _named_by(entity: Entity, asked: Asked) -> frozenset[int]:
    """The relation of the question that "my flatmate" spells out."""
    places = (place for place, words in enumerate(asked.relations) if relation_word(words.split()[0]) == entity.relation)
    return frozenset([next(places, -1)]) - {-1}


class _Walk:
    """Where a path may go on, and how it may end."""

    def __init__(self, told: Told, asked: Asked, settings: HopSettings) -> None:
        self._told, self._asked, self._settings = told, asked, settings

    def steps(self, paths: Iterable[Path]) -> Iterator[Path]:
        """Every path with one more hop: a statement that explains one more relation and leads to somebody new."""
        for path in paths:
            for statement, cost in self._statements_at(path):
                for place in self._unexplained(path):
                    gain = self._told.resemblance(self._asked.relations[place], statement) - cost
                    if gain > self._settings.least:
                        yield from self._led_on(path, statement, place, gain - self._settings.least)

    def ends(self, path: Path) -> Iterator[Path]:
        """A path with each statement that may answer what is left, and as it is where nothing is left."""
        left = self._asked.left(path.explained)
        worth = path.worth - self._settings.unexplained * len(self._unexplained(path))
        if path.statements and not left:
            yield _grown(path, path.people, path.statements, worth, path.explained)
        for statement, cost in self._statements_at(path):
            people = path.people or tuple(sorted(statement.names))[:1]
            if statement not in path.statements and people:
                answers = self._told.resemblance(left, statement) - cost
                yield _grown(path, people, (*path.statements, statement), worth + answers, path.explained, left)

    def _unexplained(self, path: Path) -> list[int]:
        return [place for place in range(len(self._asked.relations)) if place not in path.explained]

    def _led_on(self, path: Path, statement: Statement, place: int, gain: float) -> Iterator[Path]:
        told_together = self._settings.beside
        reached = [*((one, 0.0) for one in statement.names), *((one, told_together) for one in statement.beside)]
        for one, cost in reached:
            if one not in path.people:
                worth, explained = path.worth + gain - cost, path.explained | {place}
                yield _grown(path, (*path.people, one), (*path.statements, statement), worth, explained)

    def _statements_at(self, path: Path) -> Iterator[tuple[Statement, float]]:
        """What is told of the one a path has come to, then of who may be meant by another spelling, at a cost."""
        if path.end is None:
            yield from ((one, 0.0) for one in self._told.all_facts())
            return
        yield from ((one, 0.0) for one in self._told.of(path.end))
        for other in other_spellings(self._told.people, path.end):
            yield from ((one, self._settings.other_spelling) for one in self._told.of(other))


def _grown(
    path: Path, people: tuple[EntityId, ...], statements: tuple[Statement, ...], worth: float, explained: frozenset[int], left: str = ""
) -> Path:
    return Path(people, statements, path.introduction, explained, left, worth)


def _best_apart(paths: Iterable[Path], most: int) -> list[Path]:
    """The best paths, of those that came by one statement to one entity with the same left to explain only the best."""
    best: dict[tuple[EntityId | None, str, frozenset[int]], Path] = {}
    for path in paths:
        key = (path.end, path.statements[-1].text, path.explained)
        if key not in best or best[key].worth < path.worth:
            best[key] = path
    return nlargest(most, best.values(), key=lambda path: path.worth)


def _distinct(paths: Iterable[Path], most: int) -> list[Path]:
    """The best paths, no two of the same statements."""
    found: dict[tuple[str, ...], Path] = {}
    for path in sorted(paths, key=lambda path: -path.worth):
        found.setdefault(tuple(one.text for one in path.statements), path)
        if len(found) == most:
            break
    return list(found.values())
