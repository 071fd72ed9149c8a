"""ImplexConv, opposed reasoning: which session gives the reason against the obvious answer?

Read from either of two compact forms of its authors' working data, or from the released list, also as PGMem's authors flattened it.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from pgmem_local.bench.datasets.files import read_json, read_lines
from pgmem_local.bench.datasets.history import Case, Entry, Question, dialogue
from pgmem_local.conversation import Speaker

FIRST_DAY = date(2025, 1, 1)
_TURN = re.compile(r"^(Speaker1|User|Assistant): ?", re.MULTILINE)


def read_implexconv(path: Path) -> list[Case[Question]]:
    """One memory a persona with several questions, or one a chat of five sessions with one question."""
    if ".jsonl" in path.suffixes:
        return [_persona(record) if "persona_index" in record else _chat(record) for record in read_lines(path)]
    return [_released(number, record) for number, record in enumerate(read_json(path))]


def _released(number: int, record: dict[str, Any]) -> Case[Question]:
    """`conversation` maps ids to marked lines; PGMem's `conversations` lists utterances instead. `qa` names the evidence by those ids."""
    if "conversation" in record:
        sessions = {name: _turns(text) for name, text in record["conversation"].items()}
    else:
        sessions = {}
        for turn in record["conversations"]:
            sessions.setdefault(str(turn["conv_id"]), []).append((Speaker(turn["speaker"]), turn["utterance"]))
    entries = _entries(sessions)
    return Case(f"dialogue {number}", tuple(entries), [_asked(entries, f"{number}/{place}", qa) for place, qa in enumerate(record["qa"])])


def _asked(entries: list[Entry], identifier: str, qa: dict[str, Any]) -> Question:
    """Any of the sessions that the answer can be found in will do."""
    found = frozenset(entry for name in qa.get("retrieved_conv_ids") or () for entry in _of_session(entries, str(name)))
    return Question(identifier, qa["question"], "opposed", (found,) if found else (), qa.get("opposed_implicit_reasoning", ""))


def _persona(record: dict[str, Any]) -> Case[Question]:
    sessions = {session["sid"]: _turns(session["text"]) for session in record["sessions"]}
    entries = _entries(sessions)
    questions = [
        Question(asked["qid"], asked["question"], "opposed", (_of_session(entries, asked["evidence_sid"]),), asked["implicit_reason"])
        for asked in record["questions"]
    ]
    return Case(f"persona {record['persona_index']}", tuple(entries), questions)


def _chat(record: dict[str, Any]) -> Case[Question]:
    sessions = {str(place): [(Speaker(t["role"]), t["content"]) for t in turns] for place, turns in enumerate(record["sessions"])}
    entries = _entries(sessions)
    evidence = _of_session(entries, str(record["evidence_session"]))
    return Case(f"chat {record['id']}", tuple(entries), [_question(record, evidence)])


def _question(record: dict[str, Any], evidence: frozenset[str]) -> Question:
    return Question(str(record["id"]), record["question"], "opposed", (evidence,), record["opposed_reason"])


def _entries(sessions: dict[str, list[tuple[Speaker, str]]]) -> list[Entry]:
    days = [(FIRST_DAY + timedelta(days=place)).isoformat() for place in range(len(sessions))]
    return [entry for (name, turns), day in zip(sessions.items(), days, strict=True) for entry in dialogue(name, day, turns)]


def _of_session(entries: list[Entry], session: str) -> frozenset[str]:
    return frozenset(entry.id for entry in entries if entry.exchange.said.session == session)


def _turns(text: str) -> list[tuple[Speaker, str]]:
    parts = _TURN.split(text)
    spoken = zip(parts[1::2], parts[2::2], strict=True)
    return [(Speaker.ASSISTANT if who == "Assistant" else Speaker.USER, said.strip()) for who, said in spoken]
