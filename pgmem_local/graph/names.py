"""Words as they occur in names: whole, without possessives, with their place and their capital. Pure.

"Jo's" is Jo and "Joanna" is not; "Aunt Rosa" and "Rosa" are one name; "will" is a verb unless it is written "Will".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_STOP = re.compile(r"[^\s]|\n")

TITLES = frozenset(
    "mr mrs ms miss dr doctor prof professor sir aunt auntie uncle grandma granny grandpa cousin captain father sister".split()  # noqa: SIM905
)
# Names that are also words of a sentence: they name somebody only where they are written with a capital.
_ORDINARY = frozenset(
    """
    will may mark rose grace hope joy art bill pat sue jack dawn april june august summer rob frank ray drew chase max miles
    dean guy gene grant hank jay josh lance nick penny pearl ruby ivy lily iris daisy violet olive ginger heather holly faith chance
    sunny lucky buddy sky star page paige reed wade cliff dale glen heath forest robin jean carol melody harmony mercy patience
    the a an i he she it we you they
    """.split()  # noqa: SIM905
)
_NO_SURNAMES = frozenset(
    """
    i monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october
    november december
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Word:
    """One word of a text, case-folded and without a possessive, where it stands, and whether it begins with a capital.

    follows_stop: more than a space parts it from the word before, or that is a possessive.
    """

    folded: str
    start: int
    end: int
    capital: bool
    follows_stop: bool


def words_of(text: str) -> list[Word]:
    """The words of a text in their order; `end` leaves a possessive out."""
    found: list[Word] = []
    last, owned = 0, False
    for match in _WORD.finditer(text):
        bare = _POSSESSIVE.sub("", match[0])
        parted = owned or bool(_STOP.search(text[last : match.start()]))
        found.append(Word(fold(bare), match.start(), match.start() + len(bare), match[0][:1].isupper(), parted))
        last, owned = match.end(), bare != match[0]
    return found


def fold(name: str) -> str:
    """One spelling for comparing: composed, case-folded, without accents on Latin letters."""
    decomposed = unicodedata.normalize("NFKD", name)
    return "".join(c for c in decomposed if not unicodedata.combining(c)).casefold()


def name_words(words: Iterable[str]) -> list[str]:
    """A name's words without a title before them; a title that is all there is stays."""
    listed = list(words)
    return listed[1:] if len(listed) > 1 and listed[0] in TITLES else listed


def ordinary(word: str) -> bool:
    """Whether a folded word is one of a sentence as well as a name."""
    return word in _ORDINARY


def is_surname(word: Word) -> bool:
    """Whether a word right behind a first name can only be its surname."""
    return word.capital and not word.follows_stop and word.folded not in _NO_SURNAMES
