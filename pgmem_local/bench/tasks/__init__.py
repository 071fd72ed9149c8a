"""The tasks by name."""

from __future__ import annotations

from typing import Any

from pgmem_local.bench.tasks.choices import MemdailyTask, PersonamemLeakingTask, PersonamemTask, PrefevalTask
from pgmem_local.bench.tasks.diary import DiaryTask
from pgmem_local.bench.tasks.extraction import Extraction
from pgmem_local.bench.tasks.implexconv import ImplexconvTask
from pgmem_local.bench.tasks.locomo import LocomoTask
from pgmem_local.bench.tasks.memhop import MemhopRetrievalTask, MemhopTask
from pgmem_local.bench.tasks.relations import Relations
from pgmem_local.bench.tasks.task import Task

_OURS: tuple[Task[Any], ...] = (Relations(), Extraction(), DiaryTask(), MemhopTask(), MemhopRetrievalTask())
_OF_OTHERS: tuple[Task[Any], ...] = (
    PrefevalTask(), PersonamemTask(), PersonamemLeakingTask(), LocomoTask(), ImplexconvTask(), MemdailyTask(),
)  # fmt: skip
TASKS: dict[str, Task[Any]] = {task.name: task for task in (*_OURS, *_OF_OTHERS)}

__all__ = ["TASKS", "Task"]
