"""The command line with stand-ins for the models, and a memory small enough to know by heart."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from pgmem_local.cli.app import app
from pgmem_local.conversation import Exchange, Moment, Turn
from pgmem_local.graph.edges import Judgement, Relation, SourceEdge
from pgmem_local.graph.nodes import Node, NodeId, RecallPriority, State, Trait
from pgmem_local.lesson import Lesson
from pgmem_local.ports import Spent
from pgmem_local.runtime import opening
from pgmem_local.store import Arrival, MemoryStore
from pgmem_local.words import keywords
from tests.fakes import Answer, Asked, HashEmbedder, ScriptedChat
from tests.reader import plain_glance

NOON = datetime(2026, 3, 1, 12, tzinfo=timezone(timedelta(hours=1)))


class RuleChat(ScriptedChat):
    """Answers every task by a rule instead of a queue: each message is a State in its own words, no pair is related."""

    def __init__(self) -> None:
        super().__init__()
        self.replies = {"trait": "none", "answer": "It is jasmine tea [1].", "chat": "Glad to hear it."}

    def _next(self, asked: Asked) -> Answer:
        self._give_way()
        self.asked.append(asked)
        task = asked.prompt.head.task
        wrote = asked.method != "choose"
        self.ledger.book(task, Spent(calls=int(wrote), reads=int(not wrote), evaluated=5, written=2 * wrote, seconds=0.01))
        if not wrote:
            return " No" if task == "judge_probes" else asked.options[0]
        return self.replies.get(task, asked.prompt.text.rpartition("Message: ")[2])


@dataclass
class Models:
    """What was opened in place of real models, in order."""

    chat: RuleChat = field(default_factory=RuleChat)
    opened: list[str] = field(default_factory=list)

    def open_chat_model(self, name: str | None = None, loading: Callable[[str], None] | None = None) -> ScriptedChat:
        self.opened.append(f"chat {name}")
        if loading is not None:
            loading(name or "stand-in")
        return self.chat

    def open_embedder(self) -> HashEmbedder:
        self.opened.append("embedder")
        return HashEmbedder()


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Models:
    stand_ins = Models()
    monkeypatch.setattr(opening, "open_chat_model", stand_ins.open_chat_model)
    monkeypatch.setattr(opening, "require_chat_model", lambda name: None)
    monkeypatch.setattr(opening, "open_embedder", stand_ins.open_embedder)
    monkeypatch.setattr("pgmem_local.construction.extract.glance", plain_glance)
    return stand_ins


@dataclass(frozen=True)
class Shell:
    """`pgmem COMMAND … --home HOME`, in this process."""

    home: Path

    def __call__(self, *arguments: str, stdin: str = "") -> Result:
        command, *rest = arguments
        result = CliRunner().invoke(app, [command, "--home", str(self.home), *rest], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "--json").stdout)

    def store(self) -> MemoryStore:
        return MemoryStore.open(self.home)


@pytest.fixture
def pgmem(tmp_path: Path, models: Models) -> Shell:
    return Shell(tmp_path / "home")


def diary(path: Path, *records: object) -> Path:
    """A file with a record a line; a string stands as it is."""
    path.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in records), encoding="utf-8")
    return path


def entry(text: str, day: int = 0) -> dict[str, str]:
    return {"timestamp": (NOON + timedelta(days=day)).isoformat(), "text": text}


@pytest.fixture
def remembered(pgmem: Shell) -> Shell:
    """Espresso was given up for tea; a trait rests on both entries and is contradicted by the newer State."""
    with pgmem.store() as store:
        embedder = HashEmbedder()
        store.expect_vectors(embedder.identity, embedder.dimension)
        texts = ["I drink espresso before the bus. The [bold]bus[/bold] was late.", "A week without espresso. It's jasmine tea now."]
        exchanges = [Exchange(Turn(text, on_day(10 * number))) for number, text in enumerate(texts)]
        arrivals = [Arrival(e, keywords(e.said.text), frozenset(), embedder.embed([e.said.text])[0]) for e in exchanges]
        store.add(arrivals)
        nodes: list[Node] = [
            state("s1", "User drinks espresso in the morning", 0),
            state("s2", "User drinks jasmine tea in the morning", 10),
            Trait(NodeId("t1"), "User loves coffee", on_day(10), keywords("User loves coffee"), frozenset()),
        ]
        edges = [("c1", "s1"), ("c2", "s2"), ("c1", "t1"), ("c2", "t1")]
        store.land(lesson(embedder, nodes, edges))
    return pgmem


def on_day(day: int) -> Moment:
    return Moment.of(NOON + timedelta(days=day))


def state(identifier: str, text: str, day: int) -> State:
    return State(NodeId(identifier), text, on_day(day), keywords(text), frozenset(), priority=RecallPriority.HIGH)


def lesson(embedder: HashEmbedder, nodes: Sequence[Node], edges: Sequence[tuple[str, str]]) -> Lesson:
    return Lesson(
        nodes=tuple(nodes),
        vectors={node.id: embedder.embed([node.text])[0] for node in nodes},
        sources=tuple(SourceEdge(NodeId(source), NodeId(derived)) for source, derived in edges),
        judgements=(
            Judgement(NodeId("s1"), NodeId("s2"), Relation.SHIFT_TO, 0.91, "hand"),
            Judgement(NodeId("s2"), NodeId("t1"), Relation.CONTRADICT, 0.82, "hand"),
        ),
        learned=(NodeId("c1"), NodeId("c2")),
        spent={"state_note": Spent(calls=4, reads=2, evaluated=1000, reused=3000, written=50, seconds=2.0), "answer": Spent(calls=9)},
    )
