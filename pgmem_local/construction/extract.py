"""EXTRACTSTATE, EXTRACTEPISODE and EXTRACTTRAIT (PGMem, Algorithm 1, lines 7, 14 and 21).

States: utterances come in, notes about the user come out. A glance (`reveal.py`) first tells whether an utterance reveals a State at
all, so that most turns cost no written token; the model then writes a few short notes, one fact each. A note must rest on words of the
turn, and on words that may be about the user; where none does, the utterance is quoted instead, in its own language.
Departures: the paper lets one JSON answer decide all of this for every turn, and takes at most one State a turn, where a diary entry
holds several; short notes of one fact are also what the judge tells apart best.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pgmem_local.construction.annotate import Annotator
from pgmem_local.construction.pieces import cut, halves, length
from pgmem_local.construction.reveal import REVEALS, Glance, Spoken, glance, label_notes
from pgmem_local.dates import Grain, find_dates, with_dates
from pgmem_local.denial import denies
from pgmem_local.errors import ModelOutputInvalid, PromptTooLong
from pgmem_local.graph.nodes import Context, Node, Polarity, RecallPriority
from pgmem_local.ports import ChatModel, Completion, Head, Prompt
from pgmem_local.prompts import load, one_line
from pgmem_local.sentences import sentences
from pgmem_local.settings import ConstructionSettings
from pgmem_local.subject import clauses, told_of_others_only
from pgmem_local.words import keywords

SUPPORTED_SHARE = 0.34
"""Share of a note's keywords that must stand in the turn or in what it answers."""
SAME_SHARE = 0.6
"""Share of a note's keywords that a later note of the same Context must hold for the first to be left out."""
LONGEST_SENTENCE = 3
"""Utterances a sentence may be as long as before it is cut: what has no sentence end is rather pasted than said."""
MOST_NOTES = 3
"""Notes taken of one utterance; what a small model adds to them is padding."""
LONGEST_QUOTE = 40
"""Words of an utterance that may stand for a note that could not be written."""
TRAIT_NOTES = 6
TRAIT_WITNESSES = 2
ASSISTANT = "Assistant"
YES_NO = (" Yes", " No")

_NAME = re.compile(r"(?<=[a-z,] )[A-Z]\w{2,}")
_NOTE_END = re.compile(r"(?<=[.!?。])\s+")
_POSSESSIVE = re.compile(r"(?<=^User) ['’]s\b")
_NOTHING = re.compile(r"^\W*(none|nothing|no trait|n/a)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Said:
    """What somebody said to the user, and who it was."""

    speaker: str
    text: str

    @classmethod
    def at_the_end_of(cls, context: Context) -> Said | None:
        """The last words of an exchange, where they are not the user's own."""
        if context.author is not None:
            return cls(context.author, context.text)
        return cls(ASSISTANT, context.reply) if context.reply else None


@dataclass(frozen=True)
class Reading:
    """A Context to learn from, with what was said to the user before it in its session."""

    context: Context
    before: Said | None = None

    @cached_property
    def words(self) -> frozenset[str]:
        """All that a note on this Context may rest on."""
        return keywords(f"{self.context.text} {self.before.text if self.before else ''}")


@dataclass(frozen=True)
class Utterance:
    """A piece of a turn small enough for one State, with the piece before it, which it may refer to."""

    text: str
    reading: Reading
    previous: str = ""

    @property
    def answers(self) -> str:
        """The words that the message may answer."""
        before = self.reading.before
        return one_line(before.text)[-400:] if before else ""

    @property
    def surroundings(self) -> str:
        """All that helps to understand a piece, a line each: what it answers, and what was said just before it."""
        before = self.reading.before
        answers = f"{one_line(before.speaker)}: {self.answers}\n" if before and self.answers else ""
        return f"{answers}Before: {self.previous}\n" if self.previous else answers


@dataclass(frozen=True)
class _Noted:
    """An utterance that reveals a State, and the note on it."""

    utterance: Utterance
    seen: Glance
    note: str


@dataclass(frozen=True)
class StateDraft:
    """A State before it has an id, an embedding and relations. dated: its text with relative dates spelled out, as it is kept."""

    text: str
    priority: RecallPriority
    polarity: Polarity
    dated: str


@dataclass(frozen=True)
class TraitDraft:
    """A Trait before it has an id, with the notes that bear it out."""

    text: str
    witnesses: tuple[Node, ...]


# ------------------------------------------------------------------ States


def extract_states(
    model: ChatModel, annotator: Annotator, readings: Sequence[Reading], settings: ConstructionSettings
) -> list[list[StateDraft]]:
    """The States each Context reveals, in the order they were said; often none, and none where somebody else speaks."""
    own = [reading for reading in readings if reading.context.author is None]
    spoken = [u for reading in own for u in utterances(reading, settings.utterance_words)]
    glances = glance(model, annotator, [Spoken(u.answers, u.text) for u in spoken])
    revealing = [(u, seen) for u, seen in zip(spoken, glances, strict=True) if seen.reveals > REVEALS]
    notes = _write_notes(model, [u for u, _ in revealing], settings.note_tokens)
    noted = [_Noted(u, seen, note) for (u, seen), few in zip(revealing, notes, strict=True) for note in borne_out(few, u)]
    by_context: dict[str, list[StateDraft]] = {}
    kept = _said_once(noted)
    for one, (polarity, priority) in zip(kept, _labels(model, annotator, kept), strict=True):
        draft = StateDraft(one.note, priority, polarity, with_day(one.note, one.utterance))
        by_context.setdefault(one.utterance.reading.context.id, []).append(draft)
    return [by_context.get(reading.context.id, []) for reading in readings]


def _labels(model: ChatModel, annotator: Annotator, noted: Sequence[_Noted]) -> list[tuple[Polarity, RecallPriority]]:
    """A note that is alone has the labels of its utterance; several of one are told apart by their own words."""
    notes_of = Counter(id(one.utterance) for one in noted)
    several = [one for one in noted if notes_of[id(one.utterance)] > 1]
    own = iter(label_notes(model, annotator, [one.note for one in several], [one.seen for one in several]))
    return [next(own) if notes_of[id(one.utterance)] > 1 else (one.seen.polarity, one.seen.priority) for one in noted]


def utterances(reading: Reading, words: int) -> list[Utterance]:
    """A turn in whole sentences of about this many words together; a short turn is one utterance, an empty one none."""
    pieces: list[str] = []
    for sentence in (piece for whole in sentences(reading.context.text) for piece in cut(whole, LONGEST_SENTENCE * words)):
        if pieces and length(pieces[-1]) + length(sentence) <= words:
            pieces[-1] = f"{pieces[-1]} {sentence}"
        else:
            pieces.append(sentence)
    return [Utterance(piece, reading, previous) for piece, previous in zip(pieces, ["", *pieces], strict=False)]


def with_day(note: str, utterance: Utterance) -> str:
    """A note with its relative dates spelled out; where it left out the one day that its clause names, that comes behind it. The day
    of the turn itself is the note's own."""
    said = utterance.reading.context.moment
    spelled = with_dates(note, said, today=False)
    if spelled != note or said is None:
        return spelled
    words = keywords(note.removeprefix("User"))
    clause = max((text for text, _ in clauses(utterance.text)), key=lambda text: len(words & keywords(text)), default="")
    named = [one for one in find_dates(clause, said) if one.relative and one.day != said.day]
    if len(named) != 1 or named[0].grain is not Grain.DAY or not words & keywords(clause):
        return note
    return f"{note.rstrip('.')} ({named[0].words}, {named[0]})."


def log_odds(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """First option against the second, from log-probabilities of shape (prompts, 2)."""
    difference: NDArray[np.float64] = scores[:, 0] - scores[:, 1]
    return difference


def _slots(utterance: Utterance) -> dict[str, str]:
    return {"before": utterance.surroundings, "message": utterance.text}


def _write_notes(model: ChatModel, spoken: Sequence[Utterance], limit: int) -> list[list[str]]:
    """The notes on each utterance; none where the model had nothing to say."""
    task = load("state_note")
    written = model.write([task.ask(_slots(u)) for u in spoken], limit, stop=("\n",))
    if any(not completion.finished and not completion.text.strip() for completion in written):
        raise ModelOutputInvalid("the model wrote nothing where a note was due; the entry stays pending")
    return [notes_in(completion) for completion in written]


def notes_in(completion: Completion) -> list[str]:
    """Sentences about the user, the first of which the prompt began; one that the limit cut off only where it is alone."""
    sentences = _NOTE_END.split(_POSSESSIVE.sub("'s", f"User {one_line(completion.text)}"))
    if not completion.finished and len(sentences) > 1:
        del sentences[-1]
    return [one for one in sentences[:MOST_NOTES] if one.startswith(("User ", "User's ")) and keywords(one.removeprefix("User"))]


def _said_once(noted: Sequence[_Noted]) -> list[_Noted]:
    """Without the notes of a Context that say mostly what a later one of it says: neighbouring pieces share their subject."""
    told = [(one.utterance.reading.context.id, keywords(one.note.removeprefix("User"))) for one in noted]
    result: list[_Noted] = []
    for place, (context, words) in enumerate(told):
        later = (others for other, others in told[place + 1 :] if other == context)
        if not any(len(words & others) >= SAME_SHARE * len(words) for others in later):
            result.append(noted[place])
    return result


def borne_out(notes: Sequence[str], utterance: Utterance) -> list[str]:
    """The notes that rest on an utterance; where none of them does, what it says of the user in its own words and language."""
    return [note for note in notes if is_supported(note, utterance)] or (quoted(utterance) if notes else [])


def quoted(utterance: Utterance) -> list[str]:
    """The sentences of an utterance that may tell of the user, as one note; nothing where there is none, or only questions."""
    told = [sentence for sentence in sentences(utterance.text) if not sentence.endswith("?")]
    own = " ".join(sentence for sentence in told if any(is_own for _, is_own in clauses(sentence)))
    return [f'User: "{own}"'] if keywords(own) and length(own) <= LONGEST_QUOTE else []


def is_supported(note: str, utterance: Utterance) -> bool:
    """Whether a note rests on the words of the turn, and on such as may be about the user: some of its keywords, and every number.
    A note that stands in the prompt's own examples must rest on it with every word: else it was copied."""
    said = utterance.reading.words
    claimed = keywords(note.removeprefix("User"))
    head = load("state_note").head
    if not claimed or any(word.isdigit() for word in claimed - said) or borrows_a_name(note, head, said):
        return False
    if told_of_others_only(note, utterance.text) or (denies(note) and _only_asks(utterance.text)):
        return False
    copied = note in head.instructions
    return len(claimed & said) / len(claimed) >= (1.0 if copied else SUPPORTED_SHARE)


def _only_asks(text: str) -> bool:
    """Whether a text is nothing but questions without a denial of their own: "What do you know about me?" does not say "nothing"."""
    asked = sentences(text)
    return all(one.endswith(("?", "？")) for one in asked) and not denies(text)


def borrows_a_name(text: str, head: Head, said: frozenset[str]) -> bool:
    """Whether a text holds a name that only the prompt's own examples can have given it."""
    names = (name for name in _NAME.findall(head.instructions) if name != "User")
    return bool((keywords(text) - said) & keywords(" ".join(names)))


# ------------------------------------------------------------------ Episodes


def extract_episode(model: ChatModel, contexts: Sequence[Context], settings: ConstructionSettings) -> str:
    """What happened in a chunk. A short chunk is its own summary, word for word: that costs nothing and loses nothing."""
    own_words = verbatim_episode(contexts, settings)
    if own_words is not None:
        return own_words
    task = load("episode")
    parts = _fitting(model, task.ask({"text": ""}), [_exchange(context) for context in contexts], settings.episode_tokens)
    summaries = model.write([task.ask({"text": part}) for part in parts], settings.episode_tokens, stop=("\n\n",))
    texts = [_whole_sentences(one_line(summary.text), summary.finished) for summary in summaries]
    if not any(texts):
        raise ModelOutputInvalid("the model wrote an empty summary; the chunk stays open")
    return " ".join(f"User {text}" for text in texts if text)


def verbatim_episode(contexts: Sequence[Context], settings: ConstructionSettings) -> str | None:
    """A short chunk word for word; None where it is too long to be its own summary."""
    own_words = "\n".join(_told(context) for context in contexts)
    return one_line(own_words) if length(own_words) <= settings.verbatim_episode_words else None


def _told(context: Context) -> str:
    """The words of an exchange as its own summary; whose they are, where they are not the user's."""
    return context.text if context.author is None else f"{context.author}: {context.text}"


def _exchange(context: Context) -> str:
    reply = f"\n{ASSISTANT}: {one_line(context.reply)}" if context.reply else ""
    return f"{one_line(context.author or 'User')}: {one_line(context.text)}{reply}"


def _fitting(model: ChatModel, empty: Prompt, exchanges: Sequence[str], reply_tokens: int) -> list[str]:
    """Exchanges joined into as few texts as fit the context window beside the head; an overlong one is halved until it fits."""
    room = model.room(empty.head, reply_tokens) - 16
    if room < 16:
        raise PromptTooLong("the context window has no room for a text beside the prompt; open the model with a larger one")
    parts: list[str] = []
    waiting = list(exchanges)
    while waiting:
        exchange = waiting.pop(0)
        if model.count(exchange) > room:
            waiting[:0] = halves(exchange)
        elif parts and model.count(f"{parts[-1]}\n{exchange}") <= room:
            parts[-1] = f"{parts[-1]}\n{exchange}"
        else:
            parts.append(exchange)
    return parts


def _whole_sentences(text: str, finished: bool) -> str:
    """A summary cut by its limit keeps its whole sentences; one without any is kept as it is."""
    whole, end, _ = text.rpartition(". ")
    return whole + end.rstrip() if not finished and whole else text


# ------------------------------------------------------------------ Traits


def extract_trait(model: ChatModel, notes: Sequence[Node], settings: ConstructionSettings) -> TraitDraft | None:
    """A lasting disposition that at least two of the notes bear out, or None. The paper trusts what is written; we check each note."""
    if len(notes) < TRAIT_WITNESSES:
        return None
    shown = list(notes)[-TRAIT_NOTES:]
    listing = "\n".join(f"- {one_line(note.text)}" for note in shown)
    written = model.write([load("trait").ask({"notes": listing})], settings.trait_tokens, stop=("\n",))[0]
    text = one_line(written.text)
    if not written.finished or not keywords(text) or _NOTHING.match(text) or text in load("trait").head.instructions:
        return None
    if borrows_a_name(text, load("trait").head, keywords(listing)) or any(_says_the_same(text, note) for note in shown):
        return None  # what stands in an example or in a note already is no disposition
    text = text if text.startswith("User") else f"User {text[:1].lower()}{text[1:]}"
    check = load("trait_check")
    borne_out = log_odds(model.choose([check.ask({"trait": text, "note": one_line(note.text)}) for note in shown], YES_NO)) > 0
    witnesses = tuple(note for note, true in zip(shown, borne_out, strict=True) if true)
    return TraitDraft(text, witnesses) if len(witnesses) >= TRAIT_WITNESSES else None


def _says_the_same(text: str, note: Node) -> bool:
    """Whether all that a trait says stands in one note already."""
    return keywords(text.removeprefix("User")) <= note.keywords
