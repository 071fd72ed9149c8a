from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pgmem_local.conversation import Moment
from pgmem_local.errors import StoreBusy, StoreError, UnknownNode
from pgmem_local.graph.edges import Judgement, Relation, SourceEdge
from pgmem_local.graph.nodes import Context, Episode, Kind, Node, NodeId, Polarity, RecallPriority, Scope, State, Trait
from pgmem_local.lesson import Lesson
from pgmem_local.ports import Spent
from pgmem_local.store import Added, MemoryStore
from tests.store.builders import DIMENSION, arrival, at, delete, open_store, state_lesson, vector


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with open_store(tmp_path) as opened:
        yield opened


def dump(store: MemoryStore) -> list[str]:
    with sqlite3.connect(store.place.database) as connection:
        return list(connection.iterdump())


def one_context(store: MemoryStore, text: str = "I like tea") -> NodeId:
    return store.add([arrival(text, at(0))]).new[0]


# What goes in comes out

texts = st.text(st.characters(), max_size=60)
whole_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
words = st.frozensets(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12), max_size=4)
offsets = st.integers(-23 * 60, 23 * 60)
instants = st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=st.just(timezone.utc))
moments = st.none() | st.builds(Moment, instants, offsets)
common = {"text": whole_texts, "moment": moments, "keywords": words, "domains": words}
nodes = st.one_of(
    st.builds(Episode, id=st.just(NodeId("e1")), **common, scope=st.sampled_from(Scope)),
    st.builds(Trait, id=st.just(NodeId("t1")), **common, scope=st.sampled_from(Scope)),
    st.builds(
        State,
        id=st.just(NodeId("s1")),
        **common,
        scope=st.sampled_from(Scope),
        priority=st.sampled_from(RecallPriority),
        polarity=st.sampled_from(Polarity),
    ),
)
property_test = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@property_test
@given(node=nodes)
def test_a_note_comes_back_as_it_went_in(store: MemoryStore, node: Node) -> None:
    store.land(Lesson(nodes=(node,), vectors={node.id: vector(node.text)}))
    try:
        assert store.node(node.id) == node
        assert store.load_graph()[node.id] == node
    finally:
        delete(store, [node.id])


@property_test
@given(text=whole_texts, moment=moments, session=st.none() | whole_texts, reply=st.none() | whole_texts)
def test_an_exchange_comes_back_verbatim(
    store: MemoryStore, text: str, moment: Moment | None, session: str | None, reply: str | None
) -> None:
    came = arrival(text, moment, session, reply)
    (identifier,) = store.add([came]).new
    try:
        expected = Context(identifier, text, moment, came.keywords, came.domains, came.exchange.key, session, reply)
        assert store.node(identifier) == expected
    finally:
        delete(store, [identifier])


@property_test
@given(text=texts)
def test_any_python_string_can_be_stored_and_is_known_again(store: MemoryStore, text: str) -> None:
    came = arrival(text, session=text, reply=text)
    (identifier,) = store.add([came]).new
    try:
        assert store.add([came]) == Added((), known=1)
        store.node(identifier).text.encode("utf-8")
    finally:
        delete(store, [identifier])


def test_half_an_emoji_is_replaced_and_two_halves_are_joined(store: MemoryStore) -> None:
    lone, joined = store.add([arrival("half \ud83d here"), arrival("\ud83d\ude00")]).new
    assert store.node(lone).text == "half \ufffd here"
    assert store.node(joined).text == "😀"


# Turns come in

def test_adding_what_is_known_changes_no_row(store: MemoryStore) -> None:
    arrivals = [arrival("one", at(0), reply="yes"), arrival("two", at(1)), arrival("three")]
    assert store.add([*arrivals, arrivals[0]]) == Added((NodeId("c1"), NodeId("c2"), NodeId("c3")), known=1)
    before, revision = dump(store), store.revision
    assert store.add([replace(one, vector=None) for one in arrivals]) == Added((), known=3)
    assert dump(store) == before
    assert store.revision == revision


def test_known_keys_are_those_that_are_stored(store: MemoryStore) -> None:
    stored, other = arrival("one", at(0)), arrival("two", at(0))
    store.add([stored])
    assert store.known_keys([stored.exchange.key, other.exchange.key]) == {stored.exchange.key}


def test_a_missing_reply_is_filled_in_but_none_is_overwritten(store: MemoryStore) -> None:
    identifier = one_context(store)
    answered = arrival("I like tea", at(0), reply="noted")
    assert store.add([answered]) == Added((), completed=(NodeId("c1"),))
    assert store.add([arrival("I like tea", at(0), reply="something else")]) == Added((), known=1)
    context = store.node(identifier)
    assert isinstance(context, Context)
    assert context.reply == "noted"
    assert store.counts()["context"] == 1


def test_arrivals_are_stored_all_or_none(store: MemoryStore) -> None:
    with pytest.raises(StoreError, match="without its vector"):
        store.add([arrival("fine"), replace(arrival("bare"), vector=None)])
    assert store.counts()["context"] == 0
    assert store.counts()["chunks"] == 0


# What was learned

def test_a_lesson_lands_whole(store: MemoryStore) -> None:
    source = one_context(store)
    store.land(state_lesson(store, "likes tea", source, closes=1))
    state = NodeId("s1")
    graph = store.load_graph()
    assert graph.sources(state) == [source]
    assert store.pending() == []
    assert store.unconsolidated_chunks() == [1]
    assert store.spent() == {"extract": Spent(1, 0, 100, 50, 7, 0.5)}
    assert store.counts()["turns_learned"] == 1
    np.testing.assert_array_equal(store.vectors_of([state])[0], vector("likes tea"))
    assert store.integrity_check() == []


def test_a_lesson_that_fails_at_its_last_row_leaves_nothing(store: MemoryStore) -> None:
    source = one_context(store)
    lesson = state_lesson(store, "likes tea", source)
    before = dump(store)
    broken = replace(lesson, judgements=(Judgement(source, NodeId("s99"), Relation.SUPPORT, 0.9, "test"),))
    with pytest.raises(StoreError):
        store.land(broken)
    assert dump(store) == before
    assert store.pending() == [(source, 1)]
    store.land(lesson)
    assert store.counts()["state"] == 1


def test_costs_add_up_over_lessons(store: MemoryStore) -> None:
    source = one_context(store)
    for text in ("one", "two"):
        store.land(state_lesson(store, text, source))
    assert store.spent() == {"extract": Spent(2, 0, 200, 100, 14, 1.0)}
    assert store.counts()["turns_learned"] == 1


def test_a_pair_is_judged_once_in_either_order(store: MemoryStore) -> None:
    one, two = store.add([arrival("one", at(0)), arrival("two", at(1))]).new
    store.land(Lesson(judgements=(Judgement(one, two, Relation.SUPPORT, 0.9, "first"),)))
    store.land(Lesson(judgements=(Judgement(two, one, Relation.CONTRADICT, 0.8, "second"),)))
    graph = store.load_graph()
    assert [edge.relation for edge in graph.evidence(one)] == [Relation.SUPPORT]
    assert graph.judged(two, one)
    assert (store.counts()["support"], store.counts()["contradict"]) == (1, 0)


def test_an_irrelevant_pair_is_remembered_without_an_edge(store: MemoryStore) -> None:
    one, two = store.add([arrival("one", at(0)), arrival("two", at(1))]).new
    store.land(Lesson(judgements=(Judgement(one, two, Relation.IRRELEVANT, 0.9, "test"),)))
    graph = store.load_graph()
    assert graph.judged(one, two)
    assert graph.evidence(one) == []


def test_a_lesson_brings_each_node_with_a_vector_and_no_context(store: MemoryStore) -> None:
    lesson = state_lesson(store, "likes tea", one_context(store))
    with pytest.raises(StoreError, match="one vector each"):
        store.land(replace(lesson, vectors={}))
    context = Context(NodeId("c9"), "x", None, frozenset(), frozenset(), "key")
    with pytest.raises(StoreError, match="Contexts come in by `add`"):
        store.land(Lesson(nodes=(context,), vectors={context.id: vector("x")}))


@pytest.mark.parametrize("bad", [np.full(DIMENSION, np.nan, np.float32), np.ones(DIMENSION + 1, np.float32)])
def test_a_vector_that_cannot_be_compared_is_refused(store: MemoryStore, bad: np.ndarray) -> None:
    with pytest.raises(StoreError, match="shape"):
        store.add([replace(arrival("x"), vector=bad)])


# Ids

def test_ids_are_never_given_twice_even_after_deletion(store: MemoryStore, tmp_path: Path) -> None:
    source = one_context(store)
    first = state_lesson(store, "likes tea", source)
    assert store.next_id(Kind.STATE) == "s2"
    store.land(first)
    delete(store, [NodeId("s1"), source])
    assert store.next_id(Kind.STATE) == "s3"
    assert one_context(store) == "c2"
    with open_store(tmp_path) as again:
        assert again.next_id(Kind.STATE) == "s2"


def test_ids_that_another_process_landed_are_not_landed_over(store: MemoryStore, tmp_path: Path) -> None:
    source = one_context(store)
    with open_store(tmp_path) as other:
        ours, theirs = state_lesson(store, "ours", source), state_lesson(other, "theirs", source)
        other.land(theirs)
    with pytest.raises(StoreBusy, match="learn these turns again"):
        store.land(ours)
    assert store.node(NodeId("s1")).text == "theirs"
    store.land(state_lesson(store, "ours", source))
    assert store.node(NodeId("s2")).text == "ours"


def test_deleted_node_leaves_no_row_behind(store: MemoryStore) -> None:
    source = one_context(store, "zirconium")
    store.land(state_lesson(store, "zirconium again", source))
    delete(store, [source, NodeId("s1"), NodeId("s77")])
    assert not [line for line in dump(store) if "zirconium" in line]
    assert store.integrity_check() == []
    with pytest.raises(UnknownNode, match="c1"):
        store.node(source)


# Search by text

@pytest.mark.parametrize(
    ("term", "hits"),
    [
        ("a_b", {"c1"}),
        ("100%", {"c3"}),
        ("%", {"c3"}),
        ("_", {"c1"}),
        ("AXB", {"c2"}),
        ("咖啡", {"c4"}),
        ("אמא", {"c5"}),
        ("STRASSE", {"c6"}),
        ("caf\u00e9", {"c7"}),
        ("noted", {"c8"}),
        ("", set()),
        (" ", set()),
        ("their\ntag", {"c2"}),
        ("nowhere", set()),
        ("'; DROP TABLE nodes; --", set()),
    ],
)
def test_search_finds_exactly_what_is_written(store: MemoryStore, term: str, hits: set[str]) -> None:
    said = ["my tag is a_b", "their tag is aXb", "100% sure", "我喜欢咖啡", "דיברתי עם אמא", "Straße", "cafe\u0301"]
    store.add([*(arrival(text, at(0)) for text in said), arrival("hello", at(0), reply="Noted.")])
    assert set(store.search_text(term, limit=10)) == hits


def test_search_shows_the_newest_first_and_no_more_than_asked(store: MemoryStore) -> None:
    store.add([arrival("tea undated"), arrival("tea old", at(1)), arrival("tea new", at(2))])
    assert store.search_text("tea", limit=10) == ["c3", "c2", "c1"]
    assert store.search_text("tea", limit=1) == ["c3"]


# Vectors of one embedder

def test_vectors_of_another_embedder_are_refused_until_all_are_replaced(store: MemoryStore, tmp_path: Path) -> None:
    identifiers = [one_context(store, "one"), one_context(store, "two")]
    assert store.vector_identity() == "hash-8"
    with MemoryStore.open(tmp_path) as other:
        with pytest.raises(StoreError, match="embedded by hash-8"):
            other.expect_vectors("hash-4", 4)
        with pytest.raises(StoreBusy, match="1 nodes have no new vector"):
            other.replace_vectors("hash-4", {identifiers[0]: vector("one", 4)})
        other.replace_vectors("hash-4", {one: vector(one, 4) for one in identifiers})
        assert other.vector_rows(Kind.CONTEXT).matrix.shape == (2, 4)
        assert other.integrity_check() == []
    with pytest.raises(StoreError, match="embedded by hash-4"):
        one_context(store, "three")


def test_a_store_that_knows_no_embedder_takes_no_vectors(tmp_path: Path) -> None:
    with MemoryStore.open(tmp_path) as store:
        assert store.vector_identity() is None
        with pytest.raises(StoreError, match="expect_vectors"):
            one_context(store)


# Notes and figures

def test_every_write_raises_the_revision_by_one(store: MemoryStore) -> None:
    source = one_context(store)
    assert store.revision == 2  # the schema, then the exchange
    store.land(state_lesson(store, "likes tea", source))
    delete(store, [NodeId("s1")])
    delete(store, [NodeId("s1")])  # gone already: no write
    assert store.meta("turns_learned") == "1"
    assert store.meta("absent") is None
    assert store.revision == 4


def test_integrity_check_names_what_is_wrong(store: MemoryStore) -> None:
    source = one_context(store)
    store.land(state_lesson(store, "likes tea", source))
    with sqlite3.connect(store.place.database) as connection:
        connection.execute("DELETE FROM vectors WHERE node = 'c1'")
        connection.execute("DELETE FROM source_edges")
        connection.execute("DELETE FROM states")
    assert store.integrity_check() == [
        "a node without a vector: c1",
        "a state without priority and polarity: s1",
        "a note that rests on nothing: s1",
    ]


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.counts()


def test_sources_of_a_node_come_back_in_the_order_of_their_numbers(store: MemoryStore) -> None:
    contexts = store.add([arrival(f"entry {number}", at(number)) for number in range(12)]).new
    episode = Episode(store.next_id(Kind.EPISODE), "a day", at(12), frozenset(), frozenset())
    edges = tuple(SourceEdge(source, episode.id) for source in reversed(contexts))
    store.land(Lesson(nodes=(episode,), vectors={episode.id: vector("a day")}, sources=edges))
    assert store.load_graph().sources(episode.id) == list(contexts)


def test_moments_keep_the_instant_and_the_offset(store: MemoryStore) -> None:
    moment = Moment.of(datetime(2024, 12, 31, 23, 30, tzinfo=timezone(timedelta(hours=5, minutes=30))))
    (identifier,) = store.add([arrival("late", moment)]).new
    stored = store.node(identifier).moment
    assert stored == moment
    assert str(stored) == "2024-12-31T23:30:00+05:30"
