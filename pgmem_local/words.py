"""Normalised single words, K(v) and K(q) of equation 5: a text comes in, the words two texts can share come out. And, for whoever looks
for the very words of a text, the form in which two spellings of them are one.

The paper leaves the normal form open. Ours is NFKC and case-folded, without English stop words, in the English Snowball
stem. Scripts written without spaces give character pairs, since nothing here can tell where their words end. Any string
is safe, and no word is found by listing the letters of one alphabet.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby

_STOP_WORDS = frozenset(
    """
    a an the this that these those here there
    i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves one ones
    am is are was were be been being do does did doing done have has had having
    can could will would shall should may might must ought cannot
    and or but nor so if then else than because while although though as
    at by for from in into of off on onto out over to up with without about after before between during through under until
    no not never none yes
    what which who whom whose when where why how
    all any both each few more most other some such only own same too very just also even still again ever
    get got let like really quite much many lot lots
    """.split()  # noqa: SIM905 - a list of 160 quoted words hides the words
)
# Written like this, and not at the start of a sentence, these stop words are names.
_NAMES_LIKE_STOP_WORDS = frozenset({"Will", "May", "US", "IT"})

_JOINERS = "'-_.:,"
_UNSPACED_SCRIPTS = ("CJK ", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")
_CHARACTERS = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "‐": "-", "‑": "-"})
_OPTIONAL_POINTS = re.compile("[\u0591-\u05bd\u05bf-\u05c7\u0640\u064b-\u0652\u0670]")  # Hebrew and Arabic: mostly left out
_LATIN_ACCENT = re.compile("(?<=[A-Za-z])[\u0300-\u036f]+")
_VARIATION_SELECTOR = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_PUNCTUATION = re.compile(r"(?<!\d)[.:,]|[.:,](?!\d)")
_CLITIC = re.compile(r"^(?:ca|wo|sha|ai)n't$|(?:n't|'(?:s|re|ve|ll|d|m))+$")
_ELISION = re.compile(r"^(?:[cdjlmnst]|qu)'(?=\w\w)")


def folded(text: str) -> str:
    """A text as it is searched for: in one case, with one encoding of accents and single spaces."""
    return " ".join(unicodedata.normalize("NFC", text.casefold()).split())


def keywords(text: str) -> frozenset[str]:
    """The normalised single words of a text, stemmed."""
    from snowballstemmer.english_stemmer import EnglishStemmer  # which brings in forty other languages

    stemmer = EnglishStemmer()  # keeps its word inside while it works, so threads must not share one
    return frozenset(str(stemmer.stemWord(word)) for word in content_words(text))


def content_words(text: str) -> tuple[str, ...]:
    """The same words in their order, unstemmed and with repeats. Negations are stop words: their place is a node's polarity."""
    found: list[str] = []
    for token, begins_sentence in _tokens(_normalised(text)):
        is_name = token.removesuffix("'s") in _NAMES_LIKE_STOP_WORDS and not begins_sentence
        for word in _words_of(token.casefold()):
            if is_name or word not in _STOP_WORDS:
                found.append(word)
    return tuple(found)


def _normalised(text: str) -> str:
    """One spelling for one word: composed, without optional points and accents on Latin letters; nothing but words and joiners."""
    decomposed = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).translate(_CHARACTERS))
    plain = unicodedata.normalize("NFC", _OPTIONAL_POINTS.sub("", _LATIN_ACCENT.sub("", decomposed)))
    return "".join(map(_kept, plain))


def _kept(character: str) -> str:
    """Letters, digits, marks and joiners stay, what changes only looks vanishes, sentence ends and the rest part words."""
    if character.isalnum() or character in _JOINERS:
        return character
    category = unicodedata.category(character)
    if category in ("Cf", "Me") or _VARIATION_SELECTOR.match(character):
        return ""
    if category.startswith("M"):
        return character
    return " . " if character in "!?\n" else " "


def _tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Tokens between spaces and punctuation, and whether each begins a sentence."""
    begins_sentence = True
    for chunk in text.split():
        for part in _PUNCTUATION.split(chunk):
            token = part.strip("'-_")
            if any(map(str.isalnum, token)):
                yield token, begins_sentence
                begins_sentence = False
        begins_sentence = begins_sentence or chunk.endswith(".")


def _words_of(token: str) -> Iterator[str]:
    """The words of one case-folded token: compounds parted, possessives and clitics dropped."""
    for part in _parts(token):
        word = _ELISION.sub("", _CLITIC.sub("", part)).replace("'", "")
        for unspaced, run in _runs_by_script(word):
            if unspaced and len(run) > 1:
                yield from (run[at : at + 2] for at in range(len(run) - 1))
            else:
                yield run


def _parts(token: str) -> list[str]:
    """part-time is two words, e-mail and x-ray are one, spelled with or without the hyphen."""
    parts = [part for part in token.split("-") if part]
    return parts if all(len(part) > 1 for part in parts) else ["".join(parts)]


def _runs_by_script(word: str) -> Iterator[tuple[bool, str]]:
    """A word cut where it changes between spaced and unspaced writing."""
    return ((unspaced, "".join(run)) for unspaced, run in groupby(word, _is_unspaced))


def _is_unspaced(character: str) -> bool:
    return character > "\u0dff" and unicodedata.name(character, "").startswith(_UNSPACED_SCRIPTS)
