"""ImplexConv, opposed reasoning: which session gives the reason against the obvious answer?"""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from pgmem_local.bench.datasets.files import read_lines
from pgmem_local.bench.datasets.history import Case, Entry, Question, dialogue
from pgmem_local.conversation import Speaker

FIRST_DAY = date(2025, 1, 1)
_TURN = re.compile(r"^(Speaker1|User|Assistant): ?", re.MULTILINE)


def read_implexconv(path: Path) -> list[Case[Question]]:
    """Either of two forms: one memory a persona with several questions, or one a chat of five sessions with one."""
    return [_persona(record) if "persona_index" in record else _chat(record) for record in read_lines(path)]


def _persona(record: dict[str, Any]) -> Case[Question]:
    sessions = {session["sid"]: _turns(session["text"]) for session in record["sessions"]}
    entries = _entries(sessions)
    questions = [
        Question(asked["qid"], asked["question"], "opposed", (_of_session(entries, asked["evidence_sid"]),))
        for asked in record["questions"]
    ]
    return Case(f"persona {record['persona_index']}", tuple(entries), questions)


def _chat(record: dict[str, Any]) -> Case[Question]:
    sessions = {str(place): [(Speaker(t["role"]), t["content"]) for t in turns] for place, turns in enumerate(record["sessions"])}
    entries = _entries(sessions)
    evidence = _of_session(entries, str(record["evidence_session"]))
    return Case(f"chat {record['id']}", tuple(entries), [Question(str(record["id"]), record["question"], "opposed", (evidence,))])


def _entries(sessions: dict[str, list[tuple[Speaker, str]]]) -> list[Entry]:
    days = [(FIRST_DAY + timedelta(days=place)).isoformat() for place in range(len(sessions))]
    return [entry for (name, turns), day in zip(sessions.items(), days, strict=True) for entry in dialogue(name, day, turns)]


def _of_session(entries: list[Entry], session: str) -> frozenset[str]:
    return frozenset(entry.id for entry in entries if entry.exchange.said.session == session)


def _turns(text: str) -> list[tuple[Speaker, str]]:
    parts = _TURN.split(text)
    spoken = zip(parts[1::2], parts[2::2], strict=True)
    return [(Speaker.ASSISTANT if who == "Assistant" else Speaker.USER, said.strip()) for who, said in spoken]
