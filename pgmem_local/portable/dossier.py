"""A memory as a Markdown file that its owner reads: what lasts, what holds now, what changed and when, who is who, what happened.

Every line names the node it shows and, by day, the lines of the diary it rests on, for `pgmem why ID` and `pgmem get ID`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from pgmem_local.conversation import Moment, written_day
from pgmem_local.graph.nodes import Kind, Node, NodeId
from pgmem_local.graph.people import Entity, Fact, FactId, Sentence
from pgmem_local.graph.timeline import Event, EventKind, timeline
from pgmem_local.portable.plain import for_markdown
from pgmem_local.portable.view import Standing, View


def lines(view: View) -> Iterator[str]:
    """The dossier, line by line."""
    yield from (f"{line}\n" for line in _Dossier(view).lines())


class _Dossier:
    def __init__(self, view: View) -> None:
        self._view, self._graph, self._people = view, view.graph, view.people

    def lines(self) -> Iterator[str]:
        contexts = [one.node.moment for one in self._view.contents.contexts]
        yield "# What is remembered of you"
        yield ""
        yield f"{_number(len(contexts), 'line')}{_span(contexts)}. Ids are for `pgmem why ID` and `pgmem get ID`."
        yield from _section("What lasts", [self._note(one) for one in self._standing(Kind.TRAIT, Standing.LASTING)])
        yield from _section("What the evidence is divided on", self._challenged())
        yield from _section("What holds now", [self._note(one) for one in self._standing(Kind.STATE, Standing.NOW)])
        yield from _section("What changed", [self._changed(one) for one in self._standing(Kind.STATE, Standing.CHANGED)])
        yield from self._everybody()
        yield from _section("Timeline", [self._event(one) for one in timeline(self._graph, self._people)])

    def _standing(self, kind: Kind, standing: Standing) -> list[Node]:
        """Nodes of a kind that stand so, in order of time."""
        found = [node for node in self._graph.of_kind(kind) if self._view.standing.get(node.id) is standing]
        return sorted(found, key=lambda node: (node.moment is None, node.moment.utc.timestamp() if node.moment else 0.0))

    # notes

    def _note(self, node: Node) -> str:
        pinned, stated = node.id in self._graph.pinned, self._graph.is_stated(node.id)
        marks = [*(["pinned"] if pinned else []), *(["your words"] if stated else [])]
        told = f" ({', '.join(marks)})" if marks else ""
        return f"- **{node.id}** {written_day(node.moment)} {for_markdown(node.text)}{told}{self._rests_on([node.id])}"

    def _challenged(self) -> Iterator[str]:
        for node in self._standing(Kind.TRAIT, Standing.CHALLENGED):
            yield self._note(node)
            for _, sign, edge in self._graph.steps(node.id):
                other = self._graph[edge.target if edge.source == node.id else edge.source]
                yield f"  - {'for' if sign.value == '+' else 'against'} it: {self._note(other).removeprefix('- ')}"

    def _changed(self, node: Node) -> str:
        newer = [self._graph[one] for one in self._graph.replaced_by(node.id)]
        since = "; ".join(f"since {written_day(one.moment)} **{one.id}** {for_markdown(one.text)}" for one in newer)
        return f"{self._note(node)}{f' → {since}' if since else ''}"

    def _rests_on(self, identifiers: Iterable[NodeId]) -> str:
        """The Contexts behind nodes, by day."""
        behind = dict.fromkeys(line for one in identifiers for line in self._graph.contexts_behind(one))
        by_day: defaultdict[str, list[str]] = defaultdict(list)
        for line in behind:
            by_day[written_day(self._graph[line].moment)].append(line)
        told = "; ".join(f"{' '.join(by_day[day])} of {day}" for day in sorted(by_day))
        return f" — from {told}" if told else ""

    # others

    def _everybody(self) -> Iterator[str]:
        if len(self._people):
            yield from ("", "## Who and what you speak of")
        for one in self._people:
            yield from self._card(one)

    def _card(self, one: Entity) -> Iterator[str]:
        what = [one.kind.value, *([f"your {for_markdown(one.relation)}"] if one.relation else [])]
        if one.aliases:
            what.append(f"also called {', '.join(map(for_markdown, one.aliases))}")
        yield from ("", f"### {one.id} {for_markdown(one.name)}", "")
        yield f"{', '.join(what)}; spoken of from {written_day(one.first)} to {written_day(one.last)}"
        yield ""
        yield from (self._sentence(sentence) for sentence in self._people.profile(one.id).sentences)
        yield from (self._fact(fact) for fact in self._people.facts(one.id, current=False))

    def _sentence(self, sentence: Sentence) -> str:
        return f"- {for_markdown(sentence.text)}{self._rests_on(sentence.sources)}"

    def _fact(self, fact: Fact) -> str:
        text = for_markdown(fact.text)
        replaced = f" → now **{fact.replaced_by}**" if fact.replaced_by else ""
        when = for_markdown(fact.when) if fact.when else written_day(fact.said)
        return f"- **{fact.id}** {when} {'earlier: ' if replaced else ''}{text}{replaced}{self._rests_on(fact.sources)}"

    # timeline

    def _event(self, event: Event) -> str:
        ended = f" (until {written_day(event.ended)})" if event.ended else ""
        when = f"{for_markdown(event.when)}{' (uncertain)' if event.doubtful else ''}"
        sources = self._people.fact(FactId(event.id)).sources if event.kind is EventKind.FACT else [NodeId(event.id)]
        return f"- {when} **{event.id}** {for_markdown(event.text)}{ended}{self._rests_on(sources)}"


def _section(title: str, listed: Iterable[str]) -> Iterator[str]:
    entries = list(listed)
    if entries:
        yield from ("", f"## {title}", "", *entries)


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _span(moments: Sequence[Moment | None]) -> str:
    days = sorted(moment.day.isoformat() for moment in moments if moment is not None)
    return f" from {days[0]} to {days[-1]}" if days else ""
