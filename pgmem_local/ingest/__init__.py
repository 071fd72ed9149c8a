"""Files -> turns -> exchanges: what is read, what was rejected and why, and what never reaches the store."""

from pgmem_local.ingest.exchanges import Exchanges
from pgmem_local.ingest.formats import Format, ReadOptions, Recognised
from pgmem_local.ingest.jsonl import JsonLines
from pgmem_local.ingest.moments import ParsedMoment, named_zone, parse_moment
from pgmem_local.ingest.period import Period, Within
from pgmem_local.ingest.reader import Counts, Noted, Reader
from pgmem_local.ingest.registry import FORMATS, read_exchanges
from pgmem_local.ingest.rejects import Reject, RejectsFile
from pgmem_local.ingest.secrets import MARK, Masked, mask_secrets
from pgmem_local.ingest.source import Source, open_source
from pgmem_local.ingest.untrusted import clean, printable

__all__ = [
    "FORMATS",
    "MARK",
    "Counts",
    "Exchanges",
    "Format",
    "JsonLines",
    "Masked",
    "Noted",
    "ParsedMoment",
    "Period",
    "ReadOptions",
    "Reader",
    "Recognised",
    "Reject",
    "RejectsFile",
    "Source",
    "Within",
    "clean",
    "mask_secrets",
    "named_zone",
    "open_source",
    "parse_moment",
    "printable",
    "read_exchanges",
]
