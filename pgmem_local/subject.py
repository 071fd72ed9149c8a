"""Whose fact is it? A message comes in by clauses, each the writer's own or somebody else's (not in the paper).

A small model that is told "he's a vegetarian, so he's careful" notes that the user is a vegetarian, and says yes when asked whether that
is right. Pronouns tell the two apart without a model, in the languages listed; in others nothing is taken for somebody else's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pgmem_local.words import keywords

_OWN = re.compile(
    r"(?<!\w)(i|i'm|i've|i'd|i'll|me|my|mine|myself|we|we're|we've|we'd|us|our|ours|"
    r"ich|mir|mich|mein\w*|wir|uns|unser\w*|je|j'\w+|moi|mon|ma|mes|nous|notre|nos|yo|mí|mi|mis|conmigo|nosotr[oa]s|nuestr[oa]s?)(?!\w)",
    re.IGNORECASE,
)
_THEIRS = re.compile(
    r"(?<!\w)(he|he's|he'd|he'll|she|she's|she'd|she'll|they|they're|they've|they'd|his|her|hers|their|theirs|himself|herself|themselves|"
    r"er|ihr|ihre\w*|sein|seine\w*|il|elle|ils|elles|él|ella|ellos|ellas)(?!\w)",
    re.IGNORECASE,
)
_DROPPED_I = re.compile(
    r"\w+ed\b|(?:ate|began|bought|broke|brought|came|caught|cut|did|drank|drew|drove|fed|felt|forgot|found|gave|got|had|heard|held|kept|knew|"
    r"left|lent|lost|made|met|paid|put|ran|read|rode|sang|sat|saw|sent|showed|slept|sold|spent|spoke|stood|swam|taught|thought|told|took|"
    r"went|woke|won|wore|wrote)\b",
    re.IGNORECASE,
)
"""How a diary's sentence begins that leaves its I out."""
_CLAUSE_END = re.compile(r"[.!?…;:]+[\"'”’)]*(?:\s+|$)|,\s+|\s[-–—]\s|\n+|\s+(?=(?:and|but|because|und|aber|weil|et|mais|y|pero)\s)")
_SENTENCE_END = re.compile(r"[.!?…\n][\"'”’)]*\s*$")
_GOES_ON = re.compile(r"(and|und|et|y)\s+(?:then\s+|dann\s+)?", re.IGNORECASE)
_NAME = re.compile(r"[A-Z][a-zà-öø-ÿ]+")


def told_of_others_only(note: str, said: str) -> bool:
    """Whether everything that a note takes from a message stands in clauses about somebody else."""
    claimed = keywords(note.removeprefix("User"))
    own, theirs = set[str](), set[str]()
    for clause, is_own in clauses(said):
        (own if is_own else theirs).update(keywords(clause))
    return bool(claimed & theirs) and not claimed & own


def clauses(said: str) -> Iterator[tuple[str, bool]]:
    """The clauses of a message, and whether each may tell of the writer. One that goes on with "and" has the subject before it."""
    is_own, begins_sentence, start = True, True, 0
    text = said.replace("’", "'")
    for end in (*_CLAUSE_END.finditer(text), None):
        clause = text[start : end.start() if end else len(text)].strip()
        if clause:
            is_own = _may_be_own(clause, is_own, begins_sentence)
            yield clause, is_own
        if end:
            begins_sentence = bool(_SENTENCE_END.search(end.group()))
            start = end.end()


def _may_be_own(clause: str, before: bool, begins_sentence: bool) -> bool:
    if _OWN.search(clause) or (begins_sentence and _DROPPED_I.match(clause)):
        return True
    going_on = _GOES_ON.match(clause)
    if _THEIRS.search(clause) or (not begins_sentence and _NAME.match(clause[going_on.end() if going_on else 0 :])):
        return False
    return before if going_on else True
