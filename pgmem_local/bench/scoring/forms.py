"""Whether a text holds an answer: the containment rule of memhop_mini and the diaries, the stem rule of the extraction set."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

LONGEST_ANSWER = 40
"""Words of an output that are read: else a list of everything would score."""
SHORTEST_SECRET = 4
"""Characters of a value that may be looked for without regard to spaces; shorter ones would be found in any text."""

_COMMA_IN_NUMBER = re.compile(r"(?<=\d),(?=\d)")
_POSSESSIVE = re.compile(r"['’]s\b")
_NO_LETTER_OR_DIGIT = re.compile(r"[\W_]+")
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_UNSPACED = re.compile("[\u0600-\u06ff\u3040-\u30ff\u4e00-\u9fff]")

_REFUSALS = (
    "not mentioned", "not mention", "no mention", "no information", "don't know", "do not know", "doesn't say", "does not say",
    "not known", "unknown", "never told", "not told", "not sure", "no record", "not recorded", "not stated", "not specified",
    "cannot tell", "can't tell", "cannot answer", "can't answer", "no answer",
)  # fmt: skip


def norm(text: str) -> str:
    """NFKD without accents, lower case, `1,000` as `1000`, nothing but letters and digits, no a/an/the, single spaces."""
    decomposed = unicodedata.normalize("NFKD", text)
    plain = "".join(character for character in decomposed if not unicodedata.combining(character)).lower()
    spaced = _NO_LETTER_OR_DIGIT.sub(" ", _POSSESSIVE.sub(" s", _COMMA_IN_NUMBER.sub("", plain)))
    return " ".join(_ARTICLE.sub(" ", spaced).split())


def holds(output: str, forms: Iterable[str]) -> bool:
    """Whether one of the forms stands on word boundaries in the first forty words of an output."""
    said = f" {norm(first_words(output))} "
    return any(f" {wanted} " in said for form in forms if (wanted := norm(form)))


def first_words(output: str) -> str:
    return " ".join(output.split()[:LONGEST_ANSWER])


def refuses(output: str) -> bool:
    """Whether an output says that the answer is not known."""
    said = f" {norm(output)} "
    return any(f" {norm(phrase)} " in said for phrase in _REFUSALS)


def mentions(entry: str, note: str) -> bool:
    """Whether a note contains one of an entry's alternatives, which are parted by `|`."""
    return any(_mentions_one(alternative, note) for alternative in entry.split("|"))


def _mentions_one(alternative: str, note: str) -> bool:
    """Anywhere in scripts without spaces; up to three letters as a whole word; longer ones as the start of a word."""
    wanted, said = _folded(alternative), _folded(note)
    if _UNSPACED.search(wanted):
        return wanted in said
    end = r"(?:s|es|'s)?(?!\w)" if len(wanted) <= 3 else ""
    return re.search(r"(?<!\w)" + re.escape(wanted) + end, said) is not None


def leaks(entry: str, written: str) -> bool:
    """Whether something written gives a secret away, also with spaces and hyphens taken out of both."""
    squeezed, values = _squeezed(written), map(_squeezed, entry.split("|"))
    return mentions(entry, written) or any(len(value) >= SHORTEST_SECRET and value in squeezed for value in values)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


def _squeezed(text: str) -> str:
    return re.sub(r"[\s-]+", "", _folded(text))
