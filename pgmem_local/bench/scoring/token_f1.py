"""LoCoMo's answer F1 by its authors' rule. Departure: Porter stems come from Snowball, whose `porter` is the published algorithm."""

from __future__ import annotations

import re
import string
from collections import Counter
from enum import IntEnum

from snowballstemmer import stemmer

_ARTICLE = re.compile(r"\b(?:a|an|the|and)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_REFUSALS = ("no information available", "not mentioned")


class Category(IntEnum):
    """The numbers in LoCoMo's file, which are not in the order of its paper."""

    MULTI_HOP = 1
    TEMPORAL = 2
    OPEN_DOMAIN = 3
    SINGLE_HOP = 4
    ADVERSARIAL = 5


def locomo_score(output: str, gold: str, category: Category) -> float:
    """F1 between 0 and 1. Multi-hop: each part between commas against its best match; open domain: gold up to the first `;`."""
    if category is Category.ADVERSARIAL:
        return float(any(phrase in output.lower() for phrase in _REFUSALS))
    if category is Category.MULTI_HOP:
        parts, said = gold.split(","), output.split(",")
        return sum(max(token_f1(one, part) for one in said) for part in parts) / len(parts)
    return token_f1(output, gold.split(";")[0] if category is Category.OPEN_DOMAIN else gold)


def token_f1(output: str, gold: str) -> float:
    """F1 over stemmed tokens, each counted as often as it occurs."""
    said, wanted = Counter(tokens(output)), Counter(tokens(gold))
    shared = sum((said & wanted).values())
    return 2 * shared / (said.total() + wanted.total()) if shared else 0.0


def tokens(text: str) -> list[str]:
    """Lower-cased stems without punctuation and a/an/the/and."""
    porter = stemmer("porter")
    bare = _ARTICLE.sub(" ", text.lower().translate(_NO_PUNCTUATION))
    return [str(porter.stemWord(word)) for word in bare.split()]
