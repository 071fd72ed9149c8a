"""The forms for reading: complete, with ids and dates, and harmless whatever was said."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import networkx
import pytest

from pgmem_local.graph.edges import Relation
from pgmem_local.graph.nodes import Kind
from pgmem_local.memory import PersonaMemory
from pgmem_local.portable.formats import Format
from pgmem_local.portable.plain import for_markdown
from tests.builders import on_day
from tests.control.conftest import opened, said
from tests.portable.conftest import model

HOSTILE = (
    "</script><script>alert(1)</script> {{script}} {{data}}",
    "]]>&amp;<!-- <img src=x onerror=alert(1)> \x1b[31m\x07\x00\x85",
    "\u202egnp.exe\u202c \u2028\u2029 \ufffe קפה",
    "![pixel](http://example.org/p.png) [link](javascript:alert(1)) `code` *bold* __init__",
    "# heading\r\n> quote\r- item\n\n    code",
    "half \ud83d an emoji",
)


OUTSIDE = re.compile(r"https?:|//\w|url\(|@import|\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|import\(|innerHTML|eval\(")


def text(memory: PersonaMemory, form: Format) -> str:
    return "".join(memory.export_text(form))


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Statements, answers, sessions and names that try to be more than words."""
    with opened(tmp_path, model()) as memory:
        for day, words in enumerate(HOSTILE):
            memory.remember(words, on_day(day))
        memory.observe([said(f"{words} again", day, session=words, reply=words) for day, words in enumerate(HOSTILE)])
    return tmp_path


# ------------------------------------------------------------------ Markdown


def test_dossier_tells_what_me_people_and_timeline_tell(full: Path) -> None:
    with opened(full) as memory:
        lines = text(memory, Format.MARKDOWN).splitlines()
        shown = memory.me()
        people = list(memory.people)
        facts = memory.people.all_facts(current=False)
        events = memory.timeline()
    sections = [line for line in lines if line.startswith("## ")]
    assert sections == ["## What lasts", "## What holds now", "## What changed", "## Who and what you speak of", "## Timeline"]
    assert all(any(f"**{one.node.id}**" in line and for_markdown(one.node.text) in line for line in lines) for one in shown.ranked)
    assert [line.split(maxsplit=2)[1:] for line in lines if line.startswith("### ")] == [[one.id, one.name] for one in people]
    assert all(any(line.startswith(f"- **{fact.id}** ") for line in lines) for fact in facts)
    assert len(lines) - lines.index("## Timeline") - 2 == len(events)


def test_every_entry_of_the_dossier_names_its_source_with_its_day(full: Path) -> None:
    with opened(full) as memory:
        lines = text(memory, Format.MARKDOWN).splitlines()
    entries = [line for line in lines if line.startswith("- ")]
    assert entries
    assert [line for line in entries if not re.search(r" — from c\d+( c\d+)* of (\d{4}-\d\d-\d\d|undated)", line)] == []


def test_dossier_says_what_changed_when_and_to_what(full: Path) -> None:
    with opened(full) as memory:
        found = text(memory, Format.MARKDOWN)
    assert re.search(r"\*\*s1\*\* 2026-01-01 User drinks espresso.* → since 2026-01-02 \*\*s2\*\* User drinks jasmine tea", found)
    assert re.search(r"\*\*f\d+\*\* 2026-01-11 earlier: My flatmate Toby moved to Graz\. → now \*\*f\d+\*\*", found)
    assert "(your words)" in found
    assert "(pinned)" in found


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("# heading", "\\# heading"),
        ("1. item", "1\\. item"),
        ("- item\n\n- another", "\\- item - another"),
        ("![p](http://example.org/p.png)", "!\\[p\\](http://example.org/p.png)"),
        ("<img src=x> &amp;", "\\<img src=x> \\&amp;"),
        ("snake_case _so_ **b** `c`", "snake_case \\_so\\_ \\*\\*b\\*\\* \\`c\\`"),
        ("At 12:30, 3.5 km (by bus).", "At 12:30, 3.5 km (by bus)."),
        ("a\\[b", "a\\\\\\[b"),
    ],
)
def test_no_character_is_markup_in_the_dossier(words: str, written: str) -> None:
    assert for_markdown(words) == written


def test_hostile_words_stay_on_their_line_of_the_dossier(hostile: Path) -> None:
    with opened(hostile) as memory:
        lines = text(memory, Format.MARKDOWN).splitlines()
    assert all(re.fullmatch(r"|# What is.*|## .*|- (\d{4}-\d\d-\d\d )?\*\*.*|\d+ lines.*", line) for line in lines)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e]", "".join(lines))
    assert not re.search(r"(?<!\\)[<\[`]", "".join(lines).replace("`pgmem why ID`", "").replace("`pgmem get ID`", ""))


# ------------------------------------------------------------------ GraphML


def opened_graph(found: str, path: Path) -> Any:
    path.write_text(found, encoding="utf-8", newline="\n")
    return networkx.read_graphml(path)


def test_graphml_opens_in_networkx_with_every_node_and_edge(full: Path, tmp_path: Path) -> None:
    with opened(full) as memory:
        graph = opened_graph(text(memory, Format.GRAPHML), tmp_path / "memory.graphml")
        contents, people = memory.store.contents(), memory.people
    assert set(graph) == {one.id for one in (*contents.nodes, *people, *people.all_facts(current=False))}
    for node in contents.nodes:
        kept = graph.nodes[node.id]
        assert (kept["kind"], kept["text"]) == (node.kind.value, node.text)
        assert kept.get("timestamp") == (node.moment.isoformat() if node.moment else None)
    edges = {(source, target, kept["relation"]) for source, target, kept in graph.edges(data=True)}
    assert {(one.source, one.derived, "source") for one in contents.sources} <= edges
    related = [one for one in contents.judgements if one.relation is not Relation.IRRELEVANT]
    for one in related:
        kept = graph.get_edge_data(one.source, one.target)
        kept = kept if "relation" in kept else next(each for each in kept.values() if each["relation"] == one.relation.value)
        assert (kept["relation"], kept["probability"], kept["judge"]) == (one.relation.value, one.probability, one.judge)
    assert graph.nodes["s1"]["status"] == "changed"
    assert graph.nodes["s4"]["pinned"] is True


def test_hostile_words_come_out_of_graphml_as_they_were(hostile: Path, tmp_path: Path) -> None:
    with opened(hostile) as memory:
        graph = opened_graph(text(memory, Format.GRAPHML), tmp_path / "memory.graphml")
        stated = memory.graph.of_kind(Kind.STATE)
    unspeakable = dict.fromkeys([*range(9), 11, 12, *range(14, 32), 0xFFFE])
    for state in stated:
        assert graph.nodes[state.id]["text"] == state.text.translate(unspeakable)
    assert len(stated) == len(HOSTILE)


# ------------------------------------------------------------------ HTML


class Page(HTMLParser):
    """The elements of a page in order, and the text of its scripts and styles."""

    def __init__(self, found: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self.feed(found)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] in self.inside and data.strip():
            self.inside[self.elements[-1][0]].append(data)


def test_page_holds_everything_as_data(full: Path) -> None:
    with opened(full) as memory:
        page = Page(text(memory, Format.HTML))
        contents, people = memory.store.contents(), memory.people
    data = json.loads(page.inside["script"][0])
    known = [*contents.nodes, *people, *people.all_facts(current=False)]
    assert [one["id"] for one in data["things"]] == [one.id for one in known]
    assert len(data["links"]) > len(contents.sources)
    kept = {one["id"]: one for one in data["things"]}
    assert kept["s1"]["status"] == "changed"
    assert kept["s4"]["pinned"] is True


def test_page_allows_no_request_and_no_script_but_its_own(full: Path) -> None:
    with opened(full) as memory:
        page = Page(text(memory, Format.HTML))
    (policy,) = [kept["content"] for tag, kept in page.elements if kept.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == hashed(page.inside["script"][1])
    assert rules["style-src"] == hashed(page.inside["style"][0])
    place = [kept.get("http-equiv") == "Content-Security-Policy" for _, kept in page.elements].index(True)
    assert {tag for tag, _ in page.elements[:place]} == {"html", "head", "meta"}, "a policy rules only what comes after it"


def hashed(inline: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()}'"


def test_page_refers_to_nothing_outside(full: Path) -> None:
    with opened(full) as memory:
        found = text(memory, Format.HTML)
    page = Page(found)
    own = re.sub(r'content="default-src[^"]+"', "", found.replace(page.inside["script"][0], ""))
    assert OUTSIDE.findall(own) == []
    assert not any(name in kept for _, kept in page.elements for name in ("src", "href", "action", "style", "srcset"))
    assert not any(name.startswith("on") for _, kept in page.elements for name in kept)


def test_hostile_words_are_data_in_the_page(hostile: Path, tmp_path: Path) -> None:
    with opened(hostile) as memory, opened(tmp_path / "empty") as empty:
        found = text(memory, Format.HTML)
        page, plain = Page(found), Page(text(empty, Format.HTML))
        states = [node.id for node in memory.graph.of_kind(Kind.STATE)]
    assert page.elements == plain.elements
    assert page.inside["script"][1] == plain.inside["script"][1]
    assert found.isascii() or not re.search("[\u202a-\u202e\u2066-\u2069]", found)
    kept = {one["id"]: one["text"] for one in json.loads(page.inside["script"][0])["things"]}
    assert kept[states[0]] == HOSTILE[0]
    assert "<img src=x onerror=alert(1)>" in kept[states[1]]
    assert "\x1b" not in kept[states[1]]


def test_empty_memory_has_every_form(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        assert text(memory, Format.MARKDOWN).startswith("# What is remembered of you\n\n0 lines")
        assert len(opened_graph(text(memory, Format.GRAPHML), tmp_path / "empty.graphml")) == 0
        assert '"things":[]' in text(memory, Format.HTML)


@pytest.mark.parametrize("name", ["m.jsonl", "m.ndjson", "m.MD", "m.markdown", "m.graphml", "m.html", "m.htm"])
def test_ending_names_the_form(name: str, full: Path, tmp_path: Path) -> None:
    with opened(full) as memory:
        done = memory.export(tmp_path / name)
        assert done.path.read_text(encoding="utf-8") == text(memory, done.format)
