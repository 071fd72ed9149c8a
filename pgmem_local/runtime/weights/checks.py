"""Looks at a weight file before llama.cpp or onnxruntime sees it, and says in one line what is wrong and what to do next.

Not a step of the paper. llama.cpp answers a web page, a cut file and a directory all with "failed to load model". Nothing here
hashes: these checks cost milliseconds and run at every start; `pgmem models verify` hashes.
"""

from __future__ import annotations

import json
from pathlib import Path

from pgmem_local.errors import ModelFileError
from pgmem_local.runtime.weights.gguf import GGUFHeader, HeaderCut, NotGGUF, read_header
from pgmem_local.runtime.weights.registry import FileSpec, ModelSpec

CHAT_ARCHITECTURES = frozenset(
    {
        "apertus",
        "arcee",
        "bailingmoe",
        "bitnet",
        "chatglm",
        "cohere2",
        "command-r",
        "deepseek",
        "deepseek2",
        "ernie4_5",
        "exaone",
        "exaone4",
        "falcon",
        "falcon-h1",
        "gemma",
        "gemma2",
        "gemma3",
        "gemma3n",
        "gemma4",
        "glm4",
        "glm4moe",
        "gpt-oss",
        "granite",
        "granitehybrid",
        "granitemoe",
        "hunyuan-dense",
        "internlm2",
        "lfm2",
        "lfm2moe",
        "llama",
        "llama4",
        "minicpm",
        "minicpm3",
        "mistral3",
        "mistral4",
        "nemotron",
        "nemotron_h",
        "olmo",
        "olmo2",
        "olmoe",
        "orion",
        "phi2",
        "phi3",
        "phimoe",
        "qwen2",
        "qwen2moe",
        "qwen2vl",
        "qwen3",
        "qwen35",
        "qwen35moe",
        "qwen3moe",
        "qwen3next",
        "qwen3vl",
        "seed_oss",
        "smollm3",
        "stablelm",
        "starcoder2",
    }
)
"""Families llama.cpp runs as left-to-right writers of text. Encoders, speech, image and diffusion models are not among them."""

ONNX_FIRST_BYTE = 0x08
"""An ONNX file is a protobuf whose first field is the format version."""
SNIFFED_BYTES = 512


def check_gguf(path: Path, expect: ModelSpec | None = None) -> GGUFHeader:
    """The header of a whole GGUF chat model, or ModelFileError. `expect` is the registered model the file is meant to be."""
    advice = _advice(expect)
    _check_plain_file(path, advice)
    try:
        header = read_header(path)
    except NotGGUF as error:
        raise ModelFileError(f"{path}: not a GGUF model file ({error}); {advice}") from error
    except HeaderCut as error:
        raise ModelFileError(f"{path}: incomplete: {_of_expected(path, expect)}; {advice}") from error
    _check_length(path, max(header.least_bytes, _exact_size(expect) or 0), advice)
    _check_architecture(path, header.architecture, expect, advice)
    return header


def check_onnx(path: Path, expect: FileSpec, owner: ModelSpec) -> None:
    """An embedder's network: a whole ONNX file."""
    advice = _advice(owner)
    _check_plain_file(path, advice)
    with path.open("rb") as file:
        first = file.read(1)
    if first[0] != ONNX_FIRST_BYTE:
        raise ModelFileError(f"{path}: not an ONNX model file; {advice}")
    _check_length(path, expect.exact_size or 0, advice)


def check_tokenizer(path: Path, owner: ModelSpec) -> None:
    """An embedder's tokenizer: a JSON object with a vocabulary."""
    advice = _advice(owner)
    _check_plain_file(path, advice)
    try:
        parsed = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ModelFileError(f"{path}: not a whole JSON file; {advice}") from error
    if not isinstance(parsed, dict) or "model" not in parsed:
        raise ModelFileError(f"{path}: JSON, but not a tokenizer; {advice}")


def check_file(path: Path, file: FileSpec, owner: ModelSpec) -> None:
    """The check that fits the kind of file."""
    suffix = Path(file.path).suffix
    if suffix == ".gguf":
        check_gguf(path, owner)
    elif suffix == ".onnx":
        check_onnx(path, file, owner)
    else:
        check_tokenizer(path, owner)


def _check_plain_file(path: Path, advice: str) -> None:
    if not path.exists():
        raise ModelFileError(f"{path}: no such file; {advice}")
    if path.is_dir():
        raise ModelFileError(f"{path}: a directory, not a model file; name the file inside it, or {advice}")
    if not path.is_file():
        raise ModelFileError(f"{path}: not a regular file; {advice}")
    try:
        with path.open("rb") as file:
            beginning = file.read(SNIFFED_BYTES)
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read ({error.strerror}); check its permissions") from error
    if cause := foreign_content(beginning):
        raise ModelFileError(f"{path}: {cause}; {advice}")


def foreign_content(beginning: bytes) -> str:
    """What downloads leave in place of weights, by their first bytes; empty for anything else."""
    text = beginning.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if not beginning:
        return "an empty file"
    if text.startswith(b"<"):
        return "a web page, not model weights"
    if text.startswith(b"version https://git-lfs"):
        return "a git-lfs pointer, not the weights it points to"
    return ""


def _check_length(path: Path, least: int, advice: str) -> None:
    if (size := path.stat().st_size) < least:
        raise ModelFileError(f"{path}: incomplete: {size:,} of {least:,} bytes; {advice}")


def _check_architecture(path: Path, architecture: str, expect: ModelSpec | None, advice: str) -> None:
    if expect and architecture != expect.architecture:
        cause = f"architecture {architecture!r}, but {expect.name} is {expect.architecture!r}"
        raise ModelFileError(f"{path}: another model ({cause}); {advice}")
    if architecture not in CHAT_ARCHITECTURES:
        raise ModelFileError(f"{path}: architecture {architecture!r} is not a chat model llama.cpp runs here; {advice}")


def _exact_size(expect: ModelSpec | None) -> int | None:
    return expect.files[0].exact_size if expect else None


def _of_expected(path: Path, expect: ModelSpec | None) -> str:
    size = path.stat().st_size
    if least := _exact_size(expect):
        return f"{size:,} of {least:,} bytes"
    return f"{size:,} bytes, and its header alone is longer"


def _advice(expect: ModelSpec | None) -> str:
    return f"run `pgmem models pull {expect.name}`" if expect else "download it again, or choose one of `pgmem models list`"
