"""Every number of the method, a frozen dataclass a stage. Values are the papers' unless the comment says otherwise."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


@dataclass(frozen=True)
class ConstructionSettings:
    """PGMem, Algorithm 1 and appendix B."""

    chunk_exchanges: int = 10
    """[C] Exchanges after which a long session is cut. The paper leaves it open."""
    trait_interval: int = 4
    """[B] Chunks between two trait abstractions, and between two offline passes. The paper's 2 are sessions of ten exchanges; ours are
    mostly days of one."""
    recent_states: int = 5
    """States a new State is judged against at once: the nearest in event time."""
    judged_at_once: int = 2
    judged_offline: int = 2
    """Ours: of these candidates, how many a new node are judged, the most alike first."""
    judged_from: float = 0.30
    """Ours: closeness from which they are. Offline the most alike is judged in any case: the encoder sees little of the pub in who has
    stopped drinking. Of 381 pairs judged without this in 28 entries of the shipped diary, all 22 found to bear on each other lie above."""
    trait_top_states: int = 10
    trait_top_episodes: int = 5
    state_top_by_meaning: int = 8
    state_top_by_words: int = 8
    episode_top_by_meaning: int = 4
    episode_top_by_words: int = 4
    utterance_words: int = 40
    """Ours: a diary entry is read in pieces of about this many words, whole sentences; each yields a few States at most."""
    verbatim_episode_words: int = 150
    """Ours: a chunk shorter than this is its own summary; summarising it costs a call and loses facts."""
    note_tokens: int = 60
    episode_tokens: int = 110
    trait_tokens: int = 40


@dataclass(frozen=True)
class PeopleSettings:
    """ProGraph, section 3.1: what is kept of the people, pets, places, organisations and projects the user speaks of."""

    enabled: bool = True
    """Ours: without this layer a session costs 1 + E calls less."""
    same_fact: float = 0.9
    """[τ_dedup]"""
    profile_words: int = 150
    """Ours: a profile longer than this gives up its oldest sentences, but never the last that names somebody."""
    entities_a_session: int = 8
    """Ours: E at most; the ones named in most lines are written first, the others wait for their next session."""
    lines_a_call: int = 24
    """Ours: sentences of a session shown for one entity."""
    same_person: float = -0.85
    """Ours: log-odds of Yes from which a nickname is taken for the one who bears it. Chosen on 13 pairs, some of them lines of the shipped
    scenario 1: the 1.5B then joins 5 of 7 that are one person and none of 6 that are two; the nearest of those lies at -0.91."""
    naming_tokens: int = 160
    profile_tokens: int = 200


@dataclass(frozen=True)
class PeopleReadSettings:
    """ProGraph, section 3.2."""

    profiles: int = 5
    """[M]"""
    name_boost: float = 0.3
    """[β]"""
    expand_above: float = 0.2
    """[τ_expand]"""
    rounds: int = 5
    facts: int = 5
    """The paper says "a small per-entity cap" and gives no number."""


@dataclass(frozen=True)
class HopSettings:
    """Ours: chains of facts in place of the paper's expansion."""

    longest: int = 5
    """Facts in a chain before the one that answers; the paper's questions have one to five hops in all."""
    beam: int = 24
    """Chains followed at each length."""
    least: float = 0.02
    """Cosine above that of the average fact from which a fact may explain a relation."""
    unexplained: float = 0.1
    """What a relation costs that a chain leaves unexplained, in cosine."""
    introduced: float = 0.5
    """What it is worth that "my flatmate" is known by that name, in cosine."""
    from_user: float = 0.15
    """What it costs to begin at the user where the question names somebody as well, in cosine."""
    beside: float = 0.03
    """What it costs to go on to somebody who was only spoken of in the same breath, in cosine."""
    other_spelling: float = 0.05
    """What it costs to take Del for Delphine, in cosine."""
    chains: int = 10
    """Chains kept, best first."""


@dataclass(frozen=True)
class Shares:
    """Shares of the evidence budget; what the persona leaves goes to others, and what these leave to the exchanges as they were."""

    persona: float
    people: float


@dataclass(frozen=True)
class JoinedSettings:
    """Ours: persona, people and raw exchanges in one context. The kind of question divides the budget."""

    hops: HopSettings = field(default_factory=HopSettings)
    plain: PeopleReadSettings = field(default_factory=PeopleReadSettings)
    about_user: Shares = Shares(0.40, 0.20)
    about_someone: Shares = Shares(0.10, 0.55)
    when: Shares = Shares(0.35, 0.25)
    advice: Shares = Shares(0.55, 0.20)
    other: Shares = Shares(0.45, 0.20)
    told_of: float = 0.3
    """Cosine above that of the average fact from which a relation of the question is one that a fact tells of."""
    rewritten: int = 3
    """Chains whose end the exchanges are searched for, beside the question itself."""
    exchanges: int = 20
    """Nearest exchanges a search."""


@dataclass(frozen=True)
class SeedSettings:
    """PGMem, section 4.3.1, equation 6 and appendix B.2."""

    contexts: int = 20
    episodes: int = 6
    states: int = 17
    traits: int = 6
    active_persona: int = 6
    """[k_aps]"""
    context_weights: tuple[float, float] = (0.65, 0.35)
    narrow_weights: tuple[float, float] = (0.60, 0.40)
    broad_weights: tuple[float, float] = (0.85, 0.15)
    """(w_sem, w_ov)"""
    candidates: int = 64
    """Ours: nearest nodes a kind asked of the index before φ ranks them together with the keyword hits."""


@dataclass(frozen=True)
class ExpandSettings:
    """PGMem, section 4.3.2."""

    hop_cap: int = 10
    """[H]"""


class Weighing(str, Enum):
    """What equation 9 counts: every note alike and whenever it was said, as in the paper, or each by its probability, its sources and
    its age."""

    COUNTED = "counted"
    WEIGHED = "weighed"


@dataclass(frozen=True)
class FadingSettings:
    """Ours: days in which the validity of what is said no more halves, by scope and recall priority. The paper leaves time open."""

    narrow_low: float = 365.0
    broad_low: float = 2 * 365.0
    narrow_high: float = 4 * 365.0
    broad_high: float = 6 * 365.0
    trait: float = 20 * 365.0


@dataclass(frozen=True)
class AssembleSettings:
    """PGMem, section 4.3.3, equations 9 and 10, appendix B.2."""

    smoothing: float = 1.0
    """[α] Open in the paper."""
    validity_weight: float = 0.5
    """[λ]"""
    challenged_ratio: float = 0.7
    """A trait with contradicting evidence is challenged when its support ratio is at most this."""
    traits: int = 5
    states: int = 18
    episodes: int = 4
    unlearned_contexts: int = 10
    """Ours: entries that wait to be learned, as they were written."""
    changed_states: int = 6
    """Ours: superseded States shown as history, so that what used to hold can be answered."""
    changed_states_of_past: int = 2
    """Ours: times as many of them where the question is about the past."""
    weighing: Weighing = Weighing.WEIGHED
    fading: FadingSettings | None = None
    """None where nothing fades. On the shipped diary, with tokens taken for four characters each, fading lost one advice question of 40 and
    won none: evidence recall within 400, 700 and 1,200 tokens is 0.74, 0.85 and 0.91 without it, 0.71, 0.82 and 0.88 with it, and 0.69,
    0.85 and 0.88 by the paper's counts. A diary of half a year says little about it; `pgmem-fading` in the benchmark switches it on."""


@dataclass(frozen=True)
class RetrievalSettings:
    seed: SeedSettings = field(default_factory=SeedSettings)
    expand: ExpandSettings = field(default_factory=ExpandSettings)
    assemble: AssembleSettings = field(default_factory=AssembleSettings)


@dataclass(frozen=True)
class AnswerSettings:
    evidence_tokens: int = 500
    """Evidence shown to the model; the paper's questions take 1,847 input tokens in all. Passages need few: of the gold entries of the
    shipped diary five in six are among 400 tokens of them, and what more is shown costs time and misleads a small model."""
    answer_tokens: int = 160


@dataclass(frozen=True)
class ChatSettings:
    """Ours: the paper holds no conversation."""

    evidence_tokens: int = 400
    """Less than for a question: they are read before the first word of a reply, and the core and earlier messages come too."""
    core_traits: int = 3
    core_states: int = 6
    history_messages: int = 8
    """At least so many earlier messages come along, and fewer than twice as many: they go as many at a time, because each time
    that some go the rest is evaluated anew."""
    reply_tokens: int = 300
    temperature: float = 0.0


@dataclass(frozen=True)
class Settings:
    construction: ConstructionSettings = field(default_factory=ConstructionSettings)
    people: PeopleSettings = field(default_factory=PeopleSettings)
    retrieval: RetrievalSettings = field(default_factory=RetrievalSettings)
    joined: JoinedSettings = field(default_factory=JoinedSettings)
    answer: AnswerSettings = field(default_factory=AnswerSettings)
    chat: ChatSettings = field(default_factory=ChatSettings)
