"""HTML -> the text a reader sees, a line a block."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_BLOCKS = frozenset(
    ("p", "div", "br", "ul", "ol", "li", "tr", "table", "blockquote", "pre", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "section")
)
_UNSEEN = frozenset(("script", "style", "head", "template"))


def text_of_html(html: str) -> str:
    """The words, without markup; damaged HTML gives what can be made out."""
    reader = _Text()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.pieces).split("\n"))
    return re.sub(r"\n{2,}", "\n", "\n".join(lines)).strip()


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unseen += tag in _UNSEEN
        if tag in _BLOCKS:
            self.pieces.append("\n- " if tag == "li" else "\n")

    def handle_endtag(self, tag: str) -> None:
        self._unseen = max(0, self._unseen - (tag in _UNSEEN))
        if tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.pieces.append(re.sub(r"\s+", " ", data))
