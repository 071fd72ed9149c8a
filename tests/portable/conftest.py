"""A memory in which everything occurs that an export must carry: learned and pending lines, replies, sessions, authors, files, shifts,
Traits, people whose facts were replaced, and what the owner said, pinned and renamed."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from pgmem_local.contents import Contents
from pgmem_local.conversation import Exchange, Speaker, Turn
from pgmem_local.graph.nodes import Kind, NodeId
from pgmem_local.memory import PersonaMemory
from pgmem_local.retrieval.assemble import Evidence
from tests.builders import on_day
from tests.control.conftest import LINES, believe, opened, reader, said
from tests.profiles.builders import PeopleReader
from tests.reader import Reader

PEOPLE = ("My flatmate Toby moved to Graz.", "My sister Ana is a nurse.", "Toby moved to Linz.")
DIARY = (*(said(text, day) for day, text in enumerate(LINES)), *(said(text, 10 + day) for day, text in enumerate(PEOPLE)))
QUESTIONS = ("What do I drink?", "Where do I live?", "When do I swim?", "Who is Toby?")


@pytest.fixture(autouse=True)
def believed(monkeypatch: pytest.MonkeyPatch) -> None:
    believe(monkeypatch)


def model() -> Reader:
    chat = reader()
    chat.rules |= PeopleReader({"Graz": "place", "Linz": "place"}).rules
    return chat


def learn(home: Path, exchanges: Sequence[Exchange], file: str | None = None) -> None:
    with opened(home, model()) as memory:
        memory.observe(exchanges, file)
        memory.learn()


def act(home: Path) -> None:
    """What the owner does, and what is not learned yet."""
    with opened(home, model()) as memory:
        memory.remember("I am allergic to walnuts.", on_day(30))
        memory.correct(NodeId("s3"), "I swim on Fridays.", on_day(31))
        memory.pin(NodeId("s4"))
        memory.rename_person("Ana", "Ana Reyes")
        memory.observe([said("It rained.", 40, session="walk", reply="Take a coat."), said("No date at all.", None)])
        memory.observe([Exchange(Turn("See you at six.", on_day(41), Speaker.OTHER, "walk", "Imani"))], "chat.txt")


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Learned once; every test gets a copy."""
    folder = tmp_path_factory.mktemp("original")
    with pytest.MonkeyPatch.context() as monkeypatch:
        believe(monkeypatch)
        learn(folder / "home", DIARY, "diary.md")
        act(folder / "home")
    with opened(folder / "home") as memory:
        memory.export(folder / "memory.jsonl")
    return folder


@pytest.fixture
def full(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original / "home", tmp_path / "full"))


@pytest.fixture
def exported(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copyfile(original / "memory.jsonl", tmp_path / "memory.jsonl"))


def by_key(contents: Contents) -> dict[str, object]:
    """Contents in words that do not depend on ids, each thing in the order it has."""
    keys: dict[str, object] = {one.node.id: one.node.key for one in contents.contexts}
    sources: dict[str, list[str]] = {}
    for edge in contents.sources:
        sources.setdefault(edge.derived, []).append(edge.source)
    for note in sorted(contents.notes, key=lambda one: [Kind.STATE, Kind.EPISODE, Kind.TRAIT].index(one.kind)):
        keys[note.id] = (note.kind, note.text, note.moment, tuple(keys[one] for one in sources[note.id]))
    chunks = {one.id: (one.label, one.closed, one.consolidated) for one in contents.chunks}
    names = {one.id: (one.kind, one.own_name, [(keys[n.context], n.name, n.relation) for n in one.namings]) for one in contents.entities}
    facts = {one.id: (names[one.entity], one.kind, one.text, one.said) for one in contents.facts}
    plain = {"id": "", "key": ""}
    return {
        "contexts": [
            (keys[c.node.id], c.node.text, c.node.moment, c.node.reply, c.node.session, c.node.author, c.node.keywords, c.node.domains,
             chunks[c.chunk], c.learned, c.files) for c in contents.contexts
        ],
        "notes": [(keys[n.id], {k: v for k, v in vars(n).items() if k not in plain}) for n in contents.notes],
        "judgements": [(keys[j.source], keys[j.target], j.relation, j.probability, j.judge) for j in contents.judgements],
        "pins": [keys[one] for one in contents.pins],
        "acts": [(a.deed, a.moment, *(one and keys[one] for one in (a.node, a.context, a.target))) for a in contents.acts],
        "entities": list(names.values()),
        "profiles": [(names[p.entity], [(s.text, [keys[one] for one in s.sources]) for s in p.sentences]) for p in contents.profiles],
        "facts": [
            (facts[f.id], [keys[one] for one in f.sources], f.happened, f.original, f.grain, f.doubtful,
             f.replaced_by and facts[f.replaced_by]) for f in contents.facts
        ],
    }  # fmt: skip


def seen(evidence: Evidence) -> list[object]:
    """What is shown, without ids."""
    ranked = [(one.node.kind, one.node.text, one.node.moment, round(one.psi, 4), one.pinned) for one in evidence.ranked]
    return [*ranked, *((one.state.node.text, one.replaced_by.text) for one in evidence.changed)]


def told(memory: PersonaMemory) -> dict[str, object]:
    """What a person sees of a memory: themselves, the others, and answers to questions."""
    people = memory.people
    return {
        "me": seen(memory.me()),
        "people": [
            (one.name, one.aliases, one.relation, one.first, one.last, people.profile(one.id).text,
             [(fact.text, fact.when, fact.current) for fact in people.facts(one.id, current=False)]) for one in people
        ],
        "recall": [seen(memory.recall(question).evidence) for question in QUESTIONS],
        "timeline": [(event.when, event.text, event.ended) for event in memory.timeline()],
    }  # fmt: skip
