"""Labelled pairs of notes: what does the later one do to the earlier one?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from pgmem_local.bench.datasets.files import chosen, field, read_lines, shipped
from pgmem_local.conversation import Moment
from pgmem_local.errors import IngestError
from pgmem_local.graph.edges import Relation
from pgmem_local.graph.nodes import Kind


@dataclass(frozen=True)
class DatedNote:
    text: str
    kind: Kind
    moment: Moment


@dataclass(frozen=True)
class LabelledPair:
    """hard: needs more than surface cues. The label is for scoring only."""

    id: str
    earlier: DatedNote
    later: DatedNote
    label: Relation
    hard: bool


def relation_files(data: Path | None) -> list[Path]:
    return chosen(data or shipped("relations"), "*.jsonl")


def read_relations(data: Path | None) -> list[LabelledPair]:
    """The pairs that come with the package, or those of a file or folder of the same format."""
    return [_pair(record, path) for path in relation_files(data) for record in read_lines(path)]


def _pair(record: dict[str, Any], path: Path) -> LabelledPair:
    earlier, later = (_note(record, which, path) for which in ("earlier", "later"))
    try:
        label = Relation(field(record, "label", path))
    except ValueError:
        raise IngestError(f"{path}: {record['label']!r} is none of {', '.join(relation.value for relation in Relation)}") from None
    return LabelledPair(str(field(record, "id", path)), earlier, later, label, bool(record.get("hard", False)))


def _note(record: dict[str, Any], which: str, path: Path) -> DatedNote:
    day = datetime.fromisoformat(field(record, f"{which}_date", path)).replace(tzinfo=timezone.utc)
    return DatedNote(field(record, which, path), Kind(field(record, f"{which}_type", path)), Moment.of(day))
