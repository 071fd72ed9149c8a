"""After the pull nothing opens a socket: the commands run, with real models, where every socket is death.

Where the system offers it they also run in a network namespace without any interface, out of which nothing leads.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from pgmem_local.doctor.seal import SAW_A_SOCKET
from pgmem_local.runtime.model_files import folder_of
from pgmem_local.runtime.silence import SWITCHES
from pgmem_local.runtime.weights.registry import embedder
from tests.short_diary import write_diary

ROOT = Path(__file__).parents[1]


def unsuspecting(home: Path) -> dict[str, str]:
    """The environment of a user with this home folder: with no switch set, and without CI, where onnxruntime keeps quiet anyway."""
    kept = {name: value for name, value in os.environ.items() if name not in (*SWITCHES, "CI", "XDG_CACHE_HOME")}
    weights = folder_of(embedder())
    return kept | {"HOME": str(home)} | ({"PGMEM_MODELS": str(weights)} if weights else {})


def without_interfaces() -> list[str]:
    """What to put before a command so that it runs in an empty network namespace; nothing where users may not make one."""
    unshare = shutil.which("unshare")
    command = [unshare, "--net", "--map-root-user"] if unshare else []
    works = bool(command) and subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0
    return command if works else []


@pytest.mark.models
def test_commands_open_no_socket(tmp_path: Path) -> None:
    diary = write_diary(tmp_path / "diary.jsonl", entries=3)
    passphrase = tmp_path / "passphrase"
    passphrase.write_text("correct horse\n", encoding="utf-8")
    passphrase.chmod(0o600)
    command = [sys.executable, "-m", "tests.offline", str(tmp_path / "home"), str(diary), "smollm2-135m"]
    ended = subprocess.run(
        [*without_interfaces(), *command],
        cwd=ROOT,
        env=unsuspecting(tmp_path / "user") | {"PGMEM_PASSPHRASE_FILE": str(passphrase)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert not (tmp_path / "user").exists()
    ran = [json.loads(line)["command"] for line in ended.stdout.splitlines() if line.startswith('{"command"')]
    others = ["learn", "status", "stats", "me", "timeline", "doctor", "encrypt", "recall", "decrypt"]
    assert ran == ["ingest", "ask", "recall", "chat", *others, "done"]
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
    code = f"from pgmem_local.doctor.seal import forbid_sockets\nforbid_sockets()\n{attempt}"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert ended.returncode == SAW_A_SOCKET


@pytest.mark.parametrize("attempt", ["socket.socketpair()", "socket.socket(socket.AF_UNIX).connect({})"])
def test_guard_lets_local_sockets_pass(attempt: str, tmp_path: Path) -> None:
    """The system's keyring is asked through one."""
    place = str(tmp_path / "keyring")
    with socket.socket(socket.AF_UNIX) as keyring:
        keyring.bind(place)
        keyring.listen()
        code = f"import socket\nfrom pgmem_local.doctor.seal import forbid_sockets\nforbid_sockets()\n{attempt.format(repr(place))}"
        ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can watch native code")
def test_guard_sees_the_sockets_of_native_libraries() -> None:
    code = "import ctypes\nfrom pgmem_local.doctor.seal import forbid_sockets\nassert forbid_sockets()\nctypes.CDLL(None).socket({}, 1, 0)"
    for family, status in ((1, 0), (2, -signal.SIGSYS), (10, -signal.SIGSYS)):
        ended = subprocess.run([sys.executable, "-c", code.format(family)], cwd=ROOT, capture_output=True, check=False)
        assert ended.returncode == status


def test_onnxruntime_is_silenced_before_it_is_imported(tmp_path: Path) -> None:
    """Merely imported, it would leave a device id and a queue of events in the user's cache folder."""
    code = """
from pathlib import Path
import pytest, sys
from pgmem_local.runtime.minilm import MiniLM
with pytest.raises(Exception, match="absent"):
    MiniLM(Path("absent.onnx"), Path("absent.json"), 1)
assert "onnxruntime" in sys.modules
"""
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, cwd=ROOT, env=unsuspecting(tmp_path), capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert list(tmp_path.rglob("*")) == []
