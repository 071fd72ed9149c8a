"""What was forgotten, in the files beside the database: rejected records and the lines typed into the chat.

The words to look for are regular expressions over folded text, so that they can be written down and a sweep taken up again after a
crash. A record goes whole: a reject that holds a forgotten sentence would bring it back when it is repaired and ingested.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from pgmem_local.errors import StoreError
from pgmem_local.graph.nodes import Context, Node
from pgmem_local.sentences import SENTENCE_END
from pgmem_local.words import content_words, folded

TELLING_WORDS = 3
"""A sentence of fewer content words is no trace of its own: only a record that says nothing else goes with it."""

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([\"\\/bfnrt]))")
_PLAIN = {"b": " ", "f": " ", "n": " ", "r": " ", "t": " "}

Kept = tuple[str, int]
"""What stays of a file, and how many of its records go."""
Clearing = Callable[[str, Sequence[str]], Kept]
"""How the records of a kind of file are told apart and searched."""
_ANYTHING = ("",)


def patterns(text: str | None, entity: str | None, nodes: Iterable[Node]) -> tuple[str, ...]:
    """What to look for: the terms that were given, and the sentences of what goes."""
    found = dict.fromkeys([re.escape(folded(text))] if text else [])
    if entity:
        found[_whole_word(entity)] = None
    for node in nodes:
        for said in (node.text, node.reply or "") if isinstance(node, Context) else (node.text,):
            found |= dict.fromkeys(_of_text(said))
    return tuple(found)


def _of_text(text: str) -> Iterator[str]:
    sentences = [sentence for sentence in SENTENCE_END.split(text) if len(content_words(sentence)) >= TELLING_WORDS]
    yield from (re.escape(folded(sentence)) for sentence in sentences)
    if text.strip() and not sentences:
        yield rf"\A{re.escape(folded(text))}\Z"


def _whole_word(name: str) -> str:
    return rf"(?<!\w){re.escape(folded(name))}(?!\w)"


def mentions(text: str, name: str) -> bool:
    """Whether a text holds a name as whole words; Jo is neither in journal nor in Joanna, but in Jo's."""
    return re.search(_whole_word(name), folded(text)) is not None


# ------------------------------------------------------------------ files


def without_rejects(content: str, wanted: Sequence[str]) -> Kept:
    """Rejected records, a JSON object a line, without those that hold a trace."""
    lines = [line for line in content.split("\n") if line]  # a record may hold what `splitlines` takes for the end of a line
    search = _searcher(wanted)
    kept = [line for line in lines if not any(map(search, _strings(line)))]
    return "".join(f"{line}\n" for line in kept), len(lines) - len(kept)


def without_history(content: str, wanted: Sequence[str]) -> Kept:
    """prompt_toolkit's history, entries of `# time` and `+` lines, without those that hold a trace."""
    search = _searcher(wanted)
    entries = [entry for entry in re.split(r"(?m)^(?=# )", content) if entry.strip()]
    kept = [entry for entry in entries if not _entry_holds(entry, search)]
    return "".join(kept), len(entries) - len(kept)


def _entry_holds(entry: str, search: Callable[[str], bool]) -> bool:
    lines = [line.removeprefix("+") for line in entry.splitlines() if not line.startswith("# ")]
    return search("\n".join(lines)) or any(map(search, lines))


def count_in(path: Path, clear: Clearing, wanted: Sequence[str]) -> int:
    """How many records of a file would go; none of a file that is not there."""
    return clear(_read(path), wanted)[1]


def count_all(path: Path, clear: Clearing) -> int:
    return count_in(path, clear, _ANYTHING)


def clear_from(path: Path, clear: Clearing, wanted: Sequence[str]) -> int:
    """Take the records that hold a trace out of a file, at once or not at all; how many there were."""
    kept, gone = clear(_read(path), wanted)
    if not gone:
        return 0
    if not kept.strip():
        path.unlink()
        return gone
    aside = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with open(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(kept)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError as error:
        raise StoreError(f"cannot rewrite {path} ({error.strerror}); make room and run `pgmem stats`, which finishes it") from error
    return gone


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return ""


def _searcher(wanted: Sequence[str]) -> Callable[[str], bool]:
    compiled = [re.compile(pattern) for pattern in wanted]
    return lambda text: any(pattern.search(folded(text)) for pattern in compiled)


def _strings(text: str) -> Iterator[str]:
    """A text, and the strings inside where it is JSON, whole or cut; a record may hold another as it stood."""
    yield text
    try:
        value = json.loads(text)
    except ValueError:
        yield _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _PLAIN.get(found[2], found[2]), text)
        return
    yield from _strings_in(value)


def _strings_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from _strings(value) if value.lstrip()[:1] in ("{", "[", '"') else (value,)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from _strings_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings_in(part)
