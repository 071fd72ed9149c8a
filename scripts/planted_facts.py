"""Are the facts that sample exports hold found afterwards? Ingests a folder of exports without a language model, then recalls.

    python scripts/planted_facts.py FOLDER planted_facts.json --me Nora

FOLDER holds an export in each subfolder; planted_facts.json is a list of {"fact", "files", "kind"}. A fact counts as found where the
first ten notes recalled for it hold most of its words and come from one of its files. Comments of private notes, and what the facts
call negative, must not be found at all. Needs the embedding model (`pgmem models pull`).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgmem_local.conversation import Exchange
from pgmem_local.errors import IngestError
from pgmem_local.graph.nodes import Context, Kind
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.registry import read_exchanges
from pgmem_local.ingest.source import open_source
from pgmem_local.memory import PersonaMemory
from pgmem_local.words import keywords

TOP = 10
MOST = 0.6
"""Share of a fact's words that the notes must hold."""
_PRIVATE = re.compile(r"%%(.+?)%%", re.DOTALL)


@dataclass(frozen=True)
class Found:
    """How much of a fact the notes hold, from which of its files they come, and which words are missing."""

    share: float
    files: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def is_found(self) -> bool:
        return self.share >= MOST and bool(self.files)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("facts", type=Path)
    parser.add_argument("--me", help="the owner's name in chats")
    parser.add_argument("--least", type=float, default=0.9, help="share of the facts that must be found")
    asked = parser.parse_args()
    facts = json.loads(asked.facts.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as home, PersonaMemory.open(Path(home)) as memory:
        options = ReadOptions(me=asked.me)
        for path in exports(asked.folder, options):
            memory.observe(list(entries(path, options)))
        results = [report(memory, asked.folder, fact, options) for fact in facts]
    print(f"{sum(results)} of {len(results)} as expected")
    return 0 if sum(results) >= asked.least * len(results) else 1


def exports(folder: Path, options: ReadOptions) -> Iterator[Path]:
    """Each subfolder as the export it holds; where it cannot be read as one, its files, as far as they can be read."""
    for path in sorted(path for path in folder.iterdir() if path.is_dir()):
        yield from [path] if can_be_read(path, options) else filter(lambda one: can_be_read(one, options), sorted(path.iterdir()))


def can_be_read(path: Path, options: ReadOptions) -> bool:
    try:
        found = sum(1 for _ in entries(path, options))
    except IngestError as error:
        print(f"not read: {error}")
        return False
    print(f"{path.name}: {found} entries")
    return True


def entries(path: Path, options: ReadOptions) -> Iterator[Exchange]:
    return (item for item in read_exchanges(path, options) if isinstance(item, Exchange))


def report(memory: PersonaMemory, folder: Path, fact: dict[str, Any], options: ReadOptions) -> bool:
    """Print how a fact fares; whether that is as it should be."""
    if fact.get("kind") == "negative":
        leaked = [text for text in private_texts(folder, fact["files"]) if is_stored(memory, text)]
        print(f"{'✗' if leaked else '✓'} {fact['fact']}\n    private texts stored: {leaked or 'none'}")
        return not leaked
    found = look_for(memory, folder, fact, options)
    files, missing = ", ".join(found.files) or "none of its files", ", ".join(found.missing) or "none"
    print(f"{'✓' if found.is_found else '✗'} {fact['fact']}\n    {found.share:.0%} of its words, from {files}; missing: {missing}")
    return found.is_found


def look_for(memory: PersonaMemory, folder: Path, fact: dict[str, Any], options: ReadOptions) -> Found:
    notes = memory.recall(fact["fact"]).evidence.ranked[:TOP]
    words = keywords(fact["fact"])
    held = {word for note in notes for word in note.node.keywords}
    recalled = {note.node.key for note in notes if isinstance(note.node, Context)}
    files = tuple(name for name in fact["files"] if recalled & {one.key for one in entries(folder / name, options)})
    missing = sorted(words - held)
    return Found(1 - len(missing) / max(1, len(words)), files, tuple(missing))


def private_texts(folder: Path, files: list[str]) -> Iterator[str]:
    """What stands between %% in notes."""
    for name in files:
        source = open_source(folder / name)
        with source.open(source.names[0]) as file:
            yield from (text.strip() for text in _PRIVATE.findall(file.read().decode("utf-8", "replace")))


def is_stored(memory: PersonaMemory, text: str) -> bool:
    return any(text in node.text for node in memory.graph.of_kind(Kind.CONTEXT))


if __name__ == "__main__":
    sys.exit(main())
