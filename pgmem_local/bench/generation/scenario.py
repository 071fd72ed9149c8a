"""Whole scenarios, in the format of `bench/data/memhop_mini`, so that `--data` reads them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pgmem_local.bench.generation.chains import Chain, broken_chains, chains, question_of
from pgmem_local.bench.generation.checks import Record, problem
from pgmem_local.bench.generation.network import NARRATOR, Network, draw_network
from pgmem_local.bench.generation.sessions import Chats, write_chats
from pgmem_local.bench.generation.vocabulary import vocabulary
from pgmem_local.errors import IngestError

PROFILE = (25, 25, 20, 18, 12)
"""Questions at K = 1 to 5 of a hundred, as in the paper."""
UNANSWERABLE = 0.06
"""Questions that nobody can answer, beside each of the others; the paper has none, the shipped scenarios 6 beside 40."""


def generate(folder: Path, scenarios: int, questions: int, seed: int, report: Callable[[int], None] = lambda done: None) -> list[Path]:
    """Write scenarios into a new or empty folder; the same seed writes the same. Raises IngestError where other data lies there."""
    if folder.is_dir() and any(folder.glob("*.json")):
        raise IngestError(f"{folder} holds JSON files already, and --data would read them too; name a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for number in range(1, scenarios + 1):
        path = folder / f"scenario_{number}.json"
        path.write_text(json.dumps(draw_scenario(f"scenario_{number}", questions, seed), ensure_ascii=False, indent=1) + "\n", "utf-8")
        written.append(path)
        report(number)
    return written


def draw_scenario(name: str, questions: int, seed: int) -> dict[str, Any]:
    dice = random.Random(f"{seed} {name}")
    network = draw_network(dice)
    chats = write_chats(network, dice)
    asked: list[Record] = []
    for hops, count in enumerate(profile(questions), 1):
        asked += _ask(chains(network, hops, dice), count, f"{name}_k{hops}_", network, chats, asked, dice)
    asked += _ask(broken_chains(network, dice), round(questions * UNANSWERABLE), f"{name}_u", network, chats, asked, dice)
    narrator = dice.choice(vocabulary().narrators)
    return {"scenario": name, "title": f"generated, seed {seed}", "narrator": narrator, **_as_records(network, chats), "questions": asked}


def profile(questions: int) -> list[int]:
    """So many questions over K = 1 to 5 in the paper's proportions; what is left over goes to the largest remainders."""
    shares = [questions * part / sum(PROFILE) for part in PROFILE]
    counts = [int(share) for share in shares]
    by_remainder = sorted(range(len(shares)), key=lambda place: counts[place] - shares[place])
    for place in by_remainder[: questions - sum(counts)]:
        counts[place] += 1
    return counts


def _ask(
    found: Iterator[Chain], count: int, prefix: str, network: Network, chats: Chats, before: list[Record], dice: random.Random
) -> list[Record]:
    """So many questions that pass every round. Raises IngestError where the network has no more."""
    kept: list[Record] = []
    while len(kept) < count:
        chain = next(found, None)
        if chain is None:
            raise IngestError(f"a network has chains for {len(kept)} questions {prefix}*, not for {count}; ask for fewer with --questions")
        record = question_of(chain, chats, dice)
        if problem(record, chain, network, chats, [*before, *kept]) is None:
            kept.append({"id": f"{prefix}{len(kept) + 1:02}", **record})
    return kept


def _as_records(network: Network, chats: Chats) -> dict[str, Any]:
    return {
        "characters": [
            {"id": person.short.lower(), "name": person.name, "short": person.short, "aliases": [person.short, person.name], "about": ""}
            for person in network.people
        ],
        "relationships": [
            {
                "id": one.id,
                "from": one.one,
                "type": one.tie.type,
                "to": one.other,
                "inverse": one.tie.inverse,
                "text": f"{one.other} is {'the narrator' if one.one == NARRATOR else one.one}'s {one.tie.type}.",
                **_told(chats, one.id),
            }
            for one in network.relationships
        ],
        "observations": [
            {
                "id": seen.id,
                "subject": seen.subject,
                "type": "transition" if seen.was or seen.ended else seen.family.type,
                "family": f"old {seen.family.name}" if seen.ended else seen.family.name,
                "predicate": seen.family.predicate,
                "value": seen.value,
                **({"was": seen.was} if seen.was else {}),
                "text": f"{seen.subject} {seen.family.predicate} {seen.value}.",
                **_told(chats, seen.id),
            }
            for seen in network.observations
        ],
        "sessions": [
            {
                "id": session.id,
                "date": session.day.isoformat(),
                "turns": [{"role": role, "content": text} for role, text in session.turns],
            }
            for session in chats.sessions
        ],
    }


def _told(chats: Chats, fact: str) -> dict[str, Any]:
    return {"anchors": list(chats.anchors[fact]), "evidence": [list(place) for place in chats.places[fact]]}
