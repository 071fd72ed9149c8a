"""pgmem-local: a personal memory that runs entirely on its owner's machine."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgmem_local.control.forgetting import Selection
    from pgmem_local.memory import PersonaMemory as Memory

__version__ = "0.1.0"
__all__ = ["Memory", "Selection", "__version__"]

_PUBLIC = {"Memory": ("pgmem_local.memory", "PersonaMemory"), "Selection": ("pgmem_local.control.forgetting", "Selection")}
"""Loaded when first asked for: importing the package alone must stay instant and need nothing else."""


def __getattr__(name: str) -> object:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _PUBLIC[name]
    return getattr(import_module(module), attribute)
