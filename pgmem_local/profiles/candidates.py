"""Who may be spoken of in a chunk, found by code: capitalised names, "my sister", and who wrote a message in a chat.

Departure: the paper lets a model call list the names. A small model reads better than it writes, so code lists them here and the one
call only says of each what it is (`naming.py`). A name at the beginning of a sentence counts where something else speaks for it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pgmem_local.graph.names import TITLES, Word, fold, words_of
from pgmem_local.graph.people import People
from pgmem_local.graph.relations import WORDS, is_the_only, relation_word
from pgmem_local.profiles.lines import Line
from pgmem_local.words import content_words

_NAME = r"(?P<name>[A-Z][\w-]*(?: [A-Z][\w-]*)*)"
_RELATION = rf"(?P<relation>{'|'.join(sorted(map(re.escape, WORDS), key=len, reverse=True))})"
_STATED = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:[Mm]y|[Oo]ur) (?:[a-z]+ ){{0,2}}?{_RELATION},? (?:is (?:called )?|called |named |is named )?{_NAME}",
        rf"\b{_NAME}(?:,| \(| is| was|, who is| -| –) ?(?:[\w ]{{1,24}}, ?)?(?:my|our) (?:[a-z]+ )?{_RELATION}\b(?!['’-])",
        rf"\b(?:[Mm]y|[Oo]ur) {_RELATION}['’]s name is {_NAME}",
    )
)
_MY = re.compile(rf"\b(?:[Mm]y|[Oo]ur) (?:[a-z]+ )?{_RELATION}\b(?!-)")
_NEVER = frozenset(
    """
    i monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays oh yes
    one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred half
    january february march april may june july august september october november december christmas easter
    english german french spanish italian dutch polish god ok okay tv pm am pdf user assistant
    """.split()  # noqa: SIM905
)
_VERBS = frozenset(
    """
    is was has had will would can could says said and came went got took made gave told called left does did wants needs met may
    cannot can't isn't won't read ran wrote bought found lost won sang swam sold sent kept held drove flew ate drank broke fell felt
    grew knew paid put sat spent stood taught thought wore began asked
    """.split()  # noqa: SIM905
)
_IS_EXPLAINED = re.compile(r"^, (?:the|my|our|her|his|who|whose) ")
_QUOTES = "\"“‘«'"
_QUOTED = re.compile(r"[\"“”«»]")
"""Who says "my brother" in a quotation is somebody else."""
_VERB_ENDINGS = ("s", "ed")


@dataclass(frozen=True)
class Candidate:
    """Somebody or something that a chunk may speak of, in which lines, and what relation to the user it states.

    name: None for one known only by the relation, as "my sister" is.
    """

    name: str | None
    relation: str | None
    lines: tuple[Line, ...]

    @property
    def label(self) -> str:
        """How the prompt calls it."""
        return self.name or f"my {self.relation}"


def find_candidates(lines: Sequence[Line], people: People) -> list[Candidate]:
    """All that a chunk may speak of, longest names first, so that a first name finds the full one before it."""
    places: defaultdict[str, list[Line]] = defaultdict(list)
    spelling: dict[str, str] = {}
    certain, plain = _certain_names(lines, people), _plain_words(lines)
    for line in lines:
        for name in (*_author(line), *_names_in(line, certain - plain, plain)):
            key = fold(name)
            spelling.setdefault(key, name)
            if line not in places[key]:
                places[key].append(line)
    relations = stated_relations(lines)
    named = [Candidate(spelling[key], relations.get(key), tuple(where)) for key, where in places.items()]
    return sorted(named, key=lambda one: -len((one.name or "").split())) + _nameless(lines, relations, people)


def stated_relations(lines: Sequence[Line]) -> dict[str, str]:
    """Folded name -> the relation to the user that the user's words state."""
    found: dict[str, str] = {}
    for line in lines:
        if line.context.author is None:
            for match in (match for pattern in _STATED for match in pattern.finditer(line.text)):
                if (relation := relation_word(match["relation"])) is not None:
                    found.setdefault(fold(match["name"]), relation)
    return found


def _author(line: Line) -> Iterator[str]:
    if line.context.author:
        yield line.context.author


def _certain_names(lines: Sequence[Line], people: People) -> frozenset[str]:
    """Folded names that are sure to be names: known already, or written with a capital within a sentence."""
    known = {fold(name) for entity in people for name in entity.names}
    stated = set(stated_relations(lines))
    inside = {fold(name) for line in lines for at, name in _capitalised(line.text) if at > 0}
    sure = known | inside | stated
    return frozenset(sure | {name.split()[0] for name in sure})


def _plain_words(lines: Sequence[Line]) -> frozenset[str]:
    """What is written small somewhere: with a capital at the beginning of a sentence it is the same word."""
    return frozenset(word.folded for line in lines for word in words_of(line.text) if not word.capital)


def _names_in(line: Line, certain: frozenset[str], plain: frozenset[str]) -> Iterator[str]:
    for place, name in _capitalised(line.text):
        if place > 0 or fold(name) in certain or " " in name or (fold(name) not in plain and _acts(line.text, name)):
            yield name


def _capitalised(text: str) -> Iterator[tuple[int, str]]:
    """Runs of capitalised words and the place of the first among the words of its sentence; 0 where a sentence begins."""
    words = words_of(text)
    place = 0
    while place < len(words):
        run = _run(text, words, place)
        kept = _without_plain_words(run, begins=place == 0 or _begins_anew(text, words[place]))
        if kept and not (kept[0].start and text[kept[0].start - 1] in _QUOTES):
            begins = kept[0] is words[0] or _begins_anew(text, kept[0])
            yield (0 if begins else place + 1), _written_small(text[kept[0].start : kept[-1].end])
        place += max(len(run), 1)


def _written_small(name: str) -> str:
    """A name of several words written in capitals, as on a poster, becomes a plain one; NASA stays."""
    return name.title() if name.isupper() and " " in name else name


def _run(text: str, words: Sequence[Word], place: int) -> list[Word]:
    run: list[Word] = []
    for word in words[place:]:
        if not word.capital or (run and word.follows_stop) or text[word.start : word.end] == "I":
            break
        run.append(word)
    return run


def _without_plain_words(run: list[Word], begins: bool) -> list[Word]:
    """A run without what is no name: a stop word that begins the sentence, days and months, "I'm"."""
    if run and begins and len(run) > 1 and not content_words(run[0].folded) and run[0].folded not in TITLES:
        run = run[1:]
    if not run or any(word.folded in _NEVER or word.folded.startswith(("i'", "i’")) for word in run):
        return []
    plain = len(run) == 1 and begins and not content_words(run[0].folded)
    return [] if plain or all(relation_word(word.folded) for word in run) or len(run[0].folded) < 2 else run


def _begins_anew(text: str, word: Word) -> bool:
    return text[: word.start].rstrip().endswith((":", ".", "!", "?", "-", "–"))


def _acts(text: str, name: str) -> bool:
    """Whether what begins a sentence has something or does something: Jo's birthday, Mira called."""
    rest = text.partition(name)[2]
    if rest[:2] in ("'s", "’s") or _IS_EXPLAINED.match(rest):
        return True
    following = words_of(rest)[:1]
    if not following or following[0].capital or not rest.startswith(" "):
        return False
    verb = following[0].folded
    return verb in _VERBS or (verb.endswith(_VERB_ENDINGS) and not verb.endswith("ss") and not name.casefold().endswith("ly"))


def _nameless(lines: Sequence[Line], named: dict[str, str], people: People) -> list[Candidate]:
    """ "my sister", where one is meant and no name is known or given beside it."""
    places: defaultdict[str, list[Line]] = defaultdict(list)
    for line in lines:
        if line.context.author is None and not _QUOTED.search(line.text):
            for relation in _relations_in(line.text):
                places[relation].append(line)
    taken = set(named.values())
    return [Candidate(None, one, tuple(dict.fromkeys(where))) for one, where in places.items() if one not in taken]


def _relations_in(text: str) -> Iterator[str]:
    words = [match["relation"] for match in _MY.finditer(text)]
    words += [word.folded for word in words_of(text) if word.capital and word.folded in _CALLED]
    for relation in filter(None, map(relation_word, words)):
        if is_the_only(relation):
            yield relation


_CALLED = frozenset("mum mom dad mummy daddy mama papa grandma grandpa granny nan".split())  # noqa: SIM905
"""Relations that are used like names."""
