"""A model hub on 127.0.0.1 that redirects to its own content network, knows Range, and can be told to misbehave."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass
class LocalHub:
    """What the hub holds, and how it behaves. `requests` is what it was asked: method, path, Range."""

    files: dict[str, bytes] = field(default_factory=dict)
    url: str = ""
    publishes_hash: bool = True
    published_hash: str = ""
    sends: bytes | None = None
    knows_range: bool = True
    breaks_off_after: int | None = None
    web_page: bool = False
    requests: list[tuple[str, str, str]] = field(default_factory=list)

    def tag(self, content: bytes) -> str:
        return self.published_hash or (hashlib.sha256(content).hexdigest() if self.publishes_hash else "1234abcd")


@contextmanager
def local_hub() -> Iterator[LocalHub]:
    hub = LocalHub()

    class Handler(_Handler):
        state = hub

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    state: LocalHub

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        hub = self.state
        hub.requests.append((self.command, self.path, self.headers.get("Range", "")))
        name = self.path.rsplit("/", 1)[-1]
        if hub.web_page:
            self._send(200, b"<!doctype html><html>please log in</html>", {"Content-Type": "text/html; charset=utf-8"})
        elif name not in hub.files:
            self._send(404, b"Entry not found", {})
        elif self.path.startswith("/cdn/"):
            self._send_content(hub.files[name] if hub.sends is None else hub.sends)
        else:
            tag = f'"{hub.tag(hub.files[name])}"'
            linked = {"X-Linked-Etag": tag, "X-Linked-Size": str(len(hub.files[name]))} if hub.publishes_hash else {"ETag": tag}
            self._send(302, b"", {"Location": f"/cdn/{name}", **linked})

    def _send_content(self, content: bytes) -> None:
        asked = self.headers.get("Range", "")
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.state.knows_range else 0
        headers = {"Content-Type": "application/octet-stream"}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        self._send(206 if start else 200, content[start:], headers)

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for key, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body[: self.state.breaks_off_after])

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""
