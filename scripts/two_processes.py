"""`pgmem ingest` and `pgmem chat` on one memory at the same time, for minutes: nothing may be lost, and nobody may be shown that the
database is locked. The models are stand-ins that take no time, so that the two meet as often as they can.

    python scripts/two_processes.py --minutes 5
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pgmem_local.graph.nodes import Kind  # noqa: E402 - the checkout must be found first
from pgmem_local.store import MemoryStore  # noqa: E402

FIRST = datetime(2024, 1, 1, 8, tzinfo=timezone.utc)
BATCH = 30
SAID_EVERY_SECONDS = 0.2
LEARNED_EVERY = 10
"""Messages of the chat after which it learns, which the ingest does at the same time."""
FORBIDDEN = ("database is locked", "Traceback", "did not finish in time")
BUSY = "is learning in this memory"
PATIENCE = 120.0


class Broken(Exception):
    """What two processes did to each other that they must not."""


@dataclass
class Met:
    """What was given to the two, what they showed, and how often one was told to wait with learning."""

    texts: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    ingests: int = 0

    @property
    def told_to_wait(self) -> int:
        return sum(BUSY in text for text in self.shown)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        met = meet(Path(folder), 60 * options.minutes)
    print(f"{len(met.texts)} entries by {met.ingests} ingests and a chat: all there, each once; nothing locked was shown")
    print(f"learning was asked for while the other learned: {met.told_to_wait} times, answered with one line")
    return 0


def meet(folder: Path, seconds: float) -> Met:
    """Let both work for so long, then let one learn what is left, and look. Raises Broken."""
    home, until = folder / "home", time.monotonic() + seconds
    ingesting, chatting = Met(), Met()
    threads = [
        threading.Thread(target=keep_ingesting, args=(folder, home, until, ingesting)),
        threading.Thread(target=keep_chatting, args=(home, until, chatting)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    met = Met(ingesting.texts + chatting.texts, ingesting.shown + chatting.shown, ingesting.ingests)
    look(home, met)
    return met


def keep_ingesting(folder: Path, home: Path, until: float, met: Met) -> None:
    """File after file, each with new entries."""
    while time.monotonic() < until:
        texts = [f"I like ingested{len(met.texts) + number}." for number in range(BATCH)]
        file = folder / f"{met.ingests}.jsonl"
        moments = (FIRST + timedelta(hours=len(met.texts) + number) for number in range(BATCH))
        lines = [{"timestamp": moment.isoformat(), "text": text} for moment, text in zip(moments, texts, strict=True)]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        met.texts += texts
        met.ingests += 1
        process = start(["ingest", str(file), "--home", str(home)])
        met.shown += process.communicate(timeout=PATIENCE)


def keep_chatting(home: Path, until: float, met: Met) -> None:
    """Line after line into one chat, which also learns now and then; another chat follows where that ended one."""
    while time.monotonic() < until:
        process = start(["chat", "--home", str(home)])
        assert process.stdin is not None
        try:
            while time.monotonic() < until and process.poll() is None:
                text = f"I like chatted{len(met.texts)}."
                met.texts.append(text)
                process.stdin.write(f"{text}\n" + ("/learn\n" if len(met.texts) % LEARNED_EVERY == 0 else ""))
                process.stdin.flush()
                time.sleep(SAID_EVERY_SECONDS)
        except BrokenPipeError:
            met.texts.pop()  # never reached the chat
        met.shown += process.communicate(timeout=PATIENCE)


def look(home: Path, met: Met) -> None:
    """Whether everything is there once, learned, and nothing that must not be was shown. Raises Broken."""
    for text in met.shown:
        if found := [words for words in FORBIDDEN if words in text]:
            raise Broken(f"this was shown: {found}\n{text[-2000:]}")
    last = start(["learn", "--home", str(home)])
    shown = last.communicate(timeout=PATIENCE)
    if last.returncode != 0:
        raise Broken(f"what was left could not be learned: {shown}")
    with MemoryStore.open(home) as store:
        texts = [node.text for node in store.load_graph().of_kind(Kind.CONTEXT)]
        if problems := store.integrity_check():
            raise Broken(f"the database breaks its promises: {problems}")
        if store.pending():
            raise Broken("entries are pending")
    if lost := set(met.texts) - set(texts):
        raise Broken(f"{len(lost)} entries are lost, {min(lost)} among them")
    if len(texts) != len(set(texts)):
        raise Broken("entries are there twice")


def start(arguments: Sequence[str]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.scripted_cli", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, text=True, stdin=pipe, stdout=pipe, stderr=pipe)


if __name__ == "__main__":
    sys.exit(main())
