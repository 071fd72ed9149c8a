"""Where a memory lies on disk, and that nobody else may read it: folders 0700, files 0600, whatever the umask.

    home/profiles/<profile>/memory.db      the truth
                           /learning.lock  held by the one process that learns
                           /rejects.jsonl  records of ingested files that could not be read
                           /chat_history   lines typed into the chat
                           /states/        evaluated prompts of the chat, may be deleted at any time
                           /index/         derived, may be deleted at any time
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

import platformdirs

from pgmem_local.errors import StoreError

DEFAULT_PROFILE = "default"

_PROFILE_NAME = re.compile(r"[^\W_][\w-]{0,63}")
_NETWORK_FILESYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "9p", "ceph", "glusterfs", "lustre", "davfs"}
    | {"fuse.sshfs", "fuse.rclone", "fuse.davfs2"}
)
_SYNCED_FOLDER = re.compile(
    r"(dropbox|onedrive|icloud ?drive|mobile documents|cloudstorage|google ?drive|nextcloud|owncloud|pclouddrive)\b", re.IGNORECASE
)
_MOUNTS = Path("/proc/mounts")


@dataclass(frozen=True)
class Place:
    """The folder of one named memory (`profile`) inside a home."""

    home: Path
    profile: str = DEFAULT_PROFILE

    def __post_init__(self) -> None:
        if not _PROFILE_NAME.fullmatch(self.profile):
            raise StoreError(
                f"{self.profile!r} cannot name a profile; use up to 64 letters, digits, '-' and '_', first a letter or digit"
            )

    @property
    def folder(self) -> Path:
        return self.home / "profiles" / self.profile

    @property
    def database(self) -> Path:
        return self.folder / "memory.db"

    @property
    def index_folder(self) -> Path:
        return self.folder / "index"

    @property
    def learning_lock(self) -> Path:
        return self.folder / "learning.lock"

    @property
    def rejects(self) -> Path:
        return self.folder / "rejects.jsonl"

    @property
    def chat_history(self) -> Path:
        return self.folder / "chat_history"

    @property
    def model_states(self) -> Path:
        return self.folder / "states"

    @property
    def warning(self) -> str | None:
        """Why SQLite's write-ahead log would be unsafe here; None on an ordinary local disk."""
        folder = self.folder.resolve()
        return network_warning(folder, _mounts()) or sync_warning(folder)

    def prepare(self) -> None:
        """Make the folders, and take away rights that others have on them. Raises StoreError where that is impossible."""
        for folder in (self.home, self.home / "profiles", self.folder, self.index_folder):
            private_folder(folder)


def locate(home: Path | None, profile: str = DEFAULT_PROFILE, environment: Mapping[str, str] = os.environ) -> Place:
    """An explicit home, else PGMEM_HOME, else the platform's folder for a user's data."""
    named = home or environment.get("PGMEM_HOME") or platformdirs.user_data_dir("pgmem-local", appauthor=False)
    return Place(Path(named).expanduser().absolute(), profile)


def private_folder(folder: Path) -> None:
    """A folder only its owner may enter, made with its missing parents. Raises StoreError."""
    try:
        _make_folder(folder)
        # A sticky folder (/tmp) is shared on purpose; the folders made inside it are private all the same.
        if not folder.stat().st_mode & stat.S_ISVTX:
            _tighten(folder, 0o700)
    except (FileExistsError, NotADirectoryError):
        raise StoreError(f"{folder} is needed as a folder, but a file is in its place; choose another --home") from None
    except OSError as error:
        raise StoreError(f"cannot keep a memory in {folder}: {error.strerror}; choose another --home or free this one") from error


def private_file(path: Path) -> None:
    """A file only its owner may read, made empty where it is missing. Raises StoreError."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        _tighten(path, 0o600)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}; choose another --home or free this one") from error


def network_warning(folder: PurePath, mounts: Mapping[str, str]) -> str | None:
    """A warning for a folder on a network disk, given the type of the filesystem at each mount point."""
    kind = next((mounts[str(point)] for point in (folder, *folder.parents) if str(point) in mounts), "")
    if kind in _NETWORK_FILESYSTEMS or folder.drive.startswith("\\\\"):
        return f"{folder} is on a network disk ({kind or 'UNC'}), where two computers can damage a database; prefer a local folder"
    return None


def sync_warning(folder: PurePath) -> str | None:
    """A warning for a folder that a program copies to other computers while we write."""
    for part in folder.parts:
        if _SYNCED_FOLDER.match(part):
            return f"{folder} is synchronised ({part}): copies of your memory leave this machine; prefer a local folder"
    return None


def parse_mounts(text: str) -> dict[str, str]:
    """/proc/mounts -> type of filesystem by mount point; of several mounts on one point the last counts."""
    rows = (line.split(" ") for line in text.splitlines())
    return {row[1].replace("\\040", " "): row[2] for row in rows if len(row) > 2}


def _mounts() -> dict[str, str]:
    try:
        return parse_mounts(_MOUNTS.read_text(encoding="utf-8", errors="replace"))
    except OSError:  # not Linux
        return {}


def _make_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    if folder.parent != folder:
        _make_folder(folder.parent)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not folder.is_dir():  # else: another process was faster
            raise


def _tighten(path: Path, mode: int) -> None:
    if stat.S_IMODE(path.stat().st_mode) != mode:
        path.chmod(mode)
