"""Asks the questions that come with the sample diary and compares the answers with what is known to be right.

    python scripts/suggested_questions.py --home .quickstart
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from importlib import resources
from pathlib import Path

from pgmem_local.answering import Answer
from pgmem_local.graph.nodes import Context
from pgmem_local.ingest.registry import read_exchanges
from pgmem_local.memory import PersonaMemory


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, default=Path(".quickstart"))
    parser.add_argument("--model", help="a name from `pgmem models list`, or a path")
    parser.add_argument("--least", type=int, default=4, help="exit with 1 when fewer answers than this are right")
    options = parser.parse_args()
    samples = resources.files("pgmem_local") / "samples"
    questions = json.loads((samples / "quickstart_questions.json").read_text(encoding="utf-8"))
    keys = entry_keys(Path(str(samples / "quickstart_diary.jsonl")))
    right = 0
    with PersonaMemory.open(options.home, model=options.model) as memory:
        for question in questions:
            began = time.perf_counter()
            answer, _ = memory.ask(question["question"])
            good = is_right(answer, question) and points_right(memory, answer, {keys[entry] for entry in question["evidence_entries"]})
            right += good
            show(question, answer, good, time.perf_counter() - began)
    print(f"\n{right} of {len(questions)} right, each with a citation that points to the right entry")
    return 0 if right >= options.least else 1


def entry_keys(diary: Path) -> dict[str, str]:
    """Entry id of the sample file -> the key its Context has in the store."""
    ids = [json.loads(line)["id"] for line in diary.read_text(encoding="utf-8").splitlines() if line.strip()]
    return dict(zip(ids, (exchange.key for exchange in read_exchanges(diary)), strict=True))  # type: ignore[union-attr]


def is_right(answer: Answer, question: dict[str, object]) -> bool:
    """The expected words as whole words, or an open admission where nothing is known."""
    if question["answer"] is None:
        return not answer.known
    forms = [str(question["answer"]), *map(str, question["aliases"])]  # type: ignore[call-overload]
    return answer.known and any(re.search(rf"\b{re.escape(form)}\b", answer.text, re.IGNORECASE) for form in forms)


def points_right(memory: PersonaMemory, answer: Answer, expected: set[str]) -> bool:
    """Whether some citation rests on an entry that holds the answer; an admission cites nothing."""
    cited = [memory.graph[quote.context] for citation in answer.citations for quote in citation.quotes]
    return not expected or any(isinstance(context, Context) and context.key in expected for context in cited)


def show(question: dict[str, object], answer: Answer, good: bool, seconds: float) -> None:
    print(f"\n{'✓' if good else '✗'} {question['question']}   ({seconds:.0f} s)")
    print(f"  {answer.text}")
    for citation in answer.citations:
        for quote in citation.quotes[:2]:
            day = quote.moment.day if quote.moment else "undated"
            print(f"    [{citation.node.id}] {day}: “{quote.text}”")


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.exit(main())
