"""What a look at the memory found: one finding a question, with its bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Verdict(str, Enum):
    """`note` is worth knowing but nothing is broken; `bad` is beyond the bound."""

    GOOD = "good"
    NOTE = "note"
    BAD = "bad"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at, in words; `examples` are ids or paths it was found at."""

    name: str
    verdict: Verdict
    detail: str
    examples: tuple[str, ...] = ()

    def value(self) -> dict[str, Any]:
        return {"name": self.name, "verdict": self.verdict.value, "detail": self.detail, "examples": list(self.examples)}


@dataclass(frozen=True)
class Share(Finding):
    """Nodes that have a fault, of all that could have it. One faulty node is let pass where any are: of a few it is a large share."""

    count: int = 0
    of: int = 0
    bound: float = 0.0

    @classmethod
    def measured(cls, name: str, faulty: Sequence[str], of: int, bound: float, meaning: str) -> Share:
        bad = len(faulty) > max(bound * of, 1 if bound else 0)
        share = len(faulty) / of if of else 0.0
        detail = f"{len(faulty)} of {of} {meaning} ({share:.1%}; at most {bound:.0%})"
        return cls(name, Verdict.BAD if bad else Verdict.GOOD, detail, tuple(faulty), len(faulty), of, bound)

    def value(self) -> dict[str, Any]:
        share = round(self.count / self.of, 4) if self.of else 0.0
        return super().value() | {"count": self.count, "of": self.of, "share": share, "bound": self.bound}
