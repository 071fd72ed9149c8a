"""The tasks by name."""

from __future__ import annotations

from typing import Any

from pgmem_local.bench.tasks.diary import DiaryTask
from pgmem_local.bench.tasks.extraction import Extraction
from pgmem_local.bench.tasks.memhop import MemhopTask
from pgmem_local.bench.tasks.relations import Relations
from pgmem_local.bench.tasks.task import Task

TASKS: dict[str, Task[Any]] = {task.name: task for task in (Relations(), Extraction(), DiaryTask(), MemhopTask())}

__all__ = ["TASKS", "Task"]
