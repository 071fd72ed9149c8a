"""Run the `pgmem` commands that touch a memory or a model where the first socket that could leave this machine ends the process.

python -m tests.offline HOME FILE MODEL
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence

from pgmem_local.doctor.seal import forbid_sockets


def run(arguments: Sequence[str], stdin: str = "", may_end_with: Sequence[int] = ()) -> None:
    from pgmem_local.cli.app import main

    print(json.dumps({"command": arguments[0]}), flush=True)
    sys.stdin = io.StringIO(stdin)
    try:
        main(arguments)
    except SystemExit as ended:
        if ended.code and ended.code not in may_end_with:
            raise


def main() -> None:
    forbid_sockets()
    home, file, model = sys.argv[1:]
    run(["ingest", file, "--home", home, "--model", model])
    run(["ask", "What do I drink?", "--home", home, "--model", model, "--explain"])
    run(["recall", "tea", "--home", home])
    run(["chat", "--home", home, "--model", model], "I like rain.\n")
    for command in ("learn", "status", "stats", "me", "timeline"):
        run([command, "--home", home])
    run(["doctor", "--home", home], may_end_with=[1])  # what so small a model notes may be beyond a bound
    for command in ("encrypt", "recall", "decrypt"):
        run([command, *(["rain"] if command == "recall" else []), "--home", home])
    print(json.dumps({"command": "done"}))


if __name__ == "__main__":
    main()
