"""How soon `pgmem chat` says its first word, against a bare llama-cpp-python chat that gets the same new text, and how soon it starts.

    python scripts/first_token.py --model smollm2-135m

Ours and the bare chat take turns in one process, with as many threads, so that whatever else the machine does meets both. The bare chat
keeps its own history evaluated, as llama-cpp-python does. Figures are medians; the first turn, which warms both up, does not count.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

from pgmem_local.conversation import Exchange, Turn
from pgmem_local.memory import PersonaMemory
from pgmem_local.prompts import load, one_line
from pgmem_local.runtime.llama import DEFAULT_CONTEXT, physical_cores
from pgmem_local.runtime.model_files import find_model
from pgmem_local.settings import ChatSettings, Settings
from pgmem_local.talking.conversation import Conversation
from pgmem_local.talking.talk import Talk, now

STATEMENTS = (
    "I drink jasmine tea in the morning",
    "I am allergic to hazelnuts",
    "I ride a red bicycle to work",
    "I share a flat with Imani, who plays the clarinet",
    "I do not run because of my knee",
    "I am saving money for a trip to Lisbon",
)
MESSAGES = (
    "Good morning! What should I have for breakfast?",
    "What could I do after work today?",
    "Is there anything I should not eat at the party?",
    "How do I get to the station?",
    "What would be a nice present for my flatmate?",
    "Shall I go for a run?",
    "Tell me something about my plans.",
    "What do I drink in the morning?",
)
REPLY_TOKENS = 24
LOOKS = 20
BRACKETED_PASTE = b"\x1b[?2004h"
"""What prompt_toolkit sends to the terminal when a line can be typed."""


def main() -> None:
    options = arguments()
    found = find_model(options.model)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        figures = {"model": found.name, **first_tokens(home, options.model, found.path), **starts(home, options.model, found.path)}
    print(json.dumps(figures, indent=2))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="name or GGUF file; else the best one installed")
    return parser.parse_args()


# ---------------------------------------------------------------- the first word


def first_tokens(home: Path, model: str | None, path: Path) -> dict[str, Any]:
    settings = Settings(chat=ChatSettings(reply_tokens=REPLY_TOKENS))
    with PersonaMemory.open(home, model=model, settings=settings) as memory:
        for statement in STATEMENTS:
            memory.remember(statement)
        with closing(Talk(memory, Conversation.begun(now()), learns=False)) as talk:
            ours, bare = take_turns(talk, path)
        delays, token = interruptions(memory)
    return {
        "first_token_seconds": statistics.median(ours),
        "bare_first_token_seconds": statistics.median(bare),
        "first_token_ratio": statistics.median(ours) / statistics.median(bare),
        "learning_gives_way_seconds": statistics.median(delays),
        "learning_gives_way_worst_seconds": max(delays),
        "token_seconds": token,
    }


def take_turns(talk: Talk, path: Path) -> tuple[list[float], list[float]]:
    """Seconds to the first word, of us and of the bare chat, message by message."""
    import llama_cpp

    threads = physical_cores()
    bare = llama_cpp.Llama(str(path), n_ctx=DEFAULT_CONTEXT, n_threads=threads, n_threads_batch=threads, verbose=False)
    messages: list[dict[str, str]] = []
    times: tuple[list[float], list[float]] = ([], [])
    talk.begin()
    for message in MESSAGES:
        settle(talk)
        mine, reply = first_word(talk.say(message))
        assert talk.answered is not None
        messages = messages or [{"role": "system", "content": system_text(talk)}]
        messages.append({"role": "user", "content": new_text(talk)})
        others, _ = first_word(bare_reply(bare, messages))
        messages.append({"role": "assistant", "content": reply})
        times[0].append(mine)
        times[1].append(others)
    bare.close()
    return times[0][1:], times[1][1:]


def system_text(talk: Talk) -> str:
    assert talk.answered is not None
    return f"{load('chat').head.instructions}\n\n{talk.answered.grounds.core.text}"


def new_text(talk: Talk) -> str:
    """What our prompt ended with: the notes on the message, and the message."""
    assert talk.answered is not None
    slots = {"notes": talk.answered.grounds.notes.text, "message": one_line(talk.answered.message)}
    return load("chat").ask(slots).text


def bare_reply(model: Any, messages: list[dict[str, str]]) -> Iterator[str]:
    for chunk in model.create_chat_completion(messages, stream=True, max_tokens=REPLY_TOKENS, temperature=0.0):
        yield chunk["choices"][0]["delta"].get("content", "")


def first_word(pieces: Iterator[str]) -> tuple[float, str]:
    """Seconds until anything is said, and all that is."""
    began, first, said = time.perf_counter(), 0.0, ""
    for piece in pieces:
        said += piece
        if said and not first:
            first = time.perf_counter() - began
    return first, said


def settle(talk: Talk) -> None:
    while not talk.settled:
        time.sleep(0.02)


# ---------------------------------------------------------------- giving way


def interruptions(memory: PersonaMemory) -> tuple[list[float], float]:
    """Seconds that learning takes to give way, again and again while it goes on, and seconds of one written token."""
    said = now()
    turns = [Turn(f"{statement}, entry {i}.", said, session="old") for i in range(8) for statement in STATEMENTS]
    memory.observe([Exchange(turn) for turn in turns])
    delays = []
    with closing(Talk(memory, Conversation.begun(said))) as talk:
        talk.begin()
        while talk.progress is None:
            time.sleep(0.02)
        for look in range(LOOKS):
            time.sleep(0.1 + 0.03 * look)
            began = time.perf_counter()
            with talk.memory_alone():
                delays.append(time.perf_counter() - began)
        token = token_seconds(talk)
    return delays, token


def token_seconds(talk: Talk) -> float:
    times = []
    talk.go_private()
    for _ in talk.say(MESSAGES[0]):
        times.append(time.perf_counter())
    return statistics.median(later - earlier for earlier, later in pairwise(times))


# ---------------------------------------------------------------- the start


def starts(home: Path, model: str | None, path: Path, runs: int = 5) -> dict[str, Any]:
    """Seconds from the command to the prompt, and of a process that only loads the model with llama-cpp-python."""
    command = [sys.executable, "-m", "pgmem_local", "chat", "--home", str(home), *(["--model", model] if model else [])]
    loads = f"import llama_cpp; llama_cpp.Llama({str(path)!r}, n_ctx={DEFAULT_CONTEXT}, verbose=False)"
    prompts, bare = [], []
    for _ in range(runs):
        prompts.append(until_prompt(command))
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", loads], check=True, capture_output=True)
        bare.append(time.perf_counter() - began)
    start, load_time = statistics.median(prompts), statistics.median(bare)
    return {"start_seconds": start, "bare_load_seconds": load_time, "start_ratio": start / load_time}


def until_prompt(command: list[str]) -> float:
    """Seconds until a line can be typed; then the chat is left."""
    began = time.perf_counter()
    child, terminal = pty.fork()
    if child == 0:
        os.execv(command[0], command)
    seen = read_until(terminal, BRACKETED_PASTE)
    seconds = time.perf_counter() - began
    assert BRACKETED_PASTE in seen, seen.decode(errors="replace")
    os.write(terminal, b"\x04")
    read_until(terminal, b"never")
    os.waitpid(child, 0)
    os.close(terminal)
    return seconds


def read_until(terminal: int, mark: bytes) -> bytes:
    """What the terminal shows until this or its end."""
    seen = b""
    while mark not in seen:
        if not select.select([terminal], [], [], 60)[0]:
            break
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        seen += piece
    return seen


if __name__ == "__main__":
    main()
