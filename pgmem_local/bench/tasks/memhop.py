"""Task `memhop`: what lies at the end of a chain of K relationships, scattered over many chats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pgmem_local.bench.company import NAMES
from pgmem_local.bench.datasets.history import Case
from pgmem_local.bench.datasets.memhop import HopQuestion, memhop_files, read_memhop
from pgmem_local.bench.scoring.forms import holds, refuses
from pgmem_local.bench.scoring.intervals import Metrics, mean
from pgmem_local.bench.scoring.recall import broken_hop, evidence_recall
from pgmem_local.bench.systems import Recalled
from pgmem_local.bench.tasks.questions import Answered, QuestionTask, RecallOnly, limited, mean_score
from pgmem_local.bench.workbench import Workbench

ABSTAIN = "abstain"


class MemhopTask(QuestionTask[HopQuestion]):
    name: ClassVar[str] = "memhop"
    systems: ClassVar[tuple[str, ...]] = (*QuestionTask.systems, "prograph", "oracle-without-end")
    headline: ClassVar[tuple[str, ...]] = (
        "accuracy", *(f"accuracy_by_k.{hops}" for hops in range(1, 6)), "abstain", "false_refusals", "evidence_recall", "full_chain",
    )  # fmt: skip
    lower: ClassVar[frozenset[str]] = frozenset({"false_refusals"})

    def files(self, data: Path | None) -> list[Path]:
        return memhop_files(data)

    def cases(self, bench: Workbench) -> Sequence[Case[HopQuestion]]:
        return limited(read_memhop(bench.options.data), bench.options.limit)

    def gold(self, question: HopQuestion) -> str:
        return " | ".join(question.forms)

    def score(self, question: HopQuestion, output: str, recalled: Recalled) -> dict[str, float | None]:
        if question.kind == ABSTAIN:
            return {"right": float(refuses(output))}
        right = holds(output, question.forms)
        return {
            "right": float(right),
            "stale": float(holds(output, question.stale) and not right) if question.stale else None,
            "false_refusal": float(refuses(output)),
            "evidence_recall": evidence_recall(question.steps, recalled.shown),
            "broken_hop": broken_hop(question.steps, recalled.shown),
        }

    def measure(self, results: Sequence[Answered]) -> Metrics:
        chains = [one for one in results if one.kind != ABSTAIN]
        by_hops = {kind.removeprefix("K="): [one for one in chains if one.kind == kind] for kind in sorted({one.kind for one in chains})}
        whole = [one for one in chains if one.whole_chain]
        return {
            "accuracy": mean_score(chains, "right"),
            "accuracy_by_k": {hops: mean_score(group, "right") for hops, group in by_hops.items()},
            "evidence_recall": mean_score(chains, "evidence_recall"),
            "evidence_recall_by_k": {hops: mean_score(group, "evidence_recall") for hops, group in by_hops.items()},
            "full_chain": mean([one.whole_chain for one in chains]),
            "full_chain_by_k": {hops: mean([one.whole_chain for one in group]) for hops, group in by_hops.items()},
            "broke_at": {str(hop): mean([one.scores.get("broken_hop") == hop for one in chains]) for hop in range(1, 6)},
            "accuracy_with_full_chain": mean_score(whole, "right"),
            "stale_answers": mean_score(chains, "stale"),
            "abstain": mean_score([one for one in results if one.kind == ABSTAIN], "right"),
            "false_refusals": mean_score(chains, "false_refusal"),
        }


class MemhopRetrievalTask(RecallOnly[HopQuestion], MemhopTask):
    """The same chains, but nothing is answered: which of their steps does a memory find? Questions nobody can answer have none."""

    name: ClassVar[str] = "memhop-retrieval"
    systems: ClassVar[tuple[str, ...]] = ("recent", "full", "rag", "pgmem", *NAMES)
    headline: ClassVar[tuple[str, ...]] = (
        "evidence_recall", *(f"evidence_recall_by_k.{hops}" for hops in range(1, 6)), "full_chain",
    )  # fmt: skip
    lower: ClassVar[frozenset[str]] = frozenset()

    def measure(self, results: Sequence[Answered]) -> Metrics:
        measured = super().measure(results)
        kept = ("evidence_recall", "evidence_recall_by_k", "full_chain", "full_chain_by_k", "broke_at")
        return {name: measured[name] for name in kept}
