"""Use a memory where the first socket that could leave this machine ends the process; what was done, as one JSON object.

    python -m pgmem_local.doctor.sealed HOME PROFILE [MODEL]

Run by `pgmem doctor --privacy` in a process of its own, since the seal cannot be taken off again. The passphrase of an encrypted
memory is read from standard input.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pgmem_local.doctor.seal import forbid_sockets
from pgmem_local.errors import ModelFileError
from pgmem_local.memory import PersonaMemory

QUESTION = "What do I like?"


def use(memory: PersonaMemory) -> list[str]:
    """Recall and ask as far as there are models to do it with."""
    done = ["opened the memory"]
    try:
        memory.recall(QUESTION)
        done.append("recalled")
        done.append(f"asked {memory.model.identity}")
        memory.ask(QUESTION)
    except ModelFileError as error:
        return [part for part in done if not part.startswith("asked")] + [f"went no further: {error}"]
    return done


def main() -> None:
    natively = forbid_sockets()
    home, profile, *model = sys.argv[1:]
    with PersonaMemory.open(Path(home), profile, model[0] if model else None, prompt=sys.stdin.readline) as memory:
        done = use(memory)
    print(json.dumps({"natively": natively, "done": done}))


if __name__ == "__main__":
    main()
