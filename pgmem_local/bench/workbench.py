"""What a run of the benchmark works with: models, options, where it keeps things, and memories opened by name."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from importlib import resources
from pathlib import Path

from pgmem_local.bench import paper
from pgmem_local.bench.company import NAMES, kind_and_reading
from pgmem_local.bench.datasets.history import Case, Entry, Question
from pgmem_local.bench.persona import ABLATIONS, Ablation, Persona, ablation
from pgmem_local.bench.systems import Full, NoMemory, Oracle, OracleWithoutEnd, Rag, RawTurns, Recent, System
from pgmem_local.errors import IngestError
from pgmem_local.memory import Progress
from pgmem_local.ports import ChatModel, Embedder
from pgmem_local.settings import AnswerSettings, ConstructionSettings, PeopleSettings

BASELINES: dict[str, type[RawTurns]] = {kind.name: kind for kind in (NoMemory, Recent, Full, Rag, Oracle, OracleWithoutEnd)}
OURS = "pgmem"
JOINED = "joined"
"""What a user gets: ours with people and exchanges beside the persona."""
PAPER = "pgmem-paper"
OUR_CODE = ("construction", "profiles", "prompts", "dates.py", "denial.py", "sentences.py", "subject.py", "words.py")
SERVING_PROMPTS = frozenset(f"prompts/{task}.md" for task in ("answer", "advice", "chat", "option_check", "option_letter"))
"""Words for answering: what is learned does not depend on them."""
PAPER_CODE = (*OUR_CODE, "bench/paper.py", "bench/json_judge.py", "bench/prompts")


@dataclass(frozen=True)
class Options:
    """What a run can be told. budget: tokens of context a question; data: a file or folder instead of the shipped data.

    every: sessions between two rounds of questions, where a task asks while its memory grows. judge: also write free answers and let
    the same model judge them."""

    systems: tuple[str, ...] = ()
    limit: int | None = None
    seed: int = 0
    budget: int = 1200
    data: Path | None = None
    every: int = 1
    judge: bool = False


@dataclass(frozen=True)
class Step:
    """How far a run is: what it is doing, and how much of that is done."""

    doing: str
    done: int
    total: int


@dataclass(frozen=True)
class Workbench:
    """The models are the caller's: nothing here closes them."""

    model: ChatModel
    embedder: Embedder
    cache: Path
    options: Options = field(default_factory=Options)
    report: Callable[[Step], None] = lambda step: None

    @property
    def answering(self) -> AnswerSettings:
        return AnswerSettings(evidence_tokens=self.options.budget)

    def open_system(self, name: str, case: Case[Question]) -> System:
        """An empty memory of this name, or the one that an earlier run built of the same case. Raises IngestError for no such name."""
        if name in BASELINES:
            return BASELINES[name](self.model, self.embedder)
        if name == PAPER:
            home, learning = self._home(case, PAPER_CODE), self._learning(case.name)
            read = Ablation(paper.RETRIEVAL)
            return Persona(self.model, self.embedder, home, name, read, learning, paper, paper.PEOPLE, paper.CONSTRUCTION)
        if name == OURS or (name.startswith(f"{OURS}-") and ablation(name.removeprefix(f"{OURS}-"))):
            reading = ablation(name.removeprefix(f"{OURS}-"))
            return Persona(self.model, self.embedder, self._home(case, OUR_CODE), name, reading, self._learning(case.name))
        if (company := kind_and_reading(name)) is not None:
            kind, reading = company
            return kind(self.model, self.embedder, self._home(case, OUR_CODE), name, reading, self._learning(case.name))
        known = ", ".join([*BASELINES, OURS, PAPER, *NAMES, *(f"{OURS}-{part}" for part in ABLATIONS), f"{OURS}-lambda=0.3"])
        raise IngestError(f"no memory is called {name!r}; there are {known}, each also with a budget of its own, such as rag@600")

    def _home(self, case: Case[Question], code: Sequence[str]) -> Path:
        """Where the memory of a case lies that this code builds; one that goes on from another begins as a copy of it."""
        memories = self.cache / "memories"
        home, parent = (memories / self._memory_key(entries, code) for entries in (case.entries, case.before))
        if case.before and parent.is_dir() and not home.exists():
            half_done = home.with_suffix(".copy")
            shutil.rmtree(half_done, ignore_errors=True)
            shutil.copytree(parent, half_done)
            half_done.rename(home)
        return home

    def _learning(self, case: str) -> Callable[[Progress], None]:
        return lambda progress: self.report(Step(f"learning {case}", progress.done, progress.total))

    def _memory_key(self, entries: Iterable[Entry], code: Sequence[str]) -> str:
        """What a built memory depends on: the entries, the models, the settings and the words and code of construction."""
        told = [(entry.id, entry.exchange.key, entry.exchange.reply) for entry in entries]
        settings = [asdict(ConstructionSettings()), asdict(PeopleSettings())]
        parts = [told, self.model.identity, self.embedder.identity, settings, code_digest(*code, without=SERVING_PROMPTS)]
        return hashlib.sha256(json.dumps(parts).encode("utf-8", "replace")).hexdigest()[:12]


def split_budget(name: str, budget: int) -> tuple[str, int]:
    """`rag@600` is rag with a budget of 600 tokens."""
    system, mark, own = name.partition("@")
    if mark and not own.isdigit():
        raise IngestError(f"{name!r}: after @ comes a number of tokens, such as {system}@600")
    return system, int(own) if mark else budget


def code_digest(*parts: str, without: frozenset[str] = frozenset()) -> str:
    """What tells one version of the code from another: results of two are never mixed. Without parts, of the whole package."""
    package = Path(str(resources.files("pgmem_local")))
    chosen = [package / part for part in parts] or [package]
    files = {file for path in chosen for file in ([path] if path.is_file() else path.rglob("*"))}
    total = hashlib.sha256()
    for file in sorted(files):
        name = file.relative_to(package)
        if file.suffix in (".py", ".md", ".json") and "data" not in name.parts and name.as_posix() not in without:
            total.update(name.as_posix().encode() + file.read_bytes())
    return total.hexdigest()[:12]
