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
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pgmem_local.graph.nodes import Kind  # noqa: E402 - the checkout must be found first
from pgmem_local.store import MemoryStore  # noqa: E402

FIRST = datetime(2024, 1, 1, 8, tzinfo=timezone.utc)
BATCH = 30
FORBIDDEN = ("database is locked", "Traceback", "did not finish in time")
BUSY = "is learning in this memory"
PATIENCE = 300.0


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
    with ThreadPoolExecutor(2) as pool:
        work = [
            pool.submit(keep_ingesting, folder, home, until, ingesting),
            pool.submit(keep_chatting, folder, home, until, chatting),
        ]
        for one in work:
            one.result()
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


def keep_chatting(folder: Path, home: Path, until: float, met: Met) -> None:
    """Line after line, each when the one before is answered; the chat learns in the background, which the ingest does at the same time."""
    errors = folder / "chat.err"
    with errors.open("w", encoding="utf-8") as heard, start(["chat", "--home", str(home)], heard) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        while time.monotonic() < until:
            text = f"I like chatted{len(met.texts)}."
            process.stdin.write(f"{text}\n")
            process.stdin.flush()
            answer = process.stdout.readline()
            met.shown.append(answer)
            if not answer:
                raise Broken(f"the chat ended: {errors.read_text(encoding='utf-8')[-2000:]}")
            met.texts.append(text)
        process.stdin.close()
        process.wait(PATIENCE)
    met.shown.append(errors.read_text(encoding="utf-8"))


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


def start(arguments: Sequence[str], errors: IO[str] | int = subprocess.PIPE) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.scripted_cli", *arguments]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)


if __name__ == "__main__":
    sys.exit(main())
