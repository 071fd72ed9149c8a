"""`pgmem encrypt`, `pgmem decrypt` and `pgmem rekey`: where the passphrases come from, and what else lies about unencrypted."""

from __future__ import annotations

import os
import sys
from getpass import getpass
from pathlib import Path

from pgmem_local.cli.opening import passphrase_prompt, say
from pgmem_local.cli.options import Where
from pgmem_local.errors import PassphraseNeeded, StoreError
from pgmem_local.store import encryption, passphrase
from pgmem_local.store.cipher import is_encrypted
from pgmem_local.store.place import Place, locate


def encrypt_memory(where: Where, new: Path | None, keyring: bool, drop_files: bool) -> None:
    """Encrypt a plain memory and leave nothing readable beside it, or say what was left."""
    place = locate(where.home, where.profile)
    encrypted = is_encrypted(place.database)
    if encrypted and not drop_files:
        raise StoreError(f"{place.folder} is encrypted already; `pgmem rekey` changes the passphrase")
    if not encrypted:
        _convert(place, None, _new_passphrase(new or _file_in_environment()), keyring)
        encryption.discard_derived(place)
    for path in encryption.plain_files(place):
        if drop_files:
            encryption.discard(path)
        else:
            say(f"pgmem: warning: {path} is not encrypted; use it up, or remove it with `pgmem encrypt --drop-files`")
    say(f"encrypted: {place.folder}")


def decrypt_memory(where: Where) -> None:
    """Make an encrypted memory plain."""
    place = _encrypted(where)
    _convert(place, passphrase.find_passphrase(place, passphrase_prompt()), None, keyring=False)
    say(f"no longer encrypted: {place.folder}")
    passphrase.drop_from_keyring(place)


def rekey_memory(where: Where, new: Path | None, keyring: bool) -> None:
    """Give an encrypted memory another passphrase; an entry in the keyring follows."""
    place = _encrypted(where)
    old = passphrase.find_passphrase(place, passphrase_prompt())
    _convert(place, old, _new_passphrase(new), keyring or passphrase.from_keyring(place) is not None)
    say(f"encrypted with the new passphrase: {place.folder}")


def _convert(place: Place, old: str | None, new: str | None, keyring: bool) -> None:
    """The keyring first: a passphrase that is kept and opens nothing can be typed, one that is lost cannot. Of a memory that stays
    as it was the entry stays too: it may be the only place that knows the old passphrase."""
    kept = passphrase.from_keyring(place) if old is not None else None
    before = place.database.stat() if kept is not None else None
    if keyring and new is not None:
        passphrase.keep_in_keyring(place, new)
    try:
        encryption.convert(place, old, new)
    except BaseException:
        if kept is not None and before is not None and os.path.samestat(before, place.database.stat()):
            passphrase.keep_in_keyring(place, kept)
        raise


def _encrypted(where: Where) -> Place:
    place = locate(where.home, where.profile)
    if not is_encrypted(place.database):
        raise StoreError(f"{place.folder} is not encrypted; `pgmem encrypt` does that")
    return place


def _file_in_environment() -> Path | None:
    """Who keeps the passphrase in a file means that one."""
    named = os.environ.get(passphrase.VARIABLE)
    return Path(named) if named else None


def _new_passphrase(file: Path | None) -> str:
    """From a file, or typed twice."""
    if file is not None:
        return passphrase.read_passphrase(file)
    if not sys.stdin.isatty():
        raise PassphraseNeeded("name a file with the new passphrase with --new FILE, or run this in a terminal")
    chosen = getpass("new passphrase: ")
    if chosen != getpass("the same again: "):
        raise StoreError("the two were not the same; nothing was changed, try again")
    return chosen
