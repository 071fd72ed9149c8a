"""What is read from the system; the run behind a seal is in tests/test_no_network.py and, without models, here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pgmem_local.doctor import privacy
from pgmem_local.doctor.findings import Verdict
from pgmem_local.doctor.seal import SAW_A_SOCKET
from pgmem_local.store.encryption import convert
from pgmem_local.store.place import Place
from tests.store.builders import open_store


def test_own_files_are_good_and_a_readable_one_is_named(tmp_path: Path) -> None:
    home = tmp_path / "home"
    open_store(home).close()
    assert privacy.file_rights(home).verdict is Verdict.GOOD
    (home / "notes.txt").write_text("mine", encoding="utf-8")
    (home / "notes.txt").chmod(0o644)
    found = privacy.file_rights(home)
    assert (found.verdict, found.examples) == (Verdict.BAD, (f"644 {home}/notes.txt",))


def test_parent_that_everybody_may_write_to_is_bad_unless_it_is_sticky(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    assert privacy.parents(shared / "home").verdict is Verdict.GOOD
    shared.chmod(0o777)
    assert privacy.parents(shared / "home").examples == (str(shared),)


SWAP = "Filename\tType\tSize\tUsed\tPriority\n"


def test_swap_on_a_plain_disk_is_noted_and_in_memory_is_not() -> None:
    assert privacy.swap(SWAP).verdict is Verdict.GOOD
    assert privacy.swap(f"{SWAP}/dev/zram0 partition 8 0 5\n").verdict is Verdict.GOOD
    assert privacy.swap(f"{SWAP}/swapfile file 8 0 5\n/dev/zram0 partition 8 0 5\n").examples == ("/swapfile",)
    assert privacy.swap(None).verdict is Verdict.NOTE


def test_what_onnxruntime_left_behind_is_noted(tmp_path: Path) -> None:
    assert privacy.telemetry(tmp_path).verdict is Verdict.GOOD
    (tmp_path / privacy.LEFT_BEHIND).mkdir(parents=True)
    assert str(tmp_path / privacy.LEFT_BEHIND) in privacy.telemetry(tmp_path).detail


def test_foreign_code_in_the_environment_is_noted() -> None:
    assert privacy.environment({"PGMEM_HOME": "/x"}).detail == "PGMEM_HOME=/x"
    assert privacy.environment({"LD_PRELOAD": "spy.so"}).examples == ("LD_PRELOAD=spy.so",)


def test_memory_is_used_behind_the_seal_as_far_as_there_are_models(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    found = privacy.sockets(Place(tmp_path), "absent")
    assert found.verdict is Verdict.GOOD
    assert "opened the memory" in found.detail


@pytest.mark.parametrize("status", [SAW_A_SOCKET, -31])
def test_run_that_a_socket_ended_is_bad(status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = subprocess.CompletedProcess([], status, "", "socket.connect ('192.0.2.1', 443)\n")
    monkeypatch.setattr(subprocess, "run", lambda *args, **options: ended)
    found = privacy.sockets(Place(tmp_path), None)
    assert (found.verdict, found.examples) == (Verdict.BAD, ("socket.connect ('192.0.2.1', 443)",))


def test_encrypted_memory_is_used_behind_the_seal_too(tmp_path: Path) -> None:
    place = Place(tmp_path)
    open_store(tmp_path).close()
    assert privacy.encryption(place).verdict is Verdict.NOTE
    convert(place, None, "secret")
    assert privacy.sockets(place, "absent", "secret").verdict is Verdict.GOOD
    assert "does not open" in privacy.sockets(place, "absent", "wrong").examples[0]
    assert privacy.encryption(place).verdict is Verdict.GOOD
    place.rejects.write_text("{}", encoding="utf-8")
    assert privacy.encryption(place).examples == (str(place.rejects),)
