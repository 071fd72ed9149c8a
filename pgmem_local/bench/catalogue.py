"""The tasks in a sentence each. Light to import: `pgmem --help` shows them without loading what runs them."""

from __future__ import annotations

TASK_SUMMARIES = {
    "relations": "Judge pairs of notes: support, contradict, shift_to or irrelevant.",
    "extraction": "Read messages full of traps: which reveal a State of the user, and what is noted of them?",
    "diary": "Ask a diary what holds now, what held, why, who, what suits its writer, and what it cannot know.",
    "memhop": "Follow chains of one to five relationships through many chats.",
}
