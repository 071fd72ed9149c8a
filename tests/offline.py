"""Run `pgmem` commands with a guard that ends the process at the first socket that could leave this machine.

python -m tests.offline HOME FILE MODEL
"""

from __future__ import annotations

import io
import json
import os
import socket
import sys
from collections.abc import Sequence

SAW_A_SOCKET = 97


def forbid_sockets() -> None:
    """The end comes from os._exit: an exception might be caught by whoever opened the socket."""

    def guard(event: str, details: tuple[object, ...]) -> None:
        local = event == "socket.__new__" and details[1] == getattr(socket, "AF_UNIX", None)
        if event in ("socket.__new__", "socket.connect", "socket.getaddrinfo", "socket.gethostbyname") and not local:
            os.write(2, f"{event} {details}\n".encode("utf-8", "replace"))
            os._exit(SAW_A_SOCKET)

    sys.addaudithook(guard)


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
