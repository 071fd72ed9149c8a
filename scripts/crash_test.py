"""Kills `pgmem` (-9) at random moments of an ingest and of a forgetting, and looks after each kill whether anything is lost, doubled
or half-written. The models are stand-ins that take no time, so that most of what a kill can hit is ours.

    python scripts/crash_test.py --kills 50
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pgmem_local.control import erasing  # noqa: E402 - the checkout must be found first
from pgmem_local.graph.nodes import Context, Kind  # noqa: E402
from pgmem_local.graph.persona_graph import PersonaGraph  # noqa: E402
from pgmem_local.store import MemoryStore, Place, VectorIndexes  # noqa: E402
from pgmem_local.store.learning import current_learner  # noqa: E402
from tests.scripted_cli import EXACT_BELOW, FORGET_EACH  # noqa: E402

FIRST = datetime(2024, 1, 1, 8, tzinfo=timezone.utc)
PER_DAY = 3
PATIENCE = 300.0
NOTHING_LOST = "nothing lost, doubled or half-written"


class Broken(Exception):
    """What a kill did that it must not."""


@dataclass(frozen=True)
class Kill:
    """One kill: whether the process was still at work, and what it had said."""

    hit: bool
    said: tuple[str, ...]


@dataclass(frozen=True)
class Progress:
    """How far an ingest came."""

    stored: int
    learned: int

    def __str__(self) -> str:
        return f"{self.stored} entries stored, {self.learned} learned"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=50, help="of an ingest, and as many of a forgetting")
    parser.add_argument("--entries", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        hit = kill_ingests(Path(folder), options.entries, options.kills, chance)
        print(f"ingest: {hit} of {options.kills} kills hit it at work: {NOTHING_LOST}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        hit = kill_forgettings(Path(folder), options.entries, options.kills, chance)
        print(f"forget: {hit} of {options.kills} kills hit it at work: {NOTHING_LOST}, no trace of what is gone", flush=True)
    return 0


# ------------------------------------------------------------------ ingest


def kill_ingests(folder: Path, entries: int, kills: int, chance: random.Random) -> int:
    """How many of the kills hit an ingest at work. Raises Broken."""
    diary = write_diary(folder / "diary.jsonl", entries)
    expected, seconds = undisturbed(diary, folder / "undisturbed")
    home, hit = folder / "home 0", 0
    for number in range(kills):
        share = chance.uniform(-0.2, 1.0)  # of what is pending, learned by then; below 0: while it starts and stores
        after = chance.uniform(0.0, 0.2 * seconds if share < 0 else 0.05)
        kill = killed(["ingest", str(diary), "--home", str(home)], partial(until_learned, home, share), after)
        progress = check(home, expected)
        report(number, kill, str(progress))
        hit += kill.hit
        if progress.learned == entries:  # nothing is left to hit: this one must end like the undisturbed one, and the next begins anew
            end_like(diary, home, expected)
            home = folder / f"home {number + 1}"
    end_like(diary, home, expected)
    return hit


def end_like(diary: Path, home: Path, expected: PersonaGraph) -> None:
    run(["ingest", str(diary), "--home", str(home)])
    check(home, expected)
    same_as(home, expected)


def undisturbed(diary: Path, home: Path) -> tuple[PersonaGraph, float]:
    """What an ingest that nobody disturbs leaves, and how long it takes."""
    began = time.monotonic()
    run(["ingest", str(diary), "--home", str(home)])
    seconds = time.monotonic() - began
    with MemoryStore.open(home) as store:
        return store.load_graph(), seconds


def check(home: Path, expected: PersonaGraph) -> Progress:
    """How far the memory is. Raises Broken where a turn is lost, doubled or half-written, or the index is not of these rows."""
    with MemoryStore.open(home) as store:
        demand(store.integrity_check(), [], "the database breaks its promises")
        graph = store.load_graph()
        pending = {context for context, _ in store.pending()}
        whole = {context.text: taught(expected, context) for context in contexts(expected)}
        for context in contexts(graph):
            demand(taught(graph, context), Counter() if context.id in pending else whole[context.text], f"{context.id} is half learned")
        texts = [context.text for context in contexts(graph)]
        demand([text for text, times in Counter(texts).items() if times > 1], [], "an entry is there twice")
        demand(store.counts()["turns_learned"], len(texts) - len(pending), "the count of learned entries is off")
        check_index(store)
        return Progress(len(texts), len(texts) - len(pending))


def check_index(store: MemoryStore) -> None:
    """Every vector finds itself, through the files that are there."""
    indexes = VectorIndexes(store, EXACT_BELOW)
    for kind in Kind:
        rows = store.vector_rows(kind)
        for identifier, vector in zip(rows.ids, rows.matrix, strict=True):
            (_, cosine), *_ = indexes.nearest(kind, vector, 1)
            if cosine < 0.9999:
                raise Broken(f"the index does not find {identifier}")


def same_as(home: Path, expected: PersonaGraph) -> None:
    with MemoryStore.open(home) as store:
        demand(store.pending(), [], "entries are pending")
        graph = store.load_graph()
    for kind in Kind:
        texts, wanted = (Counter(node.text for node in one.of_kind(kind)) for one in (graph, expected))
        demand(texts, wanted, f"what was learned of kind {kind.value} is not what an undisturbed ingest learns")


def taught(graph: PersonaGraph, context: Context) -> Counter[str]:
    """The States that were made of an entry."""
    derived = (graph[identifier] for identifier in graph.derived(context.id))
    return Counter(node.text for node in derived if node.kind is Kind.STATE)


def contexts(graph: PersonaGraph) -> list[Context]:
    return [node for node in graph.of_kind(Kind.CONTEXT) if isinstance(node, Context)]


# ------------------------------------------------------------------ forget


def kill_forgettings(folder: Path, entries: int, kills: int, chance: random.Random) -> int:
    """How many of the kills hit a forgetting at work. Raises Broken."""
    diary, home = write_diary(folder / "diary.jsonl", entries), folder / "home"
    run(["ingest", str(diary), "--home", str(home)])
    left, hit = [topic(number) for number in range(entries)], 0
    for number in range(kills):
        spoken = partial(until_it_speaks, lines=chance.randrange(1, 30))  # of 40: a line when each of 20 is begun, and when it is done
        kill = killed([FORGET_EACH, "--home", str(home), *left[:20]], spoken, chance.uniform(0.0, 0.02))
        gone = {line.removeprefix("done ") for line in kill.said if line.startswith("done ")}
        left = still_there(home, left, gone)
        report(number, kill, f"{len(gone)} forgotten, {len(left)} entries left")
        hit += kill.hit
        if len(left) < 40:
            run(["ingest", str(diary), "--home", str(home)])
            left = [topic(number) for number in range(entries)]
    return hit


def still_there(home: Path, before: Sequence[str], gone: set[str]) -> list[str]:
    """The topics that are left. Raises Broken where one went halfway, or was forgotten and can be found."""
    with MemoryStore.open(home) as store:
        erasing.finish(store)  # as opening the memory does
        demand(store.integrity_check(), [], "the database breaks its promises")
        check_index(store)
        graph = store.load_graph()
        told = {word for node in [*graph.of_kind(Kind.CONTEXT)] for word in node.text.split()}
        noted = {word for node in [*graph.of_kind(Kind.STATE)] for word in node.text.split()}
    left = [one for one in before if one in told]
    demand(sorted(gone & told), [], "what was forgotten is still there")
    demand(sorted(set(before) - set(left) - gone)[1:], [], "more is gone than was being forgotten")
    demand(sorted(set(before) & noted - set(left)), [], "a note outlived its entry")
    traces = b"".join(path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file())
    demand([one for one in before if one not in left and one.encode() in traces], [], "a file holds what is forgotten")
    return left


# ------------------------------------------------------------------ both


def topic(number: int) -> str:
    """A word that stands in one entry only, and is part of no other."""
    return f"zq{number:05}x"


def write_diary(path: Path, entries: int) -> Path:
    lines = [
        {
            "timestamp": (FIRST + timedelta(days=number // PER_DAY, hours=number % PER_DAY)).isoformat(),
            "text": f"I like {topic(number)} and walked to number {number} with Imani.",
        }
        for number in range(entries)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def start(arguments: Sequence[str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.scripted_cli", *arguments]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run(arguments: Sequence[str]) -> None:
    process = start(arguments)
    _, errors = process.communicate(timeout=PATIENCE)
    if process.returncode != 0:
        raise Broken(f"{arguments[0]} ended with {process.returncode}: {errors[-2000:]}")


def until_learned(home: Path, share: float, process: subprocess.Popen[str]) -> str:
    """Wait until an ingest has learned this share of what was pending when it began."""
    lock = Place(home).learning_lock
    while share > 0 and process.poll() is None:
        learner = current_learner(lock)
        if learner is not None and learner.process == process.pid and learner.total and learner.done >= share * learner.total:
            break
        time.sleep(0.005)
    return ""


def until_it_speaks(process: subprocess.Popen[str], lines: int) -> str:
    """Wait for so many lines; what they say."""
    return "".join(process.stdout.readline() for _ in range(lines)) if process.stdout else ""


def killed(arguments: Sequence[str], ready: Callable[[subprocess.Popen[str]], str], after: float) -> Kill:
    """Start a command, wait until it is ready and so many seconds longer, and kill it."""
    process = start(arguments)
    said = ready(process)
    time.sleep(after)
    hit = process.poll() is None
    process.kill()
    output, errors = process.communicate()
    if not hit and process.returncode != 0:
        raise Broken(f"{arguments[0]} ended with {process.returncode}: {errors[-2000:]}")
    return Kill(hit, tuple((said + output).splitlines()))


def demand(found: object, wanted: object, otherwise: str) -> None:
    if found != wanted:
        raise Broken(f"{otherwise}: {found} instead of {wanted}")


def report(number: int, kill: Kill, state: str) -> None:
    print(f"{number + 1:3}. {'killed' if kill.hit else 'ended '}: {state}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
