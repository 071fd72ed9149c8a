"""What a question asks step by step: its words come in, the relations it goes along and what it asks at their end come out. By code.

"What does Ana's flatmate's sister play?" goes along "flatmate" and "sister" and asks "what play". Relations are the words after a
possessive ("Ana's", "my", "her"), the words before "of" or another possessive, and what an earlier sentence says ("My boss has a
neighbour. What does he play?"). Their order is not read: who is related to whom tells it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pgmem_local.graph.people import People
from pgmem_local.words import content_words

MOST_RELATIONS = 6
_WORD = re.compile(r"\w+(?:[-’']\w+)*")
_OWNED = re.compile(r"['’]s$|(?<=s)['’]$", re.IGNORECASE)
_BREAK = re.compile(r"[.?!:;,]")
_NAMES_ONLY = re.compile(r"^(?!.*\b(?:do|does|did|has|have|had|will|would|can|could|was|were)\b).*\bof\b", re.IGNORECASE | re.DOTALL)
"""Asks for something of somebody, with no verb at its end: When is the birthday of Ana's cousin?"""
_OWNERS = frozenset("my our his her their its".split())  # noqa: SIM905
_ASKING = frozenset("when where who how".split())  # noqa: SIM905
_EMPTY = frozenset("person somebody someone man woman one think take called call name named know exact exactly".split())  # noqa: SIM905
"""Words that say nothing of a relation."""
_ABOUT_ME = re.compile(r"\b(?:i|me|my|mine|we|us|our|ours)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Asked:
    """relations: the phrases that lead from one to the next. end: what is asked of whom they lead to. of_user: it begins at the user."""

    relations: tuple[str, ...]
    end: str
    of_user: bool

    def left(self, explained: frozenset[int]) -> str:
        """What is still to be explained once these relations are."""
        return " ".join([*(one for place, one in enumerate(self.relations) if place not in explained), self.end]).strip()


@dataclass
class _Run:
    """Content words in a row. owned: a possessive stands before them; closed: a possessive or "of" behind; ends: nothing does,
    and no verb is waited for.

    last: in the last sentence. What follows a relation of one or two words there ("boss allergic") may be what is asked.
    """

    words: list[str] = field(default_factory=list)
    owned: bool = False
    closed: bool = False
    ends: bool = False
    last: bool = False


def read_question(question: str, people: People) -> Asked:
    """The steps of a question."""
    relations: list[str] = []
    end: list[str] = []
    for run in _runs(_without_names(question, people)):
        if run.owned or run.closed or not run.last:
            whole = run.closed or run.ends or not run.last
            relations.append(" ".join(run.words if whole else run.words[:2]))
            end += [] if whole else run.words[2:] or run.words[1:]
        else:
            end += run.words
    asking = [word for word in re.findall(r"\w+", question.lower()) if word in _ASKING][-1:]
    return Asked(tuple(dict.fromkeys(relations))[:MOST_RELATIONS], " ".join([*asking, *end]), bool(_ABOUT_ME.search(question)))


def _without_names(question: str, people: People) -> str:
    """The question with each name gone, but not the possessive behind it, nor "my sister"."""
    text = question
    for mention in reversed(people.mentions_in(question)):
        if not text[mention.start : mention.end].lower().startswith(("my ", "our ")):
            text = f"{text[: mention.start]}X{text[mention.end :]}"
    return text


def _runs(text: str) -> Iterator[_Run]:
    sentences = [part for part in re.split(r"(?<=[.?!:])\s+", text) if part.strip()]
    for place, sentence in enumerate(sentences):
        for run in _runs_of(sentence):
            run.last = place == len(sentences) - 1
            yield run


def _runs_of(sentence: str) -> list[_Run]:
    found: list[_Run] = [_Run()]
    behind = 0
    for match in _WORD.finditer(sentence):
        word = _OWNED.sub("", match[0])
        if _BREAK.search(sentence[behind : match.start()]):
            found.append(_Run())
        behind = match.end()
        if word == "X" or word.lower() in _OWNERS or not _says_something(word):
            found[-1].closed |= word.lower() == "of" and bool(_WORD.search(sentence, match.end()))
            found.append(_Run(owned=word.lower() in _OWNERS or (word == "X" and word != match[0])))
        else:
            found[-1].words.append(word)
            if word != match[0]:
                found[-1].closed = True
                found.append(_Run(owned=True))
    found[-1].ends = _NAMES_ONLY.search(sentence) is not None
    return [run for run in found if run.words]


def _says_something(word: str) -> bool:
    return bool(content_words(word)) and word.lower() not in _EMPTY
