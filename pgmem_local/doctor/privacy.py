"""Whether a memory stays on this machine and its owner's: proved by running it, and read from the system where that is possible."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path

from pgmem_local.doctor.findings import Finding, Verdict
from pgmem_local.doctor.seal import SAW_A_SOCKET
from pgmem_local.runtime.silence import SWITCHES
from pgmem_local.store.cipher import is_encrypted
from pgmem_local.store.encryption import plain_files
from pgmem_local.store.passphrase import find_passphrase
from pgmem_local.store.place import Place

OURS = ("PGMEM_HOME", "PGMEM_MODELS", "PGMEM_PASSPHRASE_FILE")
FOREIGN_CODE = ("LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "PYTHONPATH", "PYTHONSTARTUP", "SQLITE_TMPDIR")
REPORTERS = ("onnxruntime", "huggingface_hub")
"""Dependencies that can report to their makers."""
LEFT_BEHIND = Path(".cache/Microsoft/DeveloperTools/.onnxruntime")
SHOWN = 10
PATIENCE = 600.0

_SWAPS = Path("/proc/swaps")
_BLOCK_DEVICES = Path("/sys/class/block")
_OTHERS = 0o077


def examine_privacy(
    place: Place, model: str | None, say: Callable[[str], None], prompt: Callable[[], str] | None = None
) -> list[Finding]:
    """Every check; `prompt` is asked for a passphrase. Using the memory makes its folders, so that comes before their rights."""
    passphrase = find_passphrase(place, prompt) if is_encrypted(place.database) else ""
    say("using the memory where a socket ends the process; a chat model that is installed takes up to a minute …")
    return [
        sockets(place, model, passphrase),
        encryption(place),
        file_rights(place.home),
        parents(place.home),
        _location(place),
        swap(_read(_SWAPS)),
        _core_dumps(),
        telemetry(Path.home()),
        environment(os.environ),
    ]


def sockets(place: Place, model: str | None, passphrase: str = "") -> Finding:
    """Open, recall and ask in a process that the first socket ends; it reads the passphrase from its standard input."""
    command = [sys.executable, "-m", "pgmem_local.doctor.sealed", str(place.home), place.profile, *([model] if model else [])]
    heard = {name: value for name, value in os.environ.items() if name != "CI"}  # where CI is set, onnxruntime keeps quiet anyway
    ended = subprocess.run(command, check=False, env=heard, input=passphrase, capture_output=True, text=True, timeout=PATIENCE)
    if ended.returncode in (SAW_A_SOCKET, -getattr(signal, "SIGSYS", 0)):
        return Finding("sockets", Verdict.BAD, "a socket was opened; please report it", tuple(ended.stderr.splitlines()[-3:]))
    if ended.returncode != 0:
        return Finding("sockets", Verdict.BAD, "the memory could not be used", tuple(ended.stderr.splitlines()[-1:]))
    seen = json.loads(ended.stdout.splitlines()[-1])
    watched = "Python and native code watched" if seen["natively"] else "Python watched; native code only under Linux"
    return Finding("sockets", Verdict.GOOD, f"none was opened ({watched}): {', '.join(seen['done'])}")


def encryption(place: Place) -> Finding:
    """What a thief of the disk could read."""
    if not is_encrypted(place.database):
        return Finding("encryption", Verdict.NOTE, "none of ours: file rights keep other users out, only disk encryption keeps thieves out")
    if plain := plain_files(place):
        detail = "the database is encrypted, but these files beside it are not; `pgmem encrypt --drop-files` removes them"
        return Finding("encryption", Verdict.BAD, detail, tuple(map(str, plain)))
    return Finding("encryption", Verdict.GOOD, "SQLCipher, and nothing lies beside the database")


def file_rights(home: Path) -> Finding:
    """Whether anybody else may read or enter something under the home."""
    if os.name != "posix":
        return Finding("file rights", Verdict.NOTE, "not looked at on this system: they are those of your user folder")
    paths = [home, *sorted(home.rglob("*"))]
    open_to_others = [
        f"{stat.S_IMODE(mode):o} {path}" for path in paths if (mode := path.lstat().st_mode) & _OTHERS and not path.is_symlink()
    ]
    if open_to_others:
        detail = f"{len(open_to_others)} of {len(paths)} files and folders are open to other users; chmod -R go-rwx {home}"
        return Finding("file rights", Verdict.BAD, detail, tuple(open_to_others[:SHOWN]))
    return Finding("file rights", Verdict.GOOD, f"{len(paths)} files and folders are yours alone (0600, 0700)")


def parents(home: Path) -> Finding:
    """Whether others could put another folder in the home's place, or see that it is there."""
    if os.name != "posix":
        return Finding("parents", Verdict.NOTE, "not looked at on this system")
    modes = {folder: folder.stat().st_mode for folder in home.parents}
    replaceable = [str(folder) for folder, mode in modes.items() if mode & stat.S_IWOTH and not mode & stat.S_ISVTX]
    if replaceable:
        return Finding("parents", Verdict.BAD, "everybody may write to a parent folder; chmod o-w", tuple(replaceable))
    readable = sum(bool(mode & stat.S_IROTH) for mode in modes.values())
    return Finding("parents", Verdict.GOOD, f"{readable} of {len(modes)} parent folders are world-readable; nothing in the home is")


def _location(place: Place) -> Finding:
    if place.warning:
        return Finding("location", Verdict.BAD, place.warning)
    return Finding("location", Verdict.GOOD, "a local disk, in no folder that is known to be synchronised")


def swap(table: str | None) -> Finding:
    """What the system may write of our working memory to a disk."""
    if table is None:
        return Finding("swap", Verdict.NOTE, "unknown on this system; encrypt the disk (macOS encrypts its swap)")
    plain = [line.split()[0] for line in table.splitlines()[1:] if line.strip() and not _stays_secret(Path(line.split()[0]))]
    if plain:
        return Finding("swap", Verdict.NOTE, "words in memory may reach an unencrypted disk; encrypt it or `swapoff`", tuple(plain))
    return Finding("swap", Verdict.GOOD, "none on an unencrypted disk")


def _stays_secret(device: Path) -> bool:
    """Swap in compressed memory, or on a device that dm-crypt encrypts."""
    name = device.resolve().name
    return name.startswith("zram") or (_read(_BLOCK_DEVICES / name / "dm" / "uuid") or "").startswith("CRYPT-")


def _core_dumps() -> Finding:
    if os.name != "posix":
        return Finding("core dumps", Verdict.NOTE, "not looked at on this system")
    import resource

    if resource.getrlimit(resource.RLIMIT_CORE)[0] == 0:
        return Finding("core dumps", Verdict.GOOD, "off")
    return Finding("core dumps", Verdict.NOTE, "a crash may write working memory to disk; `ulimit -c 0` prevents it")


def telemetry(user: Path) -> Finding:
    """The switches we set before a library is imported, and what one of them left behind when somebody else ran it."""
    installed = ", ".join(f"{name} {version}" for name in REPORTERS if (version := _version(name)))
    switches = ", ".join(f"{name}={value}" for name, value in SWITCHES.items())
    left = user / LEFT_BEHIND
    if left.exists():
        detail = f"onnxruntime has noted events of another program or of an older release; delete {left} (now: {switches})"
        return Finding("telemetry", Verdict.NOTE, detail)
    return Finding("telemetry", Verdict.GOOD, f"switched off before {installed or 'anything'} is imported: {switches}")


def environment(variables: Mapping[str, str]) -> Finding:
    """Variables that say where we look, and those that bring code or files of others into this process."""
    foreign = tuple(f"{name}={variables[name]}" for name in FOREIGN_CODE if variables.get(name))
    if foreign:
        return Finding("environment", Verdict.NOTE, "these bring code or files from elsewhere into the process", foreign)
    ours = ", ".join(f"{name}={variables[name]}" for name in OURS if name in variables)
    return Finding("environment", Verdict.GOOD, ours or "nothing in it changes where the memory or its code lies")


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
