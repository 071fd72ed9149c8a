"""What holds for the reader of every format, whatever bytes it meets; and bytes to try it on.

    @given(mutated(SAMPLE))
    def test_any_bytes_are_read_without_a_crash_and_without_silent_loss(content: bytes) -> None:
        assert_laws(WHATSAPP, {"_chat.txt": content})

Leave max_examples to the profile: `pytest tests/ingest -k any_bytes --hypothesis-profile=mutations` tries 10,000 a format.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from hypothesis import strategies as st

from pgmem_local.conversation import Turn
from pgmem_local.errors import IngestError
from pgmem_local.ingest.formats import Format, ReadOptions
from pgmem_local.ingest.reader import Counts
from pgmem_local.ingest.rejects import Reject

NOW = datetime(2026, 7, 1, tzinfo=timezone.utc)
OPTIONS = ReadOptions(timezone.utc, NOW)

NASTY = (
    b"\x00", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\xe2\x80\xae", b"\xe2\x80\xaf", b"\x1b[2J", b"\\ud83d", b"\\", b'"', b"'", b"{", b"}",
    b"[", b"]", b"[" * 2000, b",", b":", b"\n", b"\r\n", b"\r", b"\n\n", b"---\n", b"%%", b"<", b">", b"</div>", b"&#x110000;",
    b"null", b"true", b"1e999", b"-1", b"9" * 400, b"9" * 5000, b"9" * 60, b"\xf0\x9f\x98\x80", b"12/13/14", b'{"text": "x"}',
)  # fmt: skip
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.sampled_from(["", "\x00", "2026-99-99", "user"])
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=5,
)


@dataclass
class HeldSource:
    """Files in memory. Implements `Source`."""

    files: Mapping[str, bytes]
    path: Path = field(default=Path("export"))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self.files))

    def open(self, name: str) -> BinaryIO:
        return BytesIO(self.files[name])

    def size(self, name: str) -> int:
        return len(self.files[name])


def assert_laws(one: Format, files: Mapping[str, bytes], options: ReadOptions = OPTIONS) -> Counts:
    """Nothing but IngestError is raised, every record is counted once, and what comes out can be stored."""
    source = HeldSource(files)
    why = one.recognise(source)
    assert why is None or why.strip()
    try:
        reader = one.read(source, options)
    except IngestError:
        return Counts()
    items: list[Turn | Reject] = []
    with suppress(IngestError):
        items.extend(reader)
    counts = reader.counts
    assert counts.bytes_to_read == 0 or counts.bytes_read <= counts.bytes_to_read
    assert counts.records == counts.turns + counts.rejected + counts.skipped
    assert counts.turns == sum(isinstance(item, Turn) for item in items)
    assert counts.rejected == sum(isinstance(item, Reject) for item in items)
    for item in items:
        if isinstance(item, Turn):
            assert_storable(item)
        else:
            assert item.reason.strip()
            json.loads(item.to_json())
    return counts


def assert_storable(turn: Turn) -> None:
    """The words of a turn are there, and can be encoded."""
    assert turn.text.strip()
    for text in (turn.text, turn.session or "", turn.author or ""):
        text.encode("utf-8")
        assert "\x00" not in text


def _cut(draw: st.DrawFn, sample: bytes) -> bytes:
    start, end = _stretch(draw, sample)
    return sample[:start] + sample[end:]


def _cut_off(draw: st.DrawFn, sample: bytes) -> bytes:
    return sample[: draw(st.integers(0, len(sample)))]


def _double(draw: st.DrawFn, sample: bytes) -> bytes:
    start, end = _stretch(draw, sample)
    return sample[:end] + sample[start:]


def _overwrite(draw: st.DrawFn, sample: bytes) -> bytes:
    start, end = _stretch(draw, sample)
    return sample[:start] + draw(st.binary(max_size=end - start)) + sample[end:]


def _intersperse(draw: st.DrawFn, sample: bytes) -> bytes:
    start = draw(st.integers(0, len(sample)))
    return sample[:start] + draw(st.sampled_from(NASTY)) + sample[start:]


def _stretch(draw: st.DrawFn, sample: bytes) -> tuple[int, int]:
    start = draw(st.integers(0, len(sample)))
    return start, min(len(sample), start + draw(st.integers(0, 200)))


_ACCIDENTS: tuple[Callable[[st.DrawFn, bytes], bytes], ...] = (_cut, _cut_off, _double, _overwrite, _intersperse)


@st.composite
def mutated(draw: st.DrawFn, sample: bytes) -> bytes:
    """The sample after one to three accidents: cut, doubled, overwritten, interspersed; or other bytes altogether."""
    if draw(st.integers(0, 19)) == 0:
        return draw(st.binary(max_size=300))
    for _ in range(draw(st.integers(1, 3))):
        sample = draw(st.sampled_from(_ACCIDENTS))(draw, sample)
    return sample


@st.composite
def mutated_json(draw: st.DrawFn, sample: bytes) -> bytes:
    """A JSON sample in which one to three values, anywhere, are other values, or missing."""
    value = json.loads(sample)
    for _ in range(draw(st.integers(1, 3))):
        places = [(holder, key) for holder in _holders(value) for key in _keys(holder)]
        if not places:
            break
        holder, key = draw(st.sampled_from(places))
        if draw(st.booleans()):
            holder[key] = draw(VALUES)
        else:
            del holder[key]
    return json.dumps(value).encode()


def _keys(holder: Any) -> list[Any]:
    return list(holder) if isinstance(holder, dict) else list(range(len(holder)))


def _holders(value: Any) -> list[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found = [value] if isinstance(value, (dict, list)) else []
    return found + [holder for one in inner for holder in _holders(one)]
