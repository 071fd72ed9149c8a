"""`pgmem ingest --dry-run`: what is in the paths, as it would be understood. Opens no model and writes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import typer

from pgmem_local.cli.background import attended
from pgmem_local.cli.figures import per_turn
from pgmem_local.cli.ingest import BATCH, exit_code
from pgmem_local.cli.opening import passphrase_prompt, say
from pgmem_local.cli.options import Where
from pgmem_local.cli.progress import IngestProgress, counted, duration, progress_for_terminal
from pgmem_local.cli.reading import SHOWN, Paths, Request, remarks
from pgmem_local.cli.values import print_json
from pgmem_local.control.editing import EditedEntries
from pgmem_local.conversation import Exchange, Moment, Speaker
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.ingest.untrusted import printable
from pgmem_local.store.place import locate
from pgmem_local.store.sqlite import MemoryStore

FIRST = 5
"""Entries shown as they were understood."""
SHOWN_OF_TEXT = 160
LATEST = 50_000
"""Keys held one by one before they are packed."""


@dataclass
class Preview:
    """What was read, in constant memory however much it is. seconds_an_entry: what learning one took so far, if any was learned."""

    paths: Paths
    entries: int = 0
    changed: int = 0
    known: int = 0
    undated: int = 0
    earliest: Moment | None = None
    latest: Moment | None = None
    speakers: Counter[str] = field(default_factory=Counter)
    first: list[Exchange] = field(default_factory=list)
    seconds_an_entry: float | None = None

    def add(self, exchange: Exchange) -> None:
        self.entries += 1
        self.speakers[speaker_of(exchange)] += 1
        self.speakers[Speaker.ASSISTANT.value] += exchange.reply is not None
        if len(self.first) < FIRST:
            self.first.append(exchange)
        moment = exchange.said.moment
        if moment is None:
            self.undated += 1
            return
        self.earliest = moment if self.earliest is None else min(self.earliest, moment)
        self.latest = moment if self.latest is None else max(self.latest, moment)

    @property
    def new(self) -> int:
        return self.entries - self.changed - self.known

    @property
    def seconds(self) -> float | None:
        """What learning the new and changed entries may take on this machine."""
        return None if self.seconds_an_entry is None else (self.new + self.changed) * self.seconds_an_entry


def speaker_of(exchange: Exchange) -> str:
    return exchange.said.author or exchange.said.speaker.value


def preview_paths(request: Request, where: Where, as_json: bool) -> int:
    """Print what is in the paths; the exit code."""
    progress = progress_for_terminal()

    def stopped() -> None:
        progress.close()
        say("pgmem: stopped; nothing was written.")

    try:
        found = attended(lambda: preview(request, where, progress), stopped, progress.tick)
    finally:
        progress.close()
    if as_json:
        print_json(as_value(found))
    else:
        for line in lines(found):
            typer.echo(line)
    return exit_code(found.paths)


def preview(request: Request, where: Where, progress: IngestProgress) -> Preview:
    """Read all paths. Raises IngestError where not one of them could be used."""
    place = locate(where.home, where.profile)
    found = Preview(Paths(request, progress.say, keep=lambda reject: None))
    with ExitStack() as stack:
        store = None
        if place.database.exists():
            store = stack.enter_context(MemoryStore.open(place.home, place.profile, prompt=passphrase_prompt()))
        edited = _edited_entries(store)
        if store is not None:
            found.seconds_an_entry = per_turn(store.spent(), store.counts()["turns_learned"]).seconds
        keys: list[str] = []
        seen = Seen()
        for path, exchange, share in found.paths:
            found.add(exchange)
            edited.hold_back([exchange], path.absolute())
            if seen.add(exchange.key):
                keys.append(exchange.key)
            else:
                found.known += 1
            if len(keys) == BATCH:
                found.known += known(store, keys)
                keys.clear()
                progress.stored(found.entries, share)
        found.known += known(store, keys)
        found.changed = len(edited.settled({path.absolute() for path in found.paths.failures}).edits)
    return found


class Seen:
    """The keys of a run, in eight bytes each however many there are: what two exports hold is new once."""

    def __init__(self) -> None:
        self._latest: set[int] = set()
        self._earlier = np.empty(0, np.uint64)

    def add(self, key: str) -> bool:
        """Whether the key is met for the first time."""
        number = int(key[:16], 16)
        place = int(np.searchsorted(self._earlier, np.uint64(number)))
        if number in self._latest or (place < len(self._earlier) and int(self._earlier[place]) == number):
            return False
        self._latest.add(number)
        if len(self._latest) == LATEST:
            self._earlier = np.union1d(self._earlier, np.fromiter(self._latest, np.uint64))
            self._latest.clear()
        return True


def _edited_entries(store: MemoryStore | None) -> EditedEntries:
    if store is None:
        return EditedEntries(PersonaGraph(), {}, ())
    return EditedEntries(store.load_graph(), store.files(), store.acts())


def known(store: MemoryStore | None, keys: Sequence[str]) -> int:
    return len(store.known_keys(keys)) if store is not None else 0


def as_value(found: Preview) -> dict[str, Any]:
    read = found.paths.read
    formats = list(dict.fromkeys(one.recognised.format.name for one in read.values() if one.recognised))
    return {
        "format": ", ".join(formats),
        "reasons": {str(path): one.recognised.reason for path, one in read.items() if one.recognised},
        "entries": found.entries,
        "new": found.new,
        "changed": found.changed,
        "known": found.known,
        "rejected": found.paths.rejected,
        "skipped": sum(one.left_out for one in read.values()),
        "blank": sum(one.counts.blank for one in read.values()),
        "undated": found.undated,
        "secrets_masked": sum(one.counts.masked.count for one in read.values()),
        "earliest": str(found.earliest) if found.earliest else None,
        "latest": str(found.latest) if found.latest else None,
        "speakers": {name: count for name, count in found.speakers.most_common() if count},
        "first": [_entry(exchange) for exchange in found.first],
        "estimated_seconds": None if found.seconds is None else round(found.seconds),
        "notes": {str(path): {wording: noted.count for wording, noted in one.counts.notes.items()} for path, one in read.items()},
        "failed_files": {str(path): reason for path, reason in found.paths.failures.items()},
    }


def _entry(exchange: Exchange) -> dict[str, Any]:
    said = exchange.said
    return {
        "time": str(said.moment) if said.moment else None,
        "speaker": speaker_of(exchange),
        "session": said.session,
        "text": said.text,
        "reply": exchange.reply,
    }


def lines(found: Preview) -> Iterator[str]:
    """The same for people."""
    changed = f"{found.changed:,} changed, " if found.changed else ""
    rejected = f"{counted(found.paths.rejected, 'record')} rejected"
    yield f"{counted(found.entries, 'entry')}: {found.new:,} new, {changed}{found.known:,} known, {rejected}"
    if found.earliest and found.latest:
        yield f"from {_when(found.earliest)} to {_when(found.latest)}"
    if found.undated:
        yield f"{found.undated:,} without a date"
    yield printable(f"speakers: {_speakers(found)}")
    yield from remarks(found.paths.read)
    yield "first entries:"
    for exchange in found.first:
        yield printable(f"  {_when(exchange.said.moment)}  {speaker_of(exchange)}: {_short(exchange.said.text)}")
        if exchange.reply is not None:
            yield printable(f"    {Speaker.ASSISTANT.value}: {_short(exchange.reply)}")
    yield _time_needed(found)
    yield "nothing is written yet: the same command without --dry-run reads it in; --no-llm leaves the learning for later"


def _when(moment: Moment | None) -> str:
    return moment.local.isoformat(" ", "minutes") if moment else "undated"


def _speakers(found: Preview) -> str:
    names = [f"{name} {count:,}" for name, count in found.speakers.most_common() if count]
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def _time_needed(found: Preview) -> str:
    if found.seconds is None or found.seconds_an_entry is None:
        return "how long learning takes is known once this memory has learned some entries; --max-minutes limits it"
    return f"learning the new ones takes about {duration(found.seconds)}, at {found.seconds_an_entry:.1f} s an entry so far"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_OF_TEXT else line[: SHOWN_OF_TEXT - 1] + "…"
