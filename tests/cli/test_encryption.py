"""`pgmem encrypt`, `decrypt` and `rekey`, and the other commands on an encrypted memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError

from pgmem_local.errors import PassphraseNeeded, StoreBusy, StoreError, WrongPassphrase
from pgmem_local.store.cipher import is_encrypted
from pgmem_local.store.learning import learning_lock
from pgmem_local.store.place import locate
from tests.cli.conftest import Shell, diary, entry

SECRET = "correct horse battery staple"


class MemoryKeyring(KeyringBackend):
    priority = 1  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.kept[service, username]


@pytest.fixture(autouse=True)
def ring() -> Iterator[MemoryKeyring]:
    """The system's keyring for as long as a test lasts."""
    before, ours = keyring.get_keyring(), MemoryKeyring()
    keyring.set_keyring(ours)
    yield ours
    keyring.set_keyring(before)


def passphrase_file(folder: Path, passphrase: str = SECRET, name: str = "passphrase") -> str:
    file = folder / name
    file.write_text(f"{passphrase}\n", encoding="utf-8")
    file.chmod(0o600)
    return str(file)


def database(pgmem: Shell) -> Path:
    return pgmem.home / "profiles" / "default" / "memory.db"


@pytest.fixture
def encrypted(pgmem: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """One learned entry, and a passphrase in the file the environment names."""
    pgmem("ingest", str(diary(tmp_path / "diary.jsonl", entry("I drink jasmine tea."))))
    monkeypatch.setenv("PGMEM_PASSPHRASE_FILE", passphrase_file(tmp_path))
    pgmem("encrypt")
    return pgmem


def test_every_command_works_on_an_encrypted_memory(encrypted: Shell, tmp_path: Path) -> None:
    assert is_encrypted(database(encrypted))
    assert encrypted("ingest", str(diary(tmp_path / "more.jsonl", entry("I swim.", 1)))).exit_code == 0
    assert "jasmine tea" in encrypted("recall", "tea").stdout
    assert "jasmine tea" in encrypted("ask", "What do I drink?").stdout
    assert "2 entries: 2 learned, 0 pending" in encrypted("status").stdout
    assert encrypted("stats").exit_code == 0
    assert b"jasmine" not in database(encrypted).read_bytes()


def test_decrypt_and_rekey(encrypted: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = passphrase_file(tmp_path, "another one", "other")
    assert encrypted("rekey", "--new", other).exit_code == 0
    with pytest.raises(WrongPassphrase):
        encrypted("me")
    monkeypatch.setenv("PGMEM_PASSPHRASE_FILE", other)
    assert encrypted("decrypt").exit_code == 0
    monkeypatch.delenv("PGMEM_PASSPHRASE_FILE")
    assert "jasmine tea" in encrypted("me").stdout


def test_keyring_is_asked_and_follows(
    encrypted: Shell, ring: MemoryKeyring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encrypted("rekey", "--new", passphrase_file(tmp_path, "kept", "kept"), "--keyring")
    monkeypatch.delenv("PGMEM_PASSPHRASE_FILE")
    assert list(ring.kept.values()) == ["kept"]
    assert "jasmine tea" in encrypted("me").stdout
    encrypted("rekey", "--new", passphrase_file(tmp_path, "kept again", "again"))
    assert list(ring.kept.values()) == ["kept again"]
    encrypted("decrypt")
    assert ring.kept == {}


def test_keyring_keeps_the_old_passphrase_of_a_memory_that_could_not_get_another(
    encrypted: Shell, ring: MemoryKeyring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encrypted("rekey", "--new", passphrase_file(tmp_path, "kept", "kept"), "--keyring")
    monkeypatch.delenv("PGMEM_PASSPHRASE_FILE")
    with learning_lock(locate(encrypted.home).learning_lock), pytest.raises(StoreBusy):
        encrypted("rekey", "--new", passphrase_file(tmp_path, "another", "another"))
    assert list(ring.kept.values()) == ["kept"]
    assert "jasmine tea" in encrypted("me").stdout


def test_decrypt_says_where_the_keyring_keeps_the_passphrase(
    encrypted: Shell, ring: MemoryKeyring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(service: str, username: str) -> None:
        raise PasswordDeleteError("locked")

    encrypted("rekey", "--new", passphrase_file(tmp_path, "kept", "kept"), "--keyring")
    monkeypatch.delenv("PGMEM_PASSPHRASE_FILE")
    monkeypatch.setattr(ring, "delete_password", locked)
    with pytest.raises(StoreError, match=r"keyring still has the passphrase .*locked"):
        encrypted("decrypt")
    assert not is_encrypted(database(encrypted))


def test_nothing_is_asked_where_nobody_sits_at_a_terminal(encrypted: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PGMEM_PASSPHRASE_FILE")
    with pytest.raises(PassphraseNeeded, match="or run this in a terminal"):
        encrypted("me")
    monkeypatch.setenv("PGMEM_PASSPHRASE_FILE", str(encrypted.home.parent / "passphrase"))
    with pytest.raises(PassphraseNeeded, match="--new FILE"):
        encrypted("rekey")


def test_encrypting_twice_and_decrypting_what_is_plain_are_errors(encrypted: Shell) -> None:
    with pytest.raises(StoreError, match="pgmem rekey"):
        encrypted("encrypt")
    encrypted("decrypt")
    with pytest.raises(StoreError, match="pgmem encrypt"):
        encrypted("decrypt")


def test_rejects_are_said_but_not_kept(encrypted: Shell, tmp_path: Path) -> None:
    lines = [f"not a record, but a secret {number}" for number in range(30)]
    result = encrypted("ingest", str(diary(tmp_path / "bad.jsonl", entry("I swim.", 1), *lines)))
    assert result.exit_code == 3
    assert "30 records rejected, kept nowhere" in result.stdout
    assert all(f"line {number}:" in result.stderr for number in range(2, 32))
    assert not (database(encrypted).parent / "rejects.jsonl").exists()


def test_what_lies_beside_the_memory_is_named_and_dropped_only_when_asked(encrypted: Shell) -> None:
    encrypted("decrypt")
    rejects = database(encrypted).parent / "rejects.jsonl"
    rejects.write_text("{}\n", encoding="utf-8")
    assert f"{rejects} is not encrypted" in encrypted("encrypt").stderr
    assert rejects.exists()
    assert encrypted("encrypt", "--drop-files").exit_code == 0
    assert not rejects.exists()
    assert is_encrypted(database(encrypted))


def test_dry_run_asks_for_the_passphrase_as_every_command_does(
    encrypted: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGMEM_PASSPHRASE_FILE")
    monkeypatch.setattr("pgmem_local.cli.preview.passphrase_prompt", lambda: lambda: SECRET)
    assert "1 known" in encrypted("ingest", "--dry-run", str(tmp_path / "diary.jsonl")).stdout
