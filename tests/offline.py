"""Run `pgmem` commands where the first socket that could leave this machine ends the process.

python -m tests.offline HOME FILE MODEL
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence

from pgmem_local.doctor.seal import forbid_sockets


def run(arguments: Sequence[str], stdin: str = "") -> None:
    from pgmem_local.cli.app import main

    print(json.dumps({"command": arguments[0]}), flush=True)
    sys.stdin = io.StringIO(stdin)
    try:
        main(arguments)
    except SystemExit as ended:
        if ended.code:
            raise


def main() -> None:
    forbid_sockets()
    home, file, model = sys.argv[1:]
    run(["ingest", file, "--home", home, "--model", model])
    run(["ask", "What do I drink?", "--home", home, "--model", model, "--explain"])
    run(["recall", "tea", "--home", home])
    run(["chat", "--home", home, "--model", model], "I like rain.\n")
    print(json.dumps({"command": "done"}))


if __name__ == "__main__":
    main()
