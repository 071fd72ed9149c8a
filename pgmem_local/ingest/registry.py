"""The formats that are read, and the way from a path to its exchanges."""

from __future__ import annotations

from pathlib import Path

from pgmem_local.ingest.apple_journal import APPLE_JOURNAL
from pgmem_local.ingest.chatgpt import CHATGPT
from pgmem_local.ingest.claude import CLAUDE
from pgmem_local.ingest.dayone import DAY_ONE
from pgmem_local.ingest.exchanges import Exchanges
from pgmem_local.ingest.formats import Format, ReadOptions, Recognised, recognise
from pgmem_local.ingest.gemini import GEMINI
from pgmem_local.ingest.instagram import INSTAGRAM
from pgmem_local.ingest.jsonl import JSON_LINES
from pgmem_local.ingest.keep import KEEP
from pgmem_local.ingest.markdown import MARKDOWN
from pgmem_local.ingest.plain import PLAIN_TEXT
from pgmem_local.ingest.source import Source, open_source
from pgmem_local.ingest.table import TABLE
from pgmem_local.ingest.telegram import TELEGRAM
from pgmem_local.ingest.whatsapp import WHATSAPP

FORMATS: tuple[Format, ...] = (
    JSON_LINES,
    CHATGPT,
    CLAUDE,
    GEMINI,
    DAY_ONE,
    APPLE_JOURNAL,
    WHATSAPP,
    TELEGRAM,
    INSTAGRAM,
    KEEP,
    MARKDOWN,
    PLAIN_TEXT,
    TABLE,
)


def read_exchanges(path: Path, options: ReadOptions | None = None, format_name: str | None = None) -> Exchanges:
    """Exchanges and rejects of a file, folder or archive. Raises IngestError where no format or more than one fits."""
    source = open_source(path)
    recognised = _recognised(source, format_name)
    return Exchanges(recognised.format.read(source, options or ReadOptions()), recognised)


def _recognised(source: Source, format_name: str | None) -> Recognised:
    if format_name is None and not (source.path.is_file() or source.path.is_dir()):
        return Recognised(JSON_LINES, "a pipe cannot be looked into beforehand")
    return recognise(source, FORMATS, format_name)
