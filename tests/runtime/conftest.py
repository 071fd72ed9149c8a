"""Tiny models made once a session, opened anew for each test; real weights opened once, for the tests marked `models`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pgmem_local.runtime.engine import Engine
from pgmem_local.runtime.llama import LlamaChat
from pgmem_local.runtime.model_files import find_embedder, find_model
from tests.runtime.tiny_models import write_gemma3, write_qwen3


@pytest.fixture(scope="session")
def qwen_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_qwen3(tmp_path_factory.mktemp("tiny") / "qwen3.gguf")


@pytest.fixture(scope="session")
def gemma_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gemma3(tmp_path_factory.mktemp("tiny") / "gemma3.gguf")


@pytest.fixture
def qwen(qwen_file: Path) -> Iterator[LlamaChat]:
    with LlamaChat(qwen_file, "tiny-qwen3", context_tokens=1024, threads=1) as model:
        yield model


@pytest.fixture
def gemma(gemma_file: Path) -> Iterator[LlamaChat]:
    with LlamaChat(gemma_file, "tiny-gemma3", context_tokens=1024, threads=1) as model:
        yield model


@pytest.fixture(scope="session")
def smollm() -> Iterator[LlamaChat]:
    with LlamaChat(find_model("smollm2-135m").path, "smollm2-135m", context_tokens=1024) as model:
        yield model


@pytest.fixture(scope="session")
def gemma_base_file() -> Path:
    return find_model("gemma-3-270m").path


@pytest.fixture(scope="session")
def gemma_base(gemma_base_file: Path) -> Iterator[Engine]:
    engine = Engine(gemma_base_file, context_tokens=512, threads=1, gpu_layers=0)
    yield engine
    engine.close()


@pytest.fixture(scope="session")
def embedder_files() -> tuple[Path, Path]:
    files = find_embedder()
    return files.network, files.tokenizer
