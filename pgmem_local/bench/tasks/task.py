"""What every task offers: which files it reads, one result an item for each system, and how results become metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from pgmem_local.bench.journal import Build, Journal, Outcome
from pgmem_local.bench.scoring.intervals import Metrics
from pgmem_local.bench.workbench import Workbench

Result = TypeVar("Result")


class Task(Protocol[Result]):
    """headline: metrics shown in the table, named as `flat` names them. decisive: those that say which system is better; a judge
    that always says one label has a perfect recall of it. lower: metrics of which less is better.

    per: what an outcome's cost is counted by; a task whose items are turns has no questions. item: what the table calls one.
    plain: baselines that ours has to beat. checks: what the local judge is asked about a free answer.
    """

    name: ClassVar[str]
    systems: ClassVar[tuple[str, ...]]
    headline: ClassVar[tuple[str, ...]]
    lower: ClassVar[frozenset[str]]
    plain: ClassVar[tuple[str, ...]]
    per: ClassVar[Literal["turn", "question"]]
    item: ClassVar[str]
    checks: ClassVar[tuple[str, ...]]

    @property
    def decisive(self) -> tuple[str, ...]: ...

    def files(self, data: Path | None) -> list[Path]:
        """The data files. Raises IngestError where there are none."""
        ...

    def run(self, bench: Workbench, system: str, journal: Journal) -> Iterator[Build | Outcome]:
        """What the journal does not hold yet, as it comes."""
        ...

    def read(self, raw: dict[str, Any]) -> Result:
        """A result from its fields."""
        ...

    def measure(self, results: Sequence[Result]) -> Metrics: ...

    def controls(self, bench: Workbench) -> Metrics:
        """What can be scored without any memory or model."""
        ...
