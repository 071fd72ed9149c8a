"""Are the questions of hard cases answered rightly by the real model? Each case is a small memory of its own.

    python scripts/hard_cases.py FOLDER [--only D1-01 D1-07]

FOLDER holds chats as JSON Lines and an index.json: a list of {"id", "file", "expect": {"ask": [{"q", "all", "none"}]}}. Each term of
"all" must stand in the answer, none of "none" may; "a|b" are alternatives, as whole words in any case. Files of one case are read in
the order given. `--notes` also prints what each memory holds, to compare it with what a case expects of the store.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pgmem_local.conversation import Exchange
from pgmem_local.graph.nodes import Kind
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.registry import read_exchanges
from pgmem_local.memory import PersonaMemory
from pgmem_local.runtime.opening import open_chat_model, open_embedder
from pgmem_local.store.sqlite import MemoryStore

FIELDS = {"timestamp": "ts", "text": "text"}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=[], metavar="ID")
    parser.add_argument("--model", help="a name from `pgmem models list`, or a path")
    parser.add_argument("--notes", action="store_true", help="print what each memory holds")
    parser.add_argument("--least", type=float, default=0.75, help="exit with 1 where a smaller share is right")
    options = parser.parse_args(arguments)
    cases = json.loads((options.folder / "index.json").read_text(encoding="utf-8"))
    wanted = [case for case in cases if case["expect"].get("ask") and (not options.only or case["id"] in options.only)]
    model, embedder = open_chat_model(options.model), open_embedder()
    right = asked = 0
    try:
        for case in wanted:
            print(f"\n{case['id']}", flush=True)
            with tempfile.TemporaryDirectory() as home:
                memory = PersonaMemory(MemoryStore.open(Path(home)), lambda: model, lambda: embedder)
                learn(memory, options.folder, case)
                if options.notes:
                    show(memory)
                for question in case["expect"]["ask"]:
                    right += is_answered(memory, question)
                    asked += 1
                memory.store.close()
    finally:
        model.close()
    print(f"\n{right} of {asked} right")
    return 0 if right >= options.least * asked else 1


def learn(memory: PersonaMemory, folder: Path, case: Mapping[str, Any]) -> None:
    """Read and learn the files of a case one after another, as they would come."""
    files = case["file"] if isinstance(case["file"], list) else [case["file"]]
    for name in files:
        read = read_exchanges(folder / name, ReadOptions(fields=FIELDS))
        memory.observe([item for item in read if isinstance(item, Exchange)], folder / name)
        memory.learn()


def is_answered(memory: PersonaMemory, question: Mapping[str, Any]) -> bool:
    answer, _ = memory.ask(question["q"])
    right = all(holds(answer.text, term) for term in question["all"]) and not any(holds(answer.text, term) for term in question["none"])
    print(f"  {'✓' if right else '✗'} {question['q']}  {answer.text}", flush=True)
    return right


def holds(text: str, term: str) -> bool:
    """Whether one of the alternatives stands in a text; in scripts other than Latin also within a word."""
    return any(stands_in(text, one) for one in term.split("|"))


def stands_in(text: str, words: str) -> bool:
    return words in text if not words.isascii() else re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text, re.IGNORECASE) is not None


def show(memory: PersonaMemory) -> None:
    for kind in (Kind.STATE, Kind.TRAIT):
        for node in memory.graph.of_kind(kind):
            until = f" until {', '.join(newer)}" if (newer := memory.graph.replaced_by(node.id)) else ""
            print(f"    {node.id} {node.moment.day if node.moment else 'undated'}{until}: {node.text}")
    for fact in memory.people.all_facts(current=False):
        print(f"    {memory.people[fact.entity].name}{' (earlier)' if fact.replaced_by else ''}: {fact.text}")


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.exit(main())
