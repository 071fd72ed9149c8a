"""Weights from a model hub over plain HTTPS, resumed by Range, checked against the hash the hub publishes.

HF_ENDPOINT names another hub or mirror. The hub answers a HEAD request for a large file with its SHA-256 in X-Linked-Etag, on the
redirect itself, before a content network takes over; so redirects are followed by hand until that header is seen.
"""

from __future__ import annotations

import http.client
import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from typing import IO

from pgmem_local.errors import DownloadError
from pgmem_local.runtime.weights.checks import foreign_content
from pgmem_local.runtime.weights.checksums import CHUNK
from pgmem_local.runtime.weights.part_file import Done, PartFile
from pgmem_local.runtime.weights.progress import Meter
from pgmem_local.runtime.weights.registry import FileSpec, HubSource

HUB = "https://huggingface.co"
TIMEOUT_SECONDS = 10.0
"""For a connection, and for any silence while data flows."""
REDIRECTS = 5
ATTEMPTS = 4
PAUSE_SECONDS = 1.0
SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Published:
    """What the hub says of a file before it is fetched."""

    url: str
    tag: str
    size: int

    @property
    def sha256(self) -> str | None:
        """Only large files are published with their SHA-256; the tag of a small one is something else."""
        return self.tag if SHA256.fullmatch(self.tag) else None


def fetch_from_hub(source: HubSource, file: FileSpec, part: PartFile, meter: Meter) -> str:
    """Brings what is missing of the file; gives the hash the whole must have."""
    published = _ask(source)
    sha256 = _agreed_sha256(source, file, published)
    origin = f"hub {source.repository} {source.file} {published.tag}"
    if not part.continues(origin):
        part.discard()
        part.mark(Done(origin))
    meter.resume(part.size)
    for attempt in range(ATTEMPTS):
        if part.size >= published.size:
            break
        time.sleep(PAUSE_SECONDS if attempt else 0)
        _continue(published, part, meter, last=attempt == ATTEMPTS - 1)
    return sha256


def _agreed_sha256(source: HubSource, file: FileSpec, published: Published) -> str:
    if file.sha256 and published.sha256 and file.sha256 != published.sha256:
        raise DownloadError(f"{source} now publishes another {source.file} than the one known here")
    sha256 = file.sha256 or published.sha256
    if sha256 is None:
        raise DownloadError(f"{source} publishes no SHA-256 for {source.file}, so it cannot be verified")
    return sha256


def _ask(source: HubSource) -> Published:
    base = os.environ.get("HF_ENDPOINT", "").rstrip("/") or HUB
    asked = url = f"{base}/{source.repository}/resolve/{source.revision}/{urllib.parse.quote(source.file)}"
    for _ in range(REDIRECTS):
        headers = _head(url)
        if "X-Linked-Etag" not in headers and (target := headers.get("Location")):
            url = urllib.parse.urljoin(url, target)
            continue
        if headers.get_content_type() == "text/html":
            raise DownloadError(f"{asked} answers with a web page, not the file")
        size = headers.get("X-Linked-Size") or headers.get("Content-Length") or ""
        if not size.isdecimal():
            raise DownloadError(f"{asked} does not say how long the file is")
        return Published(asked, _bare_tag(headers), int(size))
    raise DownloadError(f"{asked} redirects without end")


def _bare_tag(headers: Message) -> str:
    return (headers.get("X-Linked-Etag") or headers.get("Etag") or "").removeprefix("W/").strip('"').lower()


def _head(url: str) -> Message:
    request = urllib.request.Request(url, method="HEAD", headers={"Accept-Encoding": "identity"})
    with _reached(url):
        try:
            with urllib.request.build_opener(_StayHere).open(request, timeout=TIMEOUT_SECONDS) as reply:
                headers: Message = reply.headers
                return headers
        except urllib.error.HTTPError as answer:
            if 300 <= answer.code < 400:
                return answer.headers
            raise


class _StayHere(urllib.request.HTTPRedirectHandler):
    """Leaves a redirect to the caller."""

    def redirect_request(self, *args: object, **kwargs: object) -> None:
        return None


@contextmanager
def _reached(url: str) -> Iterator[None]:
    """What can go wrong on the way, in one line each."""
    host = urllib.parse.urlsplit(url).netloc
    try:
        yield
    except urllib.error.HTTPError as error:
        raise DownloadError(f"{url} answers {error.code} {error.reason}") from error
    except urllib.error.URLError as error:
        raise DownloadError(f"{host} cannot be reached ({error.reason})") from error
    except (OSError, http.client.HTTPException) as error:
        raise DownloadError(f"{host} broke off ({error or type(error).__name__}); pull again to go on from there") from error


def _continue(published: Published, part: PartFile, meter: Meter, last: bool) -> None:
    """One request for the rest. A connection that breaks is forgiven unless it was the last try."""
    try:
        with _reached(published.url):
            _request_rest(published, part, meter)
    except DownloadError as error:
        if last or isinstance(error.__cause__, urllib.error.HTTPError) or error.__cause__ is None:
            raise


def _request_rest(published: Published, part: PartFile, meter: Meter) -> None:
    headers = {"Range": f"bytes={part.size}-", "Accept-Encoding": "identity"}
    request = urllib.request.Request(published.url, headers=headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as reply:
        partial = reply.status == 206 and reply.headers.get("Content-Range", "").startswith(f"bytes {part.size}-")
        _write(reply, part.size if partial else 0, published, part, meter)


def _write(reply: IO[bytes], start: int, published: Published, part: PartFile, meter: Meter) -> None:
    size = start
    with part.append_from(start) as output:
        while chunk := reply.read(CHUNK):
            if size == 0 and (cause := foreign_content(chunk)):
                raise DownloadError(f"{published.url} sent {cause}")
            size += len(chunk)
            if size > published.size:
                raise DownloadError(f"{published.url} sent more than the {published.size:,} bytes it announced")
            output.write(chunk)
            meter.at(size)
    if size < published.size:
        raise ConnectionError(f"{size:,} of {published.size:,} bytes came")
