"""Files -> turns -> exchanges: what is read, what was rejected and why, and what never reaches the store."""

from pgmem_local.ingest.exchanges import Exchanges, read_exchanges
from pgmem_local.ingest.jsonl import FORMATS, JsonLines
from pgmem_local.ingest.moments import ParsedMoment, named_zone, parse_moment
from pgmem_local.ingest.reader import Counts, Noted, Reader
from pgmem_local.ingest.rejects import Reject, RejectsFile
from pgmem_local.ingest.secrets import MARK, Masked, mask_secrets
from pgmem_local.ingest.untrusted import clean, printable

__all__ = [
    "FORMATS",
    "MARK",
    "Counts",
    "Exchanges",
    "JsonLines",
    "Masked",
    "Noted",
    "ParsedMoment",
    "Reader",
    "Reject",
    "RejectsFile",
    "clean",
    "mask_secrets",
    "named_zone",
    "parse_moment",
    "printable",
    "read_exchanges",
]
