"""Every error this package raises on purpose. Each message says what went wrong and what to do next.

"Nothing found" is a value, never an error. `cli.py` alone turns a `PGMemError` into a message and an exit code.
"""

from __future__ import annotations


class PGMemError(Exception):
    """Base of all errors raised by pgmem_local.

        PGMemError
         ├─ ModelFileError        weights missing, cut, foreign or of the wrong kind
         │   └─ DownloadError       a source could not be reached or sent something else
         ├─ ModelError            the loaded model cannot do what was asked
         │   ├─ TemplateError       no usable chat template
         │   ├─ PromptTooLong       prompt and reply do not fit the context window
         │   └─ ModelOutputInvalid  the model answered, but not in the agreed form
         ├─ StoreError            the database cannot be opened, read or written
         │   ├─ StoreBusy           another process holds the write lock
         │   ├─ PassphraseNeeded    the memory is encrypted and no passphrase is at hand
         │   └─ WrongPassphrase     the memory does not open with this passphrase
         ├─ IngestError           an input file cannot be used at all
         ├─ UnknownNode           no node with this id
         ├─ UnknownEntity         nobody of this name or id, or more than one
         ├─ ChangeRefused         the owner's wish cannot be done to this node, or not now
         └─ Interrupted           a call gave way to another; nothing of it landed
    """


class ModelFileError(PGMemError):
    """A weight file is missing, incomplete, foreign or of the wrong kind."""


class DownloadError(ModelFileError):
    """A source of weights could not be reached or sent something else."""


class ModelError(PGMemError):
    """A loaded model cannot do what was asked of it."""


class TemplateError(ModelError):
    """The model file carries no chat template that can be used."""


class PromptTooLong(ModelError):
    """Prompt and reply together do not fit the model's context window."""


class ModelOutputInvalid(ModelError):
    """The model's answer was empty, cut off or not in the agreed form; the turn stays pending."""


class StoreError(PGMemError):
    """The memory's files cannot be opened, read or written."""


class StoreBusy(StoreError):
    """Another process kept the write lock longer than we wait."""


class PassphraseNeeded(StoreError):
    """The memory is encrypted, and neither a file, nor the keyring, nor a person gave its passphrase."""


class WrongPassphrase(StoreError):
    """The memory does not open with this passphrase."""


class IngestError(PGMemError):
    """An input file cannot be used at all (a single bad record is not an error, it is rejected)."""


class UnknownNode(PGMemError):
    """The memory holds no node with the given id."""


class UnknownEntity(PGMemError):
    """The memory knows nobody of this name or id, or more than one."""


class ChangeRefused(PGMemError):
    """What the owner asked for cannot be done to this node, or not any more."""


class Interrupted(PGMemError):
    """A call of the model gave way because its caller was asked to; nothing of it landed, so it can be made again."""
