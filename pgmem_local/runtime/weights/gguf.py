"""The header of a GGUF file, read without llama.cpp: what model it is, and how long the whole file has to be.

Not a step of the paper. The file is mapped, never read whole; tokenizer lists are stepped over. Layout: magic, version, counts,
key-value pairs, tensor descriptions, padding, tensor data.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

MAGIC = b"GGUF"
VERSIONS = (2, 3)
DEFAULT_ALIGNMENT = 32
MAX_DIMENSIONS = 4

_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9

_BLOCKS = {
    0: (1, 4),  # F32
    1: (1, 2),  # F16
    2: (32, 18),  # Q4_0
    3: (32, 20),  # Q4_1
    6: (32, 22),  # Q5_0
    7: (32, 24),  # Q5_1
    8: (32, 34),  # Q8_0
    9: (32, 36),  # Q8_1
    10: (256, 84),  # Q2_K
    11: (256, 110),  # Q3_K
    12: (256, 144),  # Q4_K
    13: (256, 176),  # Q5_K
    14: (256, 210),  # Q6_K
    15: (256, 292),  # Q8_K
    16: (256, 66),  # IQ2_XXS
    17: (256, 74),  # IQ2_XS
    18: (256, 98),  # IQ3_XXS
    19: (256, 50),  # IQ1_S
    20: (32, 18),  # IQ4_NL
    21: (256, 110),  # IQ3_S
    22: (256, 82),  # IQ2_S
    23: (256, 136),  # IQ4_XS
    24: (1, 1),  # I8
    25: (1, 2),  # I16
    26: (1, 4),  # I32
    27: (1, 8),  # I64
    28: (1, 8),  # F64
    29: (256, 56),  # IQ1_M
    30: (1, 2),  # BF16
    34: (256, 54),  # TQ1_0
    35: (256, 66),  # TQ2_0
    39: (32, 17),  # MXFP4
}
"""Tensor type -> (weights in a block, bytes of a block). A type not listed counts as no bytes: its end is then not checked."""

Value = int | float | bool | str | None


class NotGGUF(ValueError):
    """The bytes are not a GGUF header this reader knows."""


class HeaderCut(ValueError):
    """The file ends inside its own header."""


@dataclass(frozen=True)
class GGUFHeader:
    """What the rest of the program asks of a file before it is loaded."""

    architecture: str
    name: str
    context_length: int | None
    has_chat_template: bool
    least_bytes: int
    """The file is whole only if it is at least this long."""


def read_header(path: Path) -> GGUFHeader:
    """Raises NotGGUF or HeaderCut."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[:4] != MAGIC[: len(data)]:
            raise NotGGUF("no GGUF magic")
        return _Cursor(data).header()


class _Cursor:
    """A position in the mapped file."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = len(MAGIC)

    def header(self) -> GGUFHeader:
        version = self._number("<I")
        if version not in VERSIONS:
            raise NotGGUF(f"version {version}, known are 2 and 3")
        tensors, pairs = self._number("<Q"), self._number("<Q")
        values = dict(self._pair() for _ in range(pairs))
        data_bytes = max((self._tensor_end() for _ in range(tensors)), default=0)
        architecture = str(values.get("general.architecture", ""))
        context = values.get(f"{architecture}.context_length")
        return GGUFHeader(
            architecture=architecture,
            name=str(values.get("general.name", "")),
            context_length=int(context) if isinstance(context, int) else None,
            has_chat_template="tokenizer.chat_template" in values,
            least_bytes=self._aligned(values.get("general.alignment")) + data_bytes,
        )

    def _pair(self) -> tuple[str, Value]:
        return self._text(), self._value(self._number("<I"))

    def _value(self, kind: int) -> Value:
        if kind == _STRING:
            return self._text()
        if kind == _ARRAY:
            self._step_over_array()
            return None
        if kind not in _SCALARS:
            raise NotGGUF(f"value type {kind}")
        return self._unpack(_SCALARS[kind])

    def _step_over_array(self) -> None:
        kind, count = self._number("<I"), self._number("<Q")
        if kind in _SCALARS:
            self._at += count * struct.calcsize(_SCALARS[kind])
        elif kind == _STRING:
            self._step_over_strings(count)
        else:
            raise NotGGUF(f"a list of value type {kind}")

    def _step_over_strings(self, count: int) -> None:
        """A vocabulary has a quarter of a million entries, so this loop is kept bare."""
        data, at, unpack = self._data, self._at, struct.Struct("<Q").unpack_from
        try:
            for _ in range(count):
                at += 8 + unpack(data, at)[0]
        except (struct.error, OverflowError) as error:
            raise HeaderCut from error
        self._at = at

    def _tensor_end(self) -> int:
        """Bytes from the start of the tensor data to the end of this tensor."""
        self._text()
        dimensions = self._number("<I")
        if dimensions > MAX_DIMENSIONS:
            raise NotGGUF(f"a tensor of {dimensions} dimensions")
        weights = 1
        for _ in range(dimensions):
            weights *= self._number("<Q")
        block, block_bytes = _BLOCKS.get(self._number("<I"), (1, 0))
        return self._number("<Q") + weights // block * block_bytes

    def _aligned(self, alignment: Value) -> int:
        step = alignment if isinstance(alignment, int) and alignment > 0 else DEFAULT_ALIGNMENT
        return -(-self._at // step) * step

    def _text(self) -> str:
        length = self._number("<Q")
        start, end = self._at, self._at + length
        if end > len(self._data):
            raise HeaderCut
        self._at = end
        return self._data[start:end].decode("utf-8", errors="replace")

    def _number(self, layout: str) -> int:
        return int(self._unpack(layout))

    def _unpack(self, layout: str) -> int | float | bool:
        try:
            number: int | float | bool = struct.unpack_from(layout, self._data, self._at)[0]
        except (struct.error, OverflowError) as error:
            raise HeaderCut from error
        self._at += struct.calcsize(layout)
        return number
