"""Apple Journal: a folder of HTML pages, one an entry -> one entry a turn.

The only date is the words in `div.pageHeader`, in the language of the phone, without time of day. The words of an entry are its
title and everything that stands in none of the page's named parts: the app closes its tags in the wrong order, so nesting decides
nothing. The app's question (`reflectionPrompt`) and what it collected (places, activity, photos, music) are not the owner's words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser

from pgmem_local.conversation import Turn
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.reader import Reader
from pgmem_local.ingest.records import LeftOut, Record, RecordReader, Rejected
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.source import Source, head
from pgmem_local.ingest.text_files import require_utf8, text_files

_ENDINGS = (".html", ".htm")
_HEADER = re.compile(rb"<div\s{1,20}class\s?=\s?[\"']?pageHeader\b")
_LONGEST_PAGE = 4 * 1024 * 1024
_MOST_MARKS = 1000
_COLLECTED = "the app's questions, places, photos and other things collected: left out"
_PARTS = ("pageHeader", "title", "bodyText", "reflectionPrompt", "assetGrid")
_BODY = "bodyText"
_NOT_SHOWN = ("script", "style", "title")
_BLOCKS = frozenset(("p", "div", "li", "ul", "ol", "br", "h1", "h2", "h3", "blockquote"))
_SPACE = re.compile(r"\s+")
_EMPTY_LINES = re.compile(r"\n{3,}")


class AppleJournalFormat:
    """HTML pages with a `div.pageHeader`. Implements `Format`."""

    name = "apple_journal"
    title = "Apple Journal"

    def recognise(self, source: Source) -> str | None:
        pages = _pages(source)
        found = next((name for name in pages if _HEADER.search(head(source, name))), None)
        return f"{found} is a page with a pageHeader" if found else None

    def read(self, source: Source, options: ReadOptions) -> Reader:
        return AppleJournal(source, options)


APPLE_JOURNAL = AppleJournalFormat()


class AppleJournal(RecordReader[str]):
    """All pages of an export. Implements `Reader`."""

    name = AppleJournalFormat.name
    wanted = 'an Apple Journal export: pages in Entries/ with a <div class="pageHeader">'

    def records(self) -> Iterator[Record[str] | Reject]:
        return text_files(self, self.planned(_pages(self.source)))

    def read(self, record: Record[str]) -> Turn | LeftOut:
        require_utf8(record.content)
        page = read_page(record.content)
        if page.header is None:
            return LeftOut("a page that is no entry")
        if page.collected:
            self.note(record, _COLLECTED)
        if not page.text:
            return LeftOut("an entry without words")
        return Turn(page.text, self.moment(record, page.header))


@dataclass(frozen=True)
class Page:
    """What one page says. header: the date in words, None where the page has none. text: title and body of the entry."""

    header: str | None
    text: str
    collected: bool


def read_page(html: str) -> Page:
    """Raises Rejected where the parser gives up, or would take hours: it looks for the end of each mark to the end of the page."""
    if len(html) > _LONGEST_PAGE or any(html.count(mark) > _MOST_MARKS for mark in ("<!", "<?")):
        raise Rejected("no page of Apple Journal: too long, or full of declarations")
    marked_up = html.rfind(">") + 1
    parser = _PageParser()
    try:
        parser.feed(html[:marked_up])
        parser.close()
        parser.handle_data(html[marked_up:])
    except AssertionError:  # how html.parser of Python 3.10 to 3.13 meets some declarations that end nowhere
        raise Rejected("not readable as HTML; export it again") from None
    title, body = parser.said("title"), parser.said(_BODY)
    text = "\n\n".join(part for part in (title, body) if part)
    header = parser.said("pageHeader") if parser.meets("pageHeader") else None
    return Page(header, text, parser.meets("assetGrid") or bool(parser.said("reflectionPrompt")))


class _PageParser(HTMLParser):
    """Sorts the text of a page by the named part it stands in; a part lasts until its div closes or another part begins."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._said: dict[str, list[str]] = {}
        self._part = _BODY
        self._depth = 0
        self._hidden: str | None = None

    def meets(self, part: str) -> bool:
        return part in self._said

    def said(self, part: str) -> str:
        lines = (line.strip() for line in "".join(self._said.get(part, ())).split("\n"))
        return _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _NOT_SHOWN:
            self._hidden = tag
        if tag == "div":
            self._open(next((value or "" for name, value in attrs if name == "class"), "").split())
        if tag in _BLOCKS:
            self._parts().append("\n- " if tag == "li" else "\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._hidden:
            self._hidden = None
        if tag in _BLOCKS:
            self._parts().append("\n")
        if tag == "div":
            self._depth -= 1
            if self._depth <= 0:
                self._part = _BODY

    def handle_data(self, data: str) -> None:
        if self._hidden is None:
            self._parts().append(_SPACE.sub(" ", data))

    def _open(self, classes: list[str]) -> None:
        part = next((part for part in _PARTS if part in classes), None)
        if part is not None:
            self._part, self._depth = part, 1
            self._parts()
        else:
            self._depth += 1

    def _parts(self) -> list[str]:
        return self._said.setdefault(self._part, [])


def _pages(source: Source) -> list[str]:
    return [name for name in source.names if name.casefold().endswith(_ENDINGS)]
