"""GraphML, which networkx, Gephi and yEd open: every node with kind, text, time and status, every edge with relation and judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

from pgmem_local.portable.plain import for_xml
from pgmem_local.portable.view import Link, Thing, View

_NODE_KEYS = {
    "kind": "string", "text": "string", "timestamp": "string", "status": "string", "pinned": "boolean", "stated": "boolean",
    "session": "string", "author": "string", "reply": "string",
}  # fmt: skip
_EDGE_KEYS = {"relation": "string", "probability": "double", "judge": "string"}

Value = str | bool | float | None


def lines(view: View) -> Iterator[str]:
    """The file, element by element."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    yield from _keys("node", _NODE_KEYS)
    yield from _keys("edge", _EDGE_KEYS)
    yield '<graph id="memory" edgedefault="directed">\n'
    yield from (f"<node id={quoteattr(one.id)}>{_data('n', _thing(one))}</node>\n" for one in view.things())
    yield from (
        f'<edge id="e{number}" source={quoteattr(one.source)} target={quoteattr(one.target)}>{_data("e", _link(one))}</edge>\n'
        for number, one in enumerate(view.links(), 1)
    )
    yield "</graph>\n</graphml>\n"


def _keys(of: str, names: Mapping[str, str]) -> Iterator[str]:
    """An id of its own for each: a node's and an edge's attributes share one space of ids."""
    for name, kind in names.items():
        yield f'<key id="{of[0]}_{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>\n'


def _thing(one: Thing) -> dict[str, Value]:
    return {
        "kind": one.kind,
        "text": one.text,
        "timestamp": one.moment.isoformat() if one.moment else None,
        "status": one.standing.value,
        "pinned": one.pinned,
        "stated": one.stated,
        "session": one.session,
        "author": one.author,
        "reply": one.reply,
    }


def _link(one: Link) -> dict[str, Value]:
    return {"relation": one.kind.value, "probability": one.probability, "judge": one.judge}


def _data(of: str, values: Mapping[str, Value]) -> str:
    return "".join(f'<data key="{of}_{name}">{_written(value)}</data>' for name, value in values.items() if value is not None)


def _written(value: str | bool | float) -> str:
    if isinstance(value, str):
        return escape(for_xml(value), {"\r": "&#13;"})
    return str(value).lower() if isinstance(value, bool) else repr(value)
