"""A diary of five short days: what a real model can take up in seconds."""

from __future__ import annotations

import json
from pathlib import Path

ENTRIES = (
    {"timestamp": "2026-03-02T07:40:00+01:00", "text": "I drink two espressos every morning."},
    {"timestamp": "2026-03-04T21:15:00+01:00", "text": "My roommate Imani plays the clarinet."},
    {"timestamp": "2026-03-10T19:50:00+01:00", "text": "I can never eat hazelnuts."},
    {"timestamp": "2026-03-20T08:10:00+01:00", "text": "It is jasmine tea in the mornings now, no espresso."},
    {"timestamp": "2026-03-25T20:40:00+01:00", "text": "I swim every Wednesday."},
)


def write_diary(path: Path, entries: int = len(ENTRIES)) -> Path:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in ENTRIES[:entries]), encoding="utf-8")
    return path
