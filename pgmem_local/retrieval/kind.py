"""What kind of question it is, told by code from its words and from whom it names: the kind divides the budget of evidence."""

from __future__ import annotations

import re
from enum import Enum

from pgmem_local.graph.people import People
from pgmem_local.retrieval.asked import read_question

_ADVICE = re.compile(
    r"\b(?:(?:should|shall|could|can|might|would) (?:i|we)\b.*\b(?:do|make|cook|buy|get|give|try|wear|read|watch|eat|drink|visit|go|book"
    r"|plan|order|choose|pick|take|bring|start|learn|play|use|ask|spend)\b|recommend|suggest|suggestions?|advice|advise|ideas?|tips?"
    r"|what would (?:be a )?good|what would (?:\w+ ){1,4}(?:like|enjoy)|good (?:gift|present|place|way|time)"
    r"|help me (?:choose|pick|find|plan|decide)|what (?:gift|present)\b|how (?:can|could|should) i)\b",
    re.IGNORECASE,
)
_REMEMBERED = re.compile(r"\b(?:did|was|were|had|used to)\b", re.IGNORECASE)
_WHEN = re.compile(
    r"\b(?:when|since when|what (?:date|day|month|year|time)|which (?:date|day|month|year)|how long ago|how long have|on what date"
    r"|in what year)\b",
    re.IGNORECASE,
)
_MY_SOMEONES = re.compile(r"\b(?:my|our) [\w -]+(?:['’]s|s['’]) ", re.IGNORECASE)
_WHO = re.compile(r"\b(?:who|whose|whom)\b", re.IGNORECASE)
_OWN = re.compile(r"\b(?:i|me|my|mine|myself)\b", re.IGNORECASE)


class QuestionKind(str, Enum):
    """About whom or what a question is."""

    ADVICE = "advice"
    SOMEONE = "someone"
    WHEN = "when"
    ME = "me"
    OTHER = "other"


def kind_of_question(question: str, people: People) -> QuestionKind:
    """The first kind that fits: advice, then somebody else, then a time, then the user."""
    if asks_for_advice(question):
        return QuestionKind.ADVICE
    if is_about_someone(question, people):
        return QuestionKind.SOMEONE
    if _WHEN.search(question):
        return QuestionKind.WHEN
    return QuestionKind.ME if _OWN.search(question) else QuestionKind.OTHER


def asks_for_advice(question: str) -> bool:
    """Whether a question wants suggestions: it is open-ended and asks for no memory of what was."""
    return _ADVICE.search(question) is not None and not _REMEMBERED.search(question)


def is_about_someone(question: str, people: People) -> bool:
    """Whether it names an entity, clearly or not, or goes along relations from the user to somebody: my boss's neighbour."""
    if people.mentions_in(question) or _WHO.search(question):
        return True
    return _MY_SOMEONES.search(question) is not None and bool(read_question(question, people).relations)
