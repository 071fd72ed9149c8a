from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

from pgmem_local.errors import StoreError
from pgmem_local.store import MemoryStore, VectorIndexes, locate, place
from pgmem_local.store.place import Place, network_warning, parse_mounts, sync_warning
from tests.store.builders import arrival, at, open_store, state_lesson


@pytest.fixture(params=[0o000, 0o022], ids=["umask-000", "umask-022"])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_explicit_home_wins_over_the_environment_and_that_over_the_platform(tmp_path: Path) -> None:
    environment = {"PGMEM_HOME": str(tmp_path / "named")}
    assert locate(tmp_path / "given", environment=environment).home == tmp_path / "given"
    assert locate(None, environment=environment).home == tmp_path / "named"
    assert locate(None, environment={}).home.name == "pgmem-local"


@pytest.mark.parametrize("name", ["", "..", "../other", "a/b", "a\\b", ".hidden", "-p", "a b", "x" * 65, "a\0"])
def test_profile_names_cannot_leave_the_home(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError, match="cannot name a profile"):
        locate(tmp_path, name)


def test_profiles_of_one_home_are_separate_memories(tmp_path: Path) -> None:
    with open_store(tmp_path, profile="日記") as diary, open_store(tmp_path, profile="work") as work:
        diary.add([arrival("only here")])
        assert (diary.counts()["context"], work.counts()["context"]) == (1, 0)


@pytest.mark.usefixtures("umask")
def test_nobody_else_may_read_any_file_of_ours(tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    with open_store(home) as store:
        store.add([arrival("a secret", at(0)), arrival("another", at(1))])
        indexes = VectorIndexes(store, exact_below=1)
        indexes.save()
        with store.learning():
            store.land(state_lesson(store, "likes secrets", store.pending()[0][0]))
        files = [path for path in home.rglob("*") if path.is_file()]
        names = {path.name.split(".")[-1] for path in files}
        assert {"db", "db-wal", "db-shm", "lock", "json", "hnsw"} <= names
        assert {path.name: mode(path) for path in files} == {path.name: 0o600 for path in files}
        folders = [home.parent, home, *(path for path in home.rglob("*") if path.is_dir())]
        assert {mode(folder) for folder in folders} == {0o700}


def test_rights_that_are_too_wide_are_taken_away_when_the_memory_is_opened(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    there = Place(tmp_path)
    there.home.chmod(0o755)
    there.folder.chmod(0o777)
    there.database.chmod(0o644)
    open_store(tmp_path).close()
    assert [mode(path) for path in (there.home, there.folder, there.database)] == [0o700, 0o700, 0o600]


def test_a_home_that_is_shared_on_purpose_is_left_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    open_store(tmp_path).close()
    assert mode(tmp_path) == 0o1777
    assert mode(Place(tmp_path).folder) == 0o700


def test_home_that_is_a_file_gets_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    for home in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(StoreError, match="choose another --home"):
            MemoryStore.open(home)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_home_that_cannot_be_written_gets_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(StoreError, match=f"{os.strerror(number)}; choose another --home"):
        MemoryStore.open(tmp_path / "home")


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smbfs", "fuse.sshfs"])
def test_network_disks_are_noticed_by_the_longest_mount_point(kind: str) -> None:
    share = "/mnt/my\\040share"
    mounts = parse_mounts(f"disk / ext4 rw 0 0\nserver:/x {share} {kind} rw 0 0\ndisk2 {share}/local ext4 rw 0 0\n")
    assert kind in str(network_warning(PurePosixPath("/mnt/my share/notes"), mounts))
    assert network_warning(PurePosixPath("/mnt/my share/local/notes"), mounts) is None
    assert network_warning(PurePosixPath("/home/me"), mounts) is None


def test_windows_shares_are_network_disks() -> None:
    assert network_warning(PureWindowsPath(r"\\server\share\me"), {})
    assert network_warning(PureWindowsPath(r"C:\Users\me"), {}) is None


@pytest.mark.parametrize("part", ["Dropbox", "Dropbox (Me)", "OneDrive - Firm", "iCloudDrive", "Mobile Documents", "Nextcloud"])
def test_synchronised_folders_are_noticed(part: str) -> None:
    assert part in str(sync_warning(PurePosixPath("/home/me") / part / "pgmem"))
    assert sync_warning(PurePosixPath("/home/me/clouds")) is None


def test_no_write_ahead_log_where_the_place_gives_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_store(tmp_path).close()
    mounts = tmp_path / "mounts"
    mounts.write_text(f"server:/x {tmp_path.resolve()} nfs4 rw 0 0\n")
    monkeypatch.setattr(place, "_MOUNTS", mounts)
    with open_store(tmp_path) as store:
        store.add([arrival("on a share")])
        assert "network disk" in str(store.place.warning)
        assert not list(store.place.folder.glob("*-wal"))
        assert store.counts()["context"] == 1
