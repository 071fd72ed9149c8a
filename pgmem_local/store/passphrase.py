"""Where the passphrase of an encrypted memory comes from: a file named in the environment, the system's keyring, or whoever is asked.

    PGMEM_PASSPHRASE_FILE   first line of a file that only its owner may read
    keyring                 entry of the service pgmem-local, by the folder of the memory (macOS Keychain, Secret Service, Windows)
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from pgmem_local.errors import PassphraseNeeded, StoreError
from pgmem_local.store.place import Place

VARIABLE = "PGMEM_PASSPHRASE_FILE"
_SERVICE = "pgmem-local"


def find_passphrase(place: Place, prompt: Callable[[], str] | None = None, environment: Mapping[str, str] = os.environ) -> str:
    """The first that is there. Raises PassphraseNeeded where none is and nobody can be asked."""
    if named := environment.get(VARIABLE):
        return read_passphrase(Path(named))
    if (kept := from_keyring(place)) is not None:
        return kept
    if prompt is None:
        raise PassphraseNeeded(f"{place.folder} is encrypted: name a file with its passphrase in {VARIABLE}, or run this in a terminal")
    return prompt()


def read_passphrase(path: Path) -> str:
    """The first line of a file that nobody else may read. Raises StoreError."""
    try:
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise StoreError(f"others may read the passphrase in {path}; take that right away with `chmod 600`")
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"no passphrase can be read from {path} ({error}); put it there, in the first line, as UTF-8") from error
    if not lines or not lines[0]:
        raise StoreError(f"{path} has no passphrase in its first line; put it there")
    return lines[0]


def from_keyring(place: Place) -> str | None:
    """What the system's keyring keeps for this memory; None where there is neither keyring nor entry."""
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return None
    try:
        return keyring.get_password(_SERVICE, str(place.folder))
    except KeyringError:
        return None


def keep_in_keyring(place: Place, passphrase: str) -> None:
    """Raises StoreError where there is no keyring to keep it in."""
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError as error:
        raise StoreError("the system's keyring needs an extra: `pip install 'pgmem-local[encrypted]'`") from error
    try:
        keyring.set_password(_SERVICE, str(place.folder), passphrase)
    except KeyringError as error:
        raise StoreError(f"no keyring keeps the passphrase ({error}); leave --keyring out and type it, or use {VARIABLE}") from error


def drop_from_keyring(place: Place) -> None:
    """Forget an entry; that there is none is no error. Raises StoreError where the keyring does not let it go."""
    if from_keyring(place) is not None:
        import keyring
        from keyring.errors import KeyringError

        try:
            keyring.delete_password(_SERVICE, str(place.folder))
        except KeyringError as error:
            raise StoreError(f"the system's keyring still has the passphrase of {place.folder} ({error})") from error
