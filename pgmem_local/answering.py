"""From a question and its evidence to an answer that cites its nodes.

One call writes. Before it one probe reads, from the same evaluated notes, whether they hold an answer at all; the model's modesty is not
relied on. Citations are the labels the model wrote; where it wrote none that exists, the entries that share most words with the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pgmem_local.conversation import Moment
from pgmem_local.denial import DENIAL
from pgmem_local.graph.nodes import Context, Kind, Node, NodeId
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.ports import ChatModel
from pgmem_local.prompts import Task, load, one_line
from pgmem_local.sentences import sentences
from pgmem_local.settings import AnswerSettings
from pgmem_local.subject import clauses
from pgmem_local.words import keywords

UNKNOWN = "I don't know: nothing I remember says so."
HOLDS_LOG_ODDS = 0.4
"""Log-odds that the notes hold the answer, below which the question is declined. On the shipped diary, within 400 tokens, no question
answered rightly lies below 0.79; its author's shoe size, which nobody told, lies at 0.01."""
MOST_CITED = 3
_LABEL = re.compile(r"\s*\[(\d+(?:\s*,\s*\d+)*)\]")
"""[3], or [1, 2] as some models write it."""
_LABELS = re.compile(rf"{_LABEL.pattern}(?:\s*(?:,|and)?{_LABEL.pattern})*")
_ASKS_OF_ME = re.compile(r"\s*(?:am|was|do|did|have|had|can|could|will|would|should) i\b", re.IGNORECASE)
_AFFIRMS = re.compile(r"\W*yes\b", re.IGNORECASE)
_ASKS_FOR_MORE = re.compile(r"\s*(?:(?:in|at|on|to|for|from|with) )?(?:who|whom|whose|what|which|where|when|why)\b", re.IGNORECASE)
_OFFERS = re.compile(r"\bor\b", re.IGNORECASE)
_DECLINES = re.compile(r"\W*I (?:do not|don['’]t) know\b", re.IGNORECASE)


@dataclass(frozen=True)
class Quote:
    """The words of a diary line that a citation rests on."""

    context: NodeId
    moment: Moment | None
    text: str


@dataclass(frozen=True)
class Citation:
    """A node an answer used, with the lines it was made from."""

    node: Node
    quotes: tuple[Quote, ...]


@dataclass(frozen=True)
class Answer:
    """`known` is False where the memory holds nothing on the question; `log_odds` is the probe's, None where nothing was found."""

    text: str
    known: bool
    citations: tuple[Citation, ...] = ()
    log_odds: float | None = None


@dataclass(frozen=True)
class Notes:
    """Evidence as the model sees it, and which node each label stands for. about: the nodes among which an answer can stand, where the
    question names somebody."""

    text: str
    labels: Mapping[int, NodeId]
    about: frozenset[NodeId] | None = None


def answer(model: ChatModel, graph: PersonaGraph, question: str, notes: Notes, settings: AnswerSettings) -> Answer:
    """The answer to a question, from the notes alone."""
    if not notes.labels:
        return Answer(UNKNOWN, known=False)
    task = load("answer")
    slots = {"notes": notes.text, "question": one_line(question)}
    holds = model.choose([task.ask(slots, "holds")], (" Yes", " No"))[0]
    odds = float(holds[0] - holds[1])
    if odds < HOLDS_LOG_ODDS and not settles(question, notes, graph):
        return Answer(UNKNOWN, known=False, log_odds=odds)
    text = _write(model, task, slots, settings)
    if declines(text):
        return Answer(UNKNOWN, known=False, log_odds=odds)
    if not rests_on(text, question, notes) or not is_about_those_asked(text, question, notes, graph):
        return Answer(UNKNOWN, known=False, log_odds=odds)
    if not is_true_of_user(text, question, notes, graph):
        return Answer(UNKNOWN, known=False, log_odds=odds)
    cited = cited_nodes(text, question, notes, graph)
    return Answer(unlabelled(text), True, tuple(cite(graph, node, f"{question} {text}") for node in cited), odds)


def _write(model: ChatModel, task: Task, slots: Mapping[str, str], settings: AnswerSettings) -> str:
    written = model.write([task.ask(slots)], settings.answer_tokens, stop=("\nNotes:", "\nQuestion:", "\n\n"))[0]
    return one_line(written.text) or UNKNOWN


def declines(text: str) -> bool:
    """Whether the model itself said that it does not know."""
    return _DECLINES.match(text) is not None


def unlabelled(text: str) -> str:
    """An answer without the labels it cites notes by."""
    return _LABELS.sub("", text).strip()


def rests_on(text: str, question: str, notes: Notes) -> bool:
    """Whether what an answer adds to its question has a word or a number in common with the notes. A plain yes adds nothing, nor does one
    of the things that the question itself names; to who, what or which that is no answer."""
    fresh = keywords(_LABEL.sub("", text)) - keywords(question)
    if not fresh and _ASKS_FOR_MORE.match(question) and not _OFFERS.search(question):
        return False
    return not fresh or bool(fresh & keywords(notes.text)) or any(word.isdigit() for word in fresh)


def is_about_those_asked(text: str, question: str, notes: Notes, graph: PersonaGraph) -> bool:
    """Whether what an answer adds to its question stands in a line about somebody it asks about: the red bicycle is not Teo's car."""
    fresh = keywords(_LABEL.sub("", text)) - keywords(question)
    if notes.about is None or not fresh:
        return True
    lines = (graph[context] for node in notes.about for context in graph.contexts_behind(node))
    return any(fresh & line.keywords for line in lines)


def is_true_of_user(text: str, question: str, notes: Notes, graph: PersonaGraph) -> bool:
    """Whether a yes to "Am I ...?" rests on the user: that Priya is allergic to nuts, and nothing else of nuts, is no yes."""
    wanted = keywords(question)
    if not (_ASKS_OF_ME.match(question) and _AFFIRMS.match(text)):
        return True
    told = [_own_and_others(graph[node]) for node in notes.labels.values()]
    own, others = (any(2 * len(wanted & one[whose]) > len(wanted) for one in told) for whose in (0, 1))
    return own or not others


def settles(question: str, notes: Notes, graph: PersonaGraph) -> bool:
    """Whether a State tells, in the words of "Do I ...?", that it is so or not: what the probe makes of "no longer" is unsure."""
    wanted = keywords(question)
    states = (node.text for node in map(graph.__getitem__, notes.labels.values()) if node.kind is Kind.STATE)
    told = (keywords(DENIAL.sub(" ", text.removeprefix("User"))) for text in states)
    return _ASKS_OF_ME.match(question) is not None and any(len(words) > 1 and words <= wanted for words in told)


def _own_and_others(node: Node) -> tuple[frozenset[str], frozenset[str]]:
    """The words of a note that may be about the user, and those that are about somebody else."""
    if node.kind in (Kind.STATE, Kind.TRAIT):
        return node.keywords, frozenset()
    told = [(keywords(clause), is_own) for clause, is_own in clauses(node.text)]
    own, others = (frozenset[str]().union(*(words for words, is_own in told if is_own is whose)) for whose in (True, False))
    return own, others


def cited_nodes(text: str, question: str, notes: Notes, graph: PersonaGraph) -> list[NodeId]:
    """The nodes behind an answer: those it names that share a word with what it adds to the question, else those nearest to its words."""
    said = keywords(_LABEL.sub("", text))
    fresh = said - keywords(question)
    labels = [int(label) for group in _LABEL.findall(text) for label in group.split(",")]
    named = [notes.labels[label] for label in labels if label in notes.labels]
    sound = [node for node in dict.fromkeys(named) if (fresh or said) & graph[node].keywords]
    if sound:
        return sound[:MOST_CITED]
    scores = {node: len((fresh or said) & graph[node].keywords) for node in notes.labels.values()}
    return [node for node in sorted(scores, key=lambda node: -scores[node]) if scores[node]][:1]


def cite(graph: PersonaGraph, identifier: NodeId, about: str) -> Citation:
    """A node with the words of the diary it rests on: of each Context the sentences nearest to what it is cited for."""
    wanted = keywords(about) | graph[identifier].keywords
    quotes = [quote(context, wanted) for i in graph.contexts_behind(identifier) if isinstance(context := graph[i], Context)]
    return Citation(graph[identifier], tuple(quotes))


def quote(context: Context, wanted: frozenset[str], most: int = 2) -> Quote:
    """The sentences of a Context that hold most of the wanted words, in their order."""
    said = sentences(context.text) or [one_line(context.text)]
    ranked = sorted(range(len(said)), key=lambda place: -len(keywords(said[place]) & wanted))[:most]
    return Quote(context.id, context.moment, " ".join(said[place] for place in sorted(ranked)))
