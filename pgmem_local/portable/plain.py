"""Stored text as it may stand in a file that people open: the same words, and nothing that commands whatever shows them."""

from __future__ import annotations

import re

_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters but tab and line feed
    "\u2028\u2029\u202a-\u202e\u2066-\u2069"  # line separators, bidirectional embeddings, overrides and isolates
    "\ud800-\udfff\ufffe\uffff]"  # what is no character
)
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_MARKDOWN = re.compile(r"([\\`*\[\]<&~]|_(?![^\W_])|(?<![^\W_])_)")
_MARKDOWN_START = re.compile(r"^(\d{1,9}(?=[.)])|(?=[#>+\-=|:]))")


def visible(text: str) -> str:
    """Without control characters and what reorders a line."""
    return _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str) -> str:
    return " ".join(visible(text).split())


def for_xml(text: str) -> str:
    """Without what no XML file may hold; markup still has to be escaped."""
    return _NO_XML.sub("", text)


def for_markdown(text: str) -> str:
    """One line in which no character is markup: no link with another text, no picture, no HTML, no heading. An address stays one."""
    return _MARKDOWN_START.sub(r"\1\\", _MARKDOWN.sub(r"\\\1", one_line(text)))
