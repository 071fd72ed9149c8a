"""One HTML page with everything in it: a picture of the graph to zoom, search and click, and where each thing comes from.

The page asks for nothing: its policy allows no request of any kind and no script or style but the two it holds, known by their hashes.
What is remembered stands in it as JSON data, never as markup, and the script puts it in place as text.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

from pgmem_local.portable.plain import visible
from pgmem_local.portable.view import Link, LinkKind, Thing, View

_SLOT = re.compile(r"\{\{(\w+)\}\}")
_IN_MARKUP = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def pieces(view: View) -> Iterator[str]:
    """The page."""
    style, script = _part("page.css"), _part("page.js")
    policy = f"default-src 'none'; script-src {_hashed(script)}; style-src {_hashed(style)}; base-uri 'none'; form-action 'none'"
    yield _filled(_part("page.html"), {"policy": policy, "style": style, "script": script, "data": _data(view)})


def _part(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _filled(template: str, values: Mapping[str, str]) -> str:
    """All slots at once, so that no value can bring a slot with it."""
    return _SLOT.sub(lambda slot: values[slot[1]], template)


def _data(view: View) -> str:
    things = list(view.things())
    place = {one.id: number for number, one in enumerate(things)}
    value = {"things": [_thing(one) for one in things], "links": [_link(one, place) for one in view.links()]}
    return re.sub("[<>&]", lambda found: _IN_MARKUP[found[0]], json.dumps(value, separators=(",", ":")))


def _thing(one: Thing) -> dict[str, Any]:
    value = {
        "id": one.id,
        "kind": one.kind,
        "text": visible(one.text),
        "time": one.moment.isoformat() if one.moment else None,
        "at": one.moment.utc.timestamp() if one.moment else None,
        "status": one.standing.value,
        "pinned": one.pinned,
        "stated": one.stated,
        "session": one.session and visible(one.session),
        "author": one.author and visible(one.author),
        "reply": one.reply and visible(one.reply),
    }
    return {name: kept for name, kept in value.items() if kept not in (None, False)}


def _link(one: Link, place: Mapping[str, int]) -> list[Any]:
    """Both ends by place, the kind by its place among the kinds, then probability and judge."""
    ends = [place[one.source], place[one.target], list(LinkKind).index(one.kind)]
    return ends if one.judge is None else [*ends, one.probability, visible(one.judge)]
