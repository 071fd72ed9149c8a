"""The tasks in a sentence each. Light to import: `pgmem --help` shows them without loading what runs them."""

from __future__ import annotations

TASK_SUMMARIES = {
    "relations": "Judge pairs of notes: support, contradict, shift_to or irrelevant.",
    "extraction": "Read messages full of traps: which reveal a State of the user, and what is noted of them?",
    "diary": "Ask a diary what holds now, what held, why, who, what suits its writer, and what it cannot know.",
    "memhop": "Follow chains of one to five relationships through many chats.",
    "memhop-retrieval": "The same chains, without an answer: which of their steps does a memory find?",
    "prefeval": "Chain PrefEval's sessions and ask after each for advice that respects them (not shipped; see --data).",
    "personamem": "PersonaMem 32k, each question up to its own place in the chat (not shipped; see --data).",
    "personamem-leaking": "The same as PGMem ran it: also with what was said after the question (not shipped; see --data).",
    "locomo": "LoCoMo's questions by token F1; --limit counts conversations (not shipped; see --data).",
    "implexconv": "ImplexConv: is the session with the opposed reason found? (not shipped; see --data).",
    "memdaily": "MemDaily's multiple choice in Chinese; --limit counts memories (not shipped; see --data).",
}
