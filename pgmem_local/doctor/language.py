"""Which language a text is written in, cheaply: by the script of most of its letters, and for Latin letters by the commonest small
words of seven languages. A guess that is not clear is no guess: short texts and names tell nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

_SMALL_WORDS = {
    "en": "the and is was not with of to my for that have has are it in on at this from i user",
    "de": "der die das und ist nicht ich mit ein eine zu den von auf für dem sich war habe wir im am mein",
    "fr": "le la les et est pas je une des du dans pour que qui avec mon ma sur ne au suis nous il elle",
    "es": "el la los las y es no que de un una por con para mi en se del al lo me está muy",
    "it": "il lo la gli e è non che di un una per con mi in del della sono ho al mio più",
    "pt": "o a os as e é não que de um uma por com para meu minha em do da no na eu muito",
    "nl": "de het een en is niet ik van met op voor dat mijn zijn was te in er maar ook",
}
_WORDS_OF = {language: frozenset(words.split()) for language, words in _SMALL_WORDS.items()}
_WORD = re.compile(r"[^\W\d_]+")
_LEAST_WORDS = 2
"""Small words that must be there, and be more than those of any other language, before a text counts as this one's."""
_LEAST_SHARE = 0.6
"""Share of the letters that must be of one script."""


def language_of(text: str) -> str | None:
    """A language's code for Latin letters, else the name of the script (`cjk` for Chinese and Japanese); None where it is not clear."""
    script = _script_of(text)
    return _latin_language(text) if script == "latin" else script


def _script_of(text: str) -> str | None:
    scripts = Counter(_script(letter) for letter in text if letter.isalpha())
    if not scripts:
        return None
    script, count = scripts.most_common(1)[0]
    return script if count >= _LEAST_SHARE * scripts.total() else None


def _script(letter: str) -> str:
    first = unicodedata.name(letter, "unknown").split(" ")[0].split("-")[0].casefold()
    return "cjk" if first in ("cjk", "hiragana", "katakana") else first


def _latin_language(text: str) -> str | None:
    words = Counter(_WORD.findall(text.casefold()))
    hits = {language: sum(words[word] for word in small) for language, small in _WORDS_OF.items()}
    first, second = sorted(hits, key=lambda language: -hits[language])[:2]
    return first if hits[first] >= _LEAST_WORDS and hits[first] > hits[second] else None
