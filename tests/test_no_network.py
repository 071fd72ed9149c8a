"""After the pull nothing opens a socket: the four commands that use models run, with real ones, where every socket is death.

Where the system offers it they also run in a network namespace without any interface, out of which nothing leads, so that native
libraries, which no audit hook sees, have nothing to reach either.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.offline import SAW_A_SOCKET
from tests.short_diary import write_diary

ROOT = Path(__file__).parents[1]


def without_interfaces() -> list[str]:
    """What to put before a command so that it runs in an empty network namespace; nothing where users may not make one."""
    unshare = shutil.which("unshare")
    command = [unshare, "--net", "--map-root-user"] if unshare else []
    works = bool(command) and subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0
    return command if works else []


@pytest.mark.models
def test_ingest_ask_recall_and_chat_open_no_socket(tmp_path: Path) -> None:
    diary = write_diary(tmp_path / "diary.jsonl", entries=3)
    command = [sys.executable, "-m", "tests.offline", str(tmp_path / "home"), str(diary), "smollm2-135m"]
    ended = subprocess.run([*without_interfaces(), *command], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr
    ran = [json.loads(line)["command"] for line in ended.stdout.splitlines() if line.startswith('{"command"')]
    assert ran == ["ingest", "ask", "recall", "chat", "done"]
    assert "3 entries learned" in ended.stdout


@pytest.mark.parametrize(
    "attempt",
    [
        "import socket; socket.socket()",
        "import socket; socket.getaddrinfo('localhost', 80)",
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9')",
        "import socket, contextlib\nwith contextlib.suppress(BaseException): socket.create_connection(('127.0.0.1', 9))",
    ],
)
def test_guard_sees_every_way_out(attempt: str) -> None:
    code = f"from tests.offline import forbid_sockets\nforbid_sockets()\n{attempt}"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert ended.returncode == SAW_A_SOCKET


def test_guard_lets_local_sockets_pass() -> None:
    code = "import socket\nfrom tests.offline import forbid_sockets\nforbid_sockets()\nsocket.socketpair()"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False).returncode == 0
