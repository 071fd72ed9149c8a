"""From a name to an opened model: where `memory.py` gets its real adapters. Imports nothing heavy until it is called."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pgmem_local.ports import ChatModel, Embedder


def open_chat_model(
    name_or_path: str | Path | None = None, context_tokens: int | None = None, loading: Callable[[str], None] | None = None
) -> ChatModel:
    """The chat model of this name, path, or the best one installed. Raises ModelFileError before llama.cpp sees a wrong file.

    `loading` hears the model's name before that takes its seconds.
    """
    from pgmem_local.runtime.llama import DEFAULT_CONTEXT, LlamaChat
    from pgmem_local.runtime.model_files import find_model
    from pgmem_local.runtime.weights.checks import check_gguf

    found = find_model(name_or_path)
    if loading is not None:
        loading(found.name)
    check_gguf(found.path, found.spec)
    return LlamaChat(found.path, found.name, context_tokens or DEFAULT_CONTEXT)


def require_chat_model(name_or_path: str | Path | None = None) -> None:
    """Raises ModelFileError where this model is not installed; loads nothing."""
    from pgmem_local.runtime.model_files import find_model

    find_model(name_or_path)


def open_embedder() -> Embedder:
    """The installed sentence encoder. Raises ModelFileError where there is none."""
    from pgmem_local.runtime.llama import physical_cores
    from pgmem_local.runtime.minilm import MiniLM
    from pgmem_local.runtime.model_files import find_embedder

    files = find_embedder()
    return MiniLM(files.network, files.tokenizer, physical_cores())
