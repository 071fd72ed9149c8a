"""Are the facts that sample exports hold found afterwards? Ingests a folder of exports without a language model, then recalls.

    python scripts/planted_facts.py FOLDER planted_facts.json --me Nora

FOLDER holds an export in each subfolder; planted_facts.json is a list of {"fact", "files", "kind"}. A fact counts as found where the
first ten notes recalled for it hold most of its words and come from one of its files, or from all of them where it changed or takes
several hops. What is no fact (private comments, hidden messages, branches that were left) must not be stored at all. Of every export,
also of one that holds no planted fact, each entry must be recalled by its own words. Needs the embedding model (`pgmem models pull`).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
TELLING = 2
"""An entry of fewer keywords, such as "ok", is told from no other by its words."""
SHOWN_OF_QUESTION = 300
_PRIVATE = re.compile(r"%%(.+?)%%", re.DOTALL)


@dataclass(frozen=True)
class Found:
    """How much of a fact the notes hold, from which of its files they come, and which words are missing."""

    fact: Mapping[str, Any]
    share: float
    files: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def is_found(self) -> bool:
        """A fact that changed, or of several hops, is only known where each of its files is."""
        in_all = re.search(r"update|hop", self.fact.get("kind", "")) is not None
        return self.share >= MOST and len(self.files) >= (len(self.fact["files"]) if in_all else 1)


@dataclass(frozen=True)
class Export:
    """A folder's entries, and how many of those with words of their own are recalled by them."""

    name: str
    entries: int
    telling: int
    recalled: int


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("facts", type=Path)
    parser.add_argument("--me", help="the owner's name in chats")
    parser.add_argument("--least", type=float, default=0.9, help="share of the facts, and of the entries, that must be found")
    asked = parser.parse_args(arguments)
    facts = json.loads(asked.facts.read_text(encoding="utf-8"))
    options = ReadOptions(me=asked.me)
    folders = sorted(path for path in asked.folder.iterdir() if path.is_dir())
    with tempfile.TemporaryDirectory() as home, PersonaMemory.open(Path(home)) as memory:
        held = {folder.name: entries_of(folder, options) for folder in folders}
        for entries in held.values():
            memory.observe(entries)
        found = [look_for(memory, asked.folder, fact, options) for fact in facts if fact.get("kind") != "negative"]
        stored = [stored_though_no_fact(memory, asked.folder, fact) for fact in facts if fact.get("kind") == "negative"]
        exports = [export(memory, name, entries) for name, entries in held.items()]
    report(found, stored, exports)
    unread = [one.name for one in exports if not one.entries]
    is_enough = share(one.is_found for one in found) >= asked.least and share_recalled(exports) >= asked.least
    return 0 if is_enough and not any(stored) and not unread else 1


def entries_of(folder: Path, options: ReadOptions) -> list[Exchange]:
    """A folder as the export it holds; where it cannot be read as one, its files, as far as they can be."""
    try:
        return entries(folder, options)
    except IngestError as error:
        print(f"not read as one: {error}")
    return [exchange for path in sorted(folder.iterdir()) for exchange in entries_if_any(path, options)]


def entries_if_any(path: Path, options: ReadOptions) -> list[Exchange]:
    try:
        return entries(path, options)
    except IngestError as error:
        print(f"not read: {error}")
        return []


def entries(path: Path, options: ReadOptions) -> list[Exchange]:
    return [item for item in read_exchanges(path, options) if isinstance(item, Exchange)]


# ------------------------------------------------------------------ facts and entries


def look_for(memory: PersonaMemory, folder: Path, fact: Mapping[str, Any], options: ReadOptions) -> Found:
    notes = memory.recall(fact["fact"]).evidence.ranked[:TOP]
    words = keywords(fact["fact"])
    held = {word for note in notes for word in note.node.keywords}
    recalled = {note.node.key for note in notes if isinstance(note.node, Context)}
    files = tuple(name for name in fact["files"] if recalled & {one.key for one in entries_if_any(folder / name, options)})
    missing = sorted(words - held)
    return Found(fact, 1 - len(missing) / max(1, len(words)), files, tuple(missing))


def export(memory: PersonaMemory, name: str, exchanges: Sequence[Exchange]) -> Export:
    telling = [one for one in exchanges if len(keywords(one.said.text)) >= TELLING]
    return Export(name, len(exchanges), len(telling), sum(is_recalled(memory, one) for one in telling))


def is_recalled(memory: PersonaMemory, exchange: Exchange) -> bool:
    notes = memory.recall(exchange.said.text[:SHOWN_OF_QUESTION]).evidence.ranked[:TOP]
    return any(isinstance(note.node, Context) and note.node.key == exchange.key for note in notes)


# ------------------------------------------------------------------ what is no fact


def stored_though_no_fact(memory: PersonaMemory, folder: Path, fact: Mapping[str, Any]) -> list[str]:
    """Private comments of notes that stand in an entry, and hidden or abandoned messages that are one."""
    held = [text for node in memory.graph.of_kind(Kind.CONTEXT) if isinstance(node, Context) for text in (node.text, node.reply or "")]
    contents = {name: content(folder / name) for name in fact["files"]}
    comments = [text.strip() for one in contents.values() for text in _PRIVATE.findall(one)]
    unseen = {text for name, one in contents.items() if name.endswith(".json") for text in not_shown(json.loads(one))}
    return [text for text in comments if any(text in one for one in held)] + sorted(unseen.intersection(held))


def content(path: Path) -> str:
    source = open_source(path)
    with source.open(source.names[0]) as file:
        return file.read().decode("utf-8", "replace")


def not_shown(conversations: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The messages of a ChatGPT export that are hidden, or on no path from the current node up."""
    for conversation in conversations:
        nodes, shown, current = conversation["mapping"], set(), conversation.get("current_node")
        while current in nodes and current not in shown:
            shown.add(current)
            current = nodes[current].get("parent")
        for name, node in nodes.items():
            message = node.get("message") or {}
            hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation", False)
            parts = (message.get("content") or {}).get("parts") or []
            text = "".join(part for part in parts if isinstance(part, str)).strip()
            if text and conversation.get("current_node") and (hidden or name not in shown):
                yield text


# ------------------------------------------------------------------ report


def report(found: Sequence[Found], stored: Sequence[Sequence[str]], exports: Sequence[Export]) -> None:
    for one in found:
        files = ", ".join(one.files) or "none"
        missing = f"; words missing: {', '.join(one.missing)}" if one.missing else ""
        print(f"{'found    ' if one.is_found else 'NOT FOUND'}  {one.fact['fact']}")
        print(f"           in {len(one.files)} of {len(one.fact['files'])} files: {files}{missing}")
    for texts in stored:
        print("STORED, though no fact: " + "; ".join(texts) if texts else "not stored  what is no fact")
    print(f"\n{'export':<16} {'entries':>7}  {'recalled by their own words':>27}  {'facts found in it':>17}")
    for export in exports:
        planted = [one for one in found if any(name.startswith(f"{export.name}/") for name in one.fact["files"])]
        held = sum(any(name.startswith(f"{export.name}/") for name in one.files) for one in planted)
        facts = f"{held} of {len(planted)}" if planted else "none planted"
        print(f"{export.name:<16} {export.entries:>7}  {f'{export.recalled} of {export.telling}':>27}  {facts:>17}")
    print(f"\n{sum(one.is_found for one in found)} of {len(found)} facts found, {share_recalled(exports):.0%} of the entries recalled")


def share(true: Iterable[bool]) -> float:
    values = list(true)
    return sum(values) / len(values) if values else 1.0


def share_recalled(exports: Sequence[Export]) -> float:
    return sum(one.recalled for one in exports) / max(1, sum(one.telling for one in exports))


if __name__ == "__main__":
    sys.exit(main())
