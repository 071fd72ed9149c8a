"""`pgmem ask`: the answer, the lines it rests on, and with --explain how Algorithm 2 came by them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console

from pgmem_local.answering import Answer
from pgmem_local.cli import show
from pgmem_local.cli.background import attended
from pgmem_local.cli.opening import open_to_look, say
from pgmem_local.cli.options import Where
from pgmem_local.cli.values import citation_value, entries, entry_value, print_json
from pgmem_local.conversation import written_day
from pgmem_local.graph.nodes import NodeId
from pgmem_local.ingest.untrusted import clean
from pgmem_local.memory import PersonaMemory
from pgmem_local.retrieval.expand import SignedPath, find_path
from pgmem_local.retrieval.hops import Path
from pgmem_local.retrieval.pipeline import Retrieval
from pgmem_local.retrieval.seed import Scored, Seeds

SEED_GROUPS = ("contexts", "episodes", "states", "traits", "active_persona")


def ask_memory(question: str, where: Where, explain: bool, as_json: bool) -> None:
    """Print the answer to a question."""
    question = clean(question)
    with open_to_look(where) as memory:
        answer, retrieval = attended(lambda: memory.ask(question), lambda: say("pgmem: stopped"))
        if as_json:
            explained = {"explain": explain_value(memory, retrieval)} if explain else {}
            print_json(answer_value(question, answer) | explained)
            return
        console = show.terminal()
        show_answer(console, question, answer)
        if explain:
            show_explanation(console, memory, retrieval)


def answer_value(question: str, answer: Answer) -> dict[str, Any]:
    about = f"{question} {answer.text}"
    return {
        "question": question,
        "answer": answer.text,
        "known": answer.known,
        "log_odds": None if answer.log_odds is None else round(answer.log_odds, 3),
        "citations": [citation_value(citation, about) for citation in answer.citations],
    }


def show_answer(console: Console, question: str, answer: Answer) -> None:
    show.line(console, answer.text)
    for citation in answer.citations:
        show.citation(console, citation, f"{question} {answer.text}")


def seed_groups(seeds: Seeds) -> Iterator[tuple[str, tuple[Scored, ...]]]:
    for name in SEED_GROUPS:
        yield name, getattr(seeds, name)


def path_to(memory: PersonaMemory, retrieval: Retrieval, target: NodeId) -> SignedPath | None:
    return find_path(memory.graph, retrieval.pool, target, memory.settings.retrieval.expand)


def path_text(path: SignedPath | None) -> str:
    """A path with its signs, from the seed on; without one the node was kept in view or came with what it replaced."""
    if path is None:
        return "kept in view"
    steps = "".join(f" {step.sign.value}{step.edge.relation.value} {step.node}" for step in path.steps)
    return f"{path.origin}{steps}" if steps else "seed"


def explain_value(memory: PersonaMemory, retrieval: Retrieval) -> dict[str, Any]:
    return {
        "seeds": {
            name: [{"id": one.node.id, "phi": round(one.phi, 4), "meaning": one.meaning, "overlap": one.overlap} for one in seeds]
            for name, seeds in seed_groups(retrieval.seeds)
        },
        "pool": len(retrieval.pool),
        "about_the_past": retrieval.query.past,
        "evidence": [
            entry_value(entry) | {"path": path_value(path_to(memory, retrieval, entry.node.id))}
            for entry in entries(retrieval.evidence)
        ],
        "question_kind": retrieval.company.kind.value,
        "chains": [chain_value(memory, path) for path in retrieval.company.paths],
    }


def chain_value(memory: PersonaMemory, path: Path) -> dict[str, Any]:
    """Whom a chain of facts leads through, and what it goes along."""
    return {
        "people": [{"id": one, "name": memory.people[one].name} for one in path.people],
        "statements": [{"id": one.id, "text": one.text, "sources": list(one.sources)} for one in path.statements],
        "worth": round(path.worth, 4),
    }


def path_value(path: SignedPath | None) -> dict[str, Any] | None:
    if path is None:
        return None
    steps = [{"sign": step.sign.value, "relation": step.edge.relation.value, "node": step.node} for step in path.steps]
    return {"origin": path.origin, "sign": path.sign.value, "steps": steps}


def show_chain(console: Console, memory: PersonaMemory, retrieval: Retrieval) -> None:
    """The best chain of facts about others; nothing where the question is about nobody."""
    for path in retrieval.company.paths[:1]:
        show.line(console, f"\nChain ({' -> '.join(memory.people[one].name for one in path.people)})", "bold")
        for one in path.statements:
            show.line(console, f"  {one.id:<5} {show.flat(one.text)}  [{', '.join(one.sources)}]")


def show_explanation(console: Console, memory: PersonaMemory, retrieval: Retrieval) -> None:
    """Seeds by kind with φ, then every node that was shown to the model with its path, evidence, φ, val and ψ."""
    show_chain(console, memory, retrieval)
    show.line(console, "\nSeeds (φ)", "bold")
    for name, seeds in seed_groups(retrieval.seeds):
        listed = ", ".join(f"{seed.node.id} {seed.phi:.2f}" for seed in seeds)
        show.line(console, f"  {name.replace('_', ' ')}: {listed or '-'}")
    past = "; about the past: nothing fades" if retrieval.query.past else ""
    show.line(console, f"\nEvidence (of a pool of {len(retrieval.pool)}{past})", "bold")
    rows = [
        (
            entry.status.value,
            entry.node.id,
            written_day(entry.node.moment),
            path_text(path_to(memory, retrieval, entry.node.id)),
            f"+{len(entry.ranked.supporters)} -{len(entry.ranked.challengers)}",
            f"+{entry.ranked.weight.supporting:.1f} -{entry.ranked.weight.contradicting:.1f}",
            f"{entry.ranked.weight.freshness:.2f}",
            f"{entry.ranked.phi:.2f}",
            f"{entry.ranked.validity:.2f}",
            f"{entry.ranked.psi:.2f}",
            show.flat(entry.node.text),
        )
        for entry in entries(retrieval.evidence)
    ]
    columns = ("status", "id", "date", "path", "S/C", "weighs", "fresh", "φ", "val", "ψ", "text")
    show.table(console, columns, rows, right=("fresh", "φ", "val", "ψ"))
