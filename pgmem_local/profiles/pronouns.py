"""Whom he, she or it means in a chunk: English only, by who was named last and which of them it can be. No model is asked.

Whether somebody is he or she is learned from sentences that name nobody else, and from relations such as sister. Where two may be
meant, nobody is: a fact about the wrong one is worse than none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pgmem_local.graph.names import Word, words_of
from pgmem_local.graph.people import Entity, EntityId, EntityKind, People
from pgmem_local.graph.relations import PETS, RELATIONS
from pgmem_local.profiles.lines import Line

NEIGHBOURS = 2
"""Sentences without a name after which nobody is meant any more whose gender is not known."""
REMEMBERED = 6
"""Sentences back to which "she" may reach past others who are he."""

_PRONOUN = re.compile(r"\b(?P<word>he|she|him|his|her)\b(?:['’](?:s|d|ll)\b)?", re.IGNORECASE)
_ITS = re.compile(r"^(?:(?:and|but|so|oh|well|also|then)[, ]+)*(?P<word>it|its)\b(?:['’]s\b)?", re.IGNORECASE)
_OBJECT = re.compile(
    r"^\s*(?:$|[.,;:!?)]|(?:to|in|on|at|a|an|the|and|or|but|for|from|of|off|with|about|into|by|if|when|that|this|up|out|is|was|my|so|as"
    r"|his|her|their|its|some|any|more|all|both|down|back|over|again|what|how|why|where|who|because|i|we|he|she|they|it"
    r"|yesterday|today|tomorrow|tonight|last (?:night|week|month|year|\w+day)|there|here|now|then|once)\b)",
    re.IGNORECASE,
)
_OF_ANOTHER = re.compile(r"(?:\s+is|\s+was|['’]s|,)\s+$", re.IGNORECASE)
"""Between a name and a pronoun that tells of somebody else: Gwil is her landlord; Bello, her dog."""
_PREDICATE = re.compile(
    r"(?:\bis|\bwas|['’]s|,|\bas|\() (?:(?:not |still |now )?(?:a|an|the|my|our|his|her|their|\w+['’]s) )?(?:\w+ )?$", re.IGNORECASE
)
"""Before what somebody is, which is no other person: Gwil is her landlord; Rike, my old boss."""
_SHE = frozenset("mother sister daughter grandma aunt niece stepmother stepsister half-sister wife girlfriend landlady".split())  # noqa: SIM905
_HE = frozenset("father brother son grandpa uncle nephew stepfather stepbrother half-brother husband boyfriend landlord".split())  # noqa: SIM905
_SHE_WORDS = _SHE | frozenset("woman girl lady mum mom grandma".split())  # noqa: SIM905
_HE_WORDS = _HE | frozenset("man boy guy bloke gentleman dad grandpa".split())  # noqa: SIM905
_SOMEBODY = (RELATIONS - PETS) | _SHE_WORDS | _HE_WORDS | frozenset(("stranger", "somebody", "someone"))
_ALONE = frozenset("stranger somebody someone mum mom dad mother father grandma grandpa".split())  # noqa: SIM905
_DETERMINER = re.compile(r"\b(?:an?|the|my|our|his|her|their|your|\w+['’]s|some|another|one|this|that) (?:\w+ )?$", re.IGNORECASE)
_EITHER = frozenset(("he", "she"))


def _is_initial(word: Word) -> bool:
    """T wants to take him soup: somebody, but who?"""
    return len(word.folded) == 1 and word.folded not in "ai" and word.folded.isalpha()


def _is_another(word: Word, text: str) -> bool:
    """Whether a word for a person is one here, and not a verb ("to coach") or what somebody named is."""
    is_a_noun = word.folded in _ALONE or _DETERMINER.search(text, 0, word.start)
    return bool(is_a_noun) and not _PREDICATE.search(text, 0, word.start)


def _pronouns_for(word: str) -> frozenset[str]:
    if word in _SHE_WORDS:
        return frozenset(("she",))
    return frozenset(("he",)) if word in _HE_WORDS else _EITHER


@dataclass(frozen=True)
class Meant:
    """A pronoun of a sentence, from `start` to `end`, the one entity it can mean, and its name in the form of the pronoun."""

    start: int
    end: int
    entity: Entity
    form: str


@dataclass(frozen=True)
class _Group:
    """Whom one sentence speaks of. `strangers`: the pronouns that may mean somebody else in it, a friend or a name left unresolved."""

    entities: tuple[EntityId, ...]
    strangers: frozenset[str]


class Focus:
    """Who was spoken of in the sentences so far, the last first."""

    def __init__(self, people: People, gender: Mapping[EntityId, str], strangers: Collection[str] = ()) -> None:
        self._people, self._gender, self._strangers = people, dict(gender), frozenset(strangers)
        self._spoken: list[_Group] = []
        self._silent = 0

    def may_be_meant_in(self, line: Line) -> list[EntityId]:
        """Who was named last and fits the pronoun of a sentence, though others may as well; nobody where a stranger was named too."""
        pronoun = _PRONOUN.search(line.text)
        if pronoun is None or line.context.author is not None or not self._spoken or self._silent > NEIGHBOURS:
            return []
        last, word = self._spoken[0], pronoun["word"].lower()
        return [] if gender_of(word) in last.strangers else [one for one in last.entities if self._fits(word, one)]

    def meant_in(self, line: Line) -> Meant | None:
        """The first pronoun of a sentence that can only mean one entity, and neither of those named before it in the sentence."""
        pronoun = _PRONOUN.search(line.text) or _ITS.match(line.text)
        if pronoun is None or line.context.author is not None:
            return None
        word = pronoun["word"].lower()
        before = [mention for mention in self._people.mentions_in(line.text) if mention.start < pronoun.start("word")]
        others = {one for mention in before if _OF_ANOTHER.match(line.text, mention.end, pronoun.start()) for one in mention.candidates}
        if any(self._fits(word, one) for mention in before for one in mention.candidates if one not in others):
            return None
        if gender_of(word) in self._strangers_in(line.text, pronoun.start("word")):
            return None
        found = self._latest(word, others)
        if found is None:
            return None
        if word not in ("it", "its"):
            self._gender.setdefault(found, gender_of(word))
        return _meant(pronoun, self._people[found], line.text)

    def follow(self, spoken: Sequence[EntityId], line: Line) -> None:
        """Go on to the next sentence: whoever is spoken of comes first from now on."""
        somebody = tuple(one for one in spoken if self._people[one].kind in (EntityKind.PERSON, EntityKind.PET))
        strangers = self._strangers_in(line.text, len(line.text))
        self._silent = 0 if somebody or strangers else self._silent + 1
        self._spoken = ([_Group(somebody, strangers)] if somebody or strangers else []) + self._spoken
        self._spoken = [] if self._silent > REMEMBERED else self._spoken[:REMEMBERED]

    def _latest(self, word: str, others: Collection[EntityId]) -> EntityId | None:
        """The one last named that the pronoun fits; who is known to be of the other gender is passed over."""
        for group in self._spoken:
            fitting = [one for one in group.entities if one not in others and self._fits(word, one)]
            if gender_of(word) in group.strangers:
                return None
            known = [one for one in fitting if self._gender.get(one) == gender_of(word)]
            if len(known) == 1:
                return known[0]
            if fitting:
                return fitting[0] if len(fitting) == 1 and self._silent <= NEIGHBOURS and group is self._spoken[0] else None
        return None

    def _strangers_in(self, text: str, end: int) -> frozenset[str]:
        """The pronouns that may mean somebody a text speaks of before `end` who is no entity, or bears a name of two."""
        mentions = [mention for mention in self._people.mentions_in(text) if mention.start < end]
        if any(len(mention.candidates) > 1 for mention in mentions):
            return _EITHER
        resolved = {at for mention in mentions for at in range(mention.start, mention.end)}
        words = [word for word in words_of(text) if word.start < end and word.start not in resolved]
        if any(word.capital and (word.folded in self._strangers or _is_initial(word)) for word in words):
            return _EITHER
        others = (word.folded for word in words if word.folded in _SOMEBODY and _is_another(word, text))
        return frozenset().union(*(_pronouns_for(other) for other in others))

    def _fits(self, word: str, one: EntityId) -> bool:
        if word in ("it", "its"):
            return self._people[one].kind is not EntityKind.PERSON
        return self._gender.get(one) in (None, gender_of(word))


def gender_of(word: str) -> str:
    return "she" if word in ("she", "her", "hers") else "he"


def says_he_or_she(line: Line) -> bool:
    return line.context.author is None and bool(_PRONOUN.search(line.text))


def genders(lines: Sequence[Line], people: People) -> dict[EntityId, str]:
    """Who is he and who is she, as far as their relation tells or sentences about nobody else agree on."""
    votes: dict[EntityId, Counter[str]] = {}
    texts = [line.text for line in lines if line.context.author is None] + [fact.text for fact in people.all_facts(current=False)]
    for text in texts:
        mentions = people.mentions_in(text)
        if len({mention.candidates for mention in mentions}) == 1 and len(mentions[0].candidates) == 1:
            behind = mentions[0].end
            own = (match for match in _PRONOUN.finditer(text, behind) if not _OF_ANOTHER.match(text, behind, match.start()))
            said = (gender_of(match["word"].lower()) for match in own)
            votes.setdefault(mentions[0].candidates[0], Counter()).update(set(said))
    found = {one: count.most_common(1)[0][0] for one, count in votes.items() if len(set(count.values())) > 1 or len(count) == 1}
    by_relation = {one.id: "she" if one.relation in _SHE else "he" for one in people if one.relation in _SHE | _HE}
    return found | by_relation


def _meant(pronoun: re.Match[str], entity: Entity, text: str) -> Meant:
    """her book is Ana's book, I saw her is I saw Ana."""
    word = pronoun["word"].lower()
    owns = word in ("his", "its") or (word == "her" and not _OBJECT.match(text[pronoun.end() :]))
    return Meant(pronoun.start("word"), pronoun.end("word"), entity, f"{entity.name}'s" if owns else entity.name)
