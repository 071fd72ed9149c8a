"""Markdown: an Obsidian vault, another folder of notes, or one file -> one entry a note, or one under each heading that is a date.

A note's day is the date it is named by, else that of its front matter, else unknown: the time of a file is the day it was copied.
What only programs or the writer should see goes: comments (%% … %% and HTML's), embedded files, code in a named language, front
matter but for the date. Links become their words, callouts text; tags, tasks and quotations stay as they are typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import yaml

from pgmem_local.conversation import Turn
from pgmem_local.ingest.formats import ReadOptions
from pgmem_local.ingest.reader import Reader
from pgmem_local.ingest.records import LeftOut, Record, RecordReader
from pgmem_local.ingest.rejects import Reject
from pgmem_local.ingest.source import Source
from pgmem_local.ingest.text_files import Dated, Line, Section, require_utf8, sections, stem, text_files
from pgmem_local.ingest.written_days import day_in_name, is_day

_ENDINGS = (".md", ".markdown")
_UNDATED = "no date in the note's name or front matter (the file's own time is not trusted): stored without one"
_COMMENTS = "comments: left out"
_CODE = "code: left out"
_OTHER_MATTER = "front matter besides the date: left out"
_BROKEN_MATTER = "front matter that is not YAML: kept as text"

_LONGEST_MATTER = 64 * 1024
_LONGEST_HEADING = 120
_DATE_KEYS = ("date", "day", "created", "createdat", "creationdate", "datecreated", "datetime", "timestamp")
_MATTER = re.compile(r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.S | re.M)
_FENCE = re.compile(r"[ \t]{0,3}(?P<mark>`{3,}|~{3,})(?P<language>[^`]*)$")
_HEADING = re.compile(r"#{1,6}[ \t]+(?P<text>[^\n]{1,100}?)[ \t#]*$")
_CALLOUT = re.compile(r"[ \t]*(?:>[ \t]?)+\[!(?P<kind>[\w-]{1,30})[^\]\n]{0,60}\][+-]?[ \t]*(?P<title>.*)")
_QUOTED_LINE = re.compile(r"[ \t]*>[ \t]?")
_KINDS_THAT_QUOTE = ("quote", "cite")

_EMBEDDED = re.compile(r"!\[\[[^\[\]\n]{0,300}\]\]|!\[[^\[\]\n]{0,300}\]\([^()\n]{0,1000}\)")
_WIKILINK = re.compile(r"\[\[([^\[\]\n|]{0,300})(?:\|([^\[\]\n]{0,300}))?\]\]")
_LINK = re.compile(r"\[([^\[\]\n]{1,500})\]\([^()\n]{0,1000}\)")
_FIELD_IN_TEXT = re.compile(r"[\[(]([^\[\]()\n:]{1,60})::[ \t]?([^\[\]()\n]{0,300})[\])]")
_FIELD_LINE = re.compile(r"^([ \t>*+-]*\w[^:\n]{0,60})::[ \t]+", re.M)
_BLOCK_ID = re.compile(r"[ \t]\^[A-Za-z0-9-]{1,60}$", re.M)
_NAVIGATION = re.compile(r"[ \t<>|/·•←→«»-]*")
_EMPTY_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+\n")


class MarkdownFormat:
    """Files named .md or .markdown. Implements `Format`."""

    name = "markdown"
    title = "Markdown notes, Obsidian"

    def recognise(self, source: Source) -> str | None:
        notes = _notes(source)
        return f"{len(notes)} Markdown notes, such as {notes[0]}" if notes else None

    def read(self, source: Source, options: ReadOptions) -> Reader:
        return Markdown(source, options)


MARKDOWN = MarkdownFormat()


@dataclass(frozen=True)
class Note:
    """A note, or what stands under one date in it. title: its name, where that is no date. remarks: what was done to it."""

    section: Section
    title: str | None = None
    remarks: tuple[str, ...] = ()


class Markdown(RecordReader[Note]):
    """All notes of a source. Implements `Reader`."""

    name = MarkdownFormat.name
    wanted = "Markdown notes: files that end in .md"

    def records(self) -> Iterator[Record[Note] | Reject]:
        number = 0
        names = self.planned(_notes(self.source) or self.source.names)
        for name, found in zip(names, text_files(self, names), strict=True):
            for item in [found] if isinstance(found, Reject) else notes_of(name, found.content):
                number += 1
                yield replace(item, line=number) if isinstance(item, Reject) else Record(self.shown(name), number, item)

    def read(self, record: Record[Note]) -> Turn | LeftOut:
        note = record.content
        require_utf8(note.section.text)
        for remark in note.remarks:
            self.note(record, remark)
        words = _words(note.section.text)
        if not words:
            return LeftOut("a note without words")
        if note.section.date is None:
            self.note(record, _UNDATED)
            return Turn(_titled(note.title, words), None)
        return Turn(_titled(note.title, words), self.moment(record, note.section.date))

    def raw(self, content: Note) -> str:
        return content.section.raw


def notes_of(name: str, text: str) -> list[Note]:
    """The note in a file; of a file that no name dates, what stands under each heading that is a date. Never empty."""
    date, body, remarks = _front_matter(text.replace("\r\n", "\n"))
    prose, more = _prose(body)
    named = day_in_name(name)
    lines = (Line(number, line) for number, line in enumerate(prose.split("\n"), 1))
    parts = [part for _, part in sections(lines, _dated_heading if named is None else _undated, paragraphs=False)]
    title = stem(name) if named is None and all(part.date is None for part in parts) else None
    whole = [Section(part.date or named or date, part.text) for part in parts] or [Section(named or date, "")]
    return [Note(part, title, remarks + more) for part in whole]


def _front_matter(text: str) -> tuple[str | None, str, tuple[str, ...]]:
    """(its date as written, what follows it, remarks)."""
    match = _MATTER.match(text[: _LONGEST_MATTER])
    if match is None:
        return None, text, ()
    try:
        # BaseLoader makes nothing but strings, lists and dictionaries, whatever the file asks for
        matter = yaml.load(match[1], Loader=yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None, text, (_BROKEN_MATTER,)
    fields = {_plain(name): value for name, value in matter.items()} if isinstance(matter, dict) else {}
    dates = [value for name in _DATE_KEYS if isinstance(value := fields.get(name), str) and value]
    remarks = (_OTHER_MATTER,) if fields.keys() - set(_DATE_KEYS) else ()
    return (dates[0] if dates else None), text[match.end() :], remarks


def _plain(name: object) -> str:
    return re.sub(r"[\s_-]", "", str(name)).casefold()


def _prose(body: str) -> tuple[str, tuple[str, ...]]:
    """The text without code and comments, and which of them there were."""
    lines = body.split("\n")
    without_code = "\n".join(_outside_code(lines))
    prose = _without(_without(without_code, "%%", "%%"), "<!--", "-->")
    remarks = ((_CODE, without_code.count("\n") < body.count("\n")), (_COMMENTS, prose != without_code))
    return prose, tuple(remark for remark, holds in remarks if holds)


def _outside_code(lines: list[str]) -> Iterator[str]:
    """The lines but for code fenced under the name of a language. A fence without one frames words; one never closed is none."""
    opened, language, held = "", "", list[str]()
    for line in lines:
        fence = _FENCE.match(line)
        if not opened:
            if fence is None:
                yield line
            else:
                opened, language, held = fence["mark"], fence["language"].strip(), [line]
            continue
        held.append(line)
        if fence is not None and fence["mark"].startswith(opened) and not fence["language"].strip():
            yield from () if language else held[1:-1]
            opened, held = "", []
    yield from held


def _without(text: str, begin: str, end: str) -> str:
    """The text without what stands between these marks. A mark that is never closed hides nothing."""
    kept: list[str] = []
    start = 0
    while (opened := text.find(begin, start)) >= 0 and (closed := text.find(end, opened + len(begin))) >= 0:
        kept.append(text[start:opened])
        start = closed + len(end)
    return "".join((*kept, text[start:]))


def _undated(_: str) -> Dated | None:
    return None


def _dated_heading(line: str) -> Dated | None:
    heading = _HEADING.match(line) if len(line) < _LONGEST_HEADING else None
    return Dated(heading["text"]) if heading is not None and is_day(heading["text"]) else None


def _words(text: str) -> str:
    """Markdown as it reads: links as their words, callouts as text, nothing that is embedded or leads to another day."""
    text = "\n".join(line for line in _without_callouts(text.split("\n")) if not _leads_to_other_days(line))
    text = _LINK.sub(r"\1", _WIKILINK.sub(_name_of_link, _EMBEDDED.sub("", text)))
    text = _FIELD_LINE.sub(r"\1: ", _FIELD_IN_TEXT.sub(r"\1: \2", text))
    return _EMPTY_LINES.sub("\n\n", _BLOCK_ID.sub("", text)).strip()


def _without_callouts(lines: list[str]) -> Iterator[str]:
    """The lines, with the owner's words out of callouts. Quotations, also those in a callout, keep their marks."""
    inside = False
    for line in lines:
        callout = _CALLOUT.match(line)
        if callout is not None:
            inside = callout["kind"].casefold() not in _KINDS_THAT_QUOTE
            yield callout["title"] if inside else f"> {callout['title']}"
            continue
        inside = inside and line.lstrip().startswith(">")
        yield _QUOTED_LINE.sub("", line, count=1) if inside else line


def _leads_to_other_days(line: str) -> bool:
    """Whether a line is navigation: << [[2024-09-14]] | [[2024-09-16]] >>."""
    targets = [match[1] for match in _WIKILINK.finditer(line)]
    return bool(targets) and _NAVIGATION.fullmatch(_WIKILINK.sub("", line)) is not None and all(is_day(stem(one)) for one in targets)


def _name_of_link(match: re.Match[str]) -> str:
    """[[people/Ebba#Work]] is "Ebba", and with other words after a | both: "my sister (Ebba)", since the link says who is meant."""
    path, _, heading = match[1].partition("#")
    name, words = path.rpartition("/")[2] or heading, match[2]
    if not words or not name:
        return words or name
    return words if words.casefold() in name.casefold() or name.casefold() in words.casefold() or is_day(name) else f"{words} ({name})"


def _titled(title: str | None, words: str) -> str:
    """The note's name says what it is about, unless its first line does."""
    if title is None or words.split("\n", 1)[0].strip("# ").casefold() == title.casefold():
        return words
    return f"{title}\n\n{words}"


def _notes(source: Source) -> list[str]:
    return [name for name in source.names if name.casefold().endswith(_ENDINGS)]
