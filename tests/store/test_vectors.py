from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pgmem_local.errors import StoreError, UnknownNode
from pgmem_local.graph.nodes import Kind, NodeId
from pgmem_local.ports import VectorSearch
from pgmem_local.store import MemoryStore, VectorIndexes
from pgmem_local.store.searchers import ExactSearcher, HnswSearcher
from tests.store.builders import DIMENSION, arrival, delete, open_store, state_lesson, vector

QUERY = vector("what is asked")
EXACT, GRAPH = 1000, 1
"""exact_below so that a few vectors are searched exactly, or by hnswlib."""

both_searches = pytest.mark.parametrize("exact_below", [EXACT, GRAPH], ids=["exact", "hnsw"])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with open_store(tmp_path) as opened:
        yield opened


def add(store: MemoryStore, *texts: str) -> list[NodeId]:
    return list(store.add([arrival(text) for text in texts]).new)


def add_many(store: MemoryStore, count: int) -> list[NodeId]:
    return add(store, *(f"entry {number}" for number in range(count)))


def nearest(indexes: VectorIndexes, limit: int = 10) -> list[NodeId]:
    return [identifier for identifier, _ in indexes.nearest(Kind.CONTEXT, QUERY, limit)]


def truth(store: MemoryStore, limit: int = 10) -> list[NodeId]:
    rows = store.vector_rows(Kind.CONTEXT)
    return [rows.ids[row] for row in np.argsort(-(rows.matrix @ QUERY), kind="stable")[:limit]]


def searcher(indexes: VectorIndexes) -> object:
    return indexes._searchers[Kind.CONTEXT]


def test_it_is_a_vector_search(store: MemoryStore) -> None:
    search: VectorSearch = VectorIndexes(store)
    assert search.nearest(Kind.TRAIT, QUERY, 3) == []


@both_searches
def test_hits_are_the_nearest_with_their_cosines_best_first(store: MemoryStore, exact_below: int) -> None:
    add_many(store, 50)
    hits = VectorIndexes(store, exact_below).nearest(Kind.CONTEXT, QUERY, 10)
    assert [identifier for identifier, _ in hits] == truth(store)
    expected = store.vectors_of([identifier for identifier, _ in hits]) @ QUERY
    np.testing.assert_allclose([cosine for _, cosine in hits], expected, atol=1e-6)


@both_searches
def test_kinds_are_searched_apart(store: MemoryStore, exact_below: int) -> None:
    (source,) = add(store, "one")
    store.land(state_lesson(store, "likes one", source))
    indexes = VectorIndexes(store, exact_below)
    assert [hit for hit, _ in indexes.nearest(Kind.STATE, QUERY, 5)] == ["s1"]
    assert nearest(indexes) == [source]


# More asked than exist (D3-01)


@both_searches
def test_an_empty_store_has_no_hits(store: MemoryStore, exact_below: int) -> None:
    assert nearest(VectorIndexes(store, exact_below)) == []


@both_searches
@pytest.mark.parametrize("limit", [0, 1, 3, 10])
def test_no_more_hits_than_exist_or_are_asked(store: MemoryStore, exact_below: int, limit: int) -> None:
    add_many(store, 3)
    assert nearest(VectorIndexes(store, exact_below), limit) == truth(store, limit)


@both_searches
def test_after_deleting_all_but_one_there_is_one_hit(store: MemoryStore, exact_below: int) -> None:
    first, *others = add_many(store, 5)
    indexes = VectorIndexes(store, exact_below)
    delete(store, others)
    indexes.refresh()
    assert nearest(indexes) == [first]
    delete(store, [first])
    indexes.refresh()
    assert nearest(indexes) == []


def test_where_the_graph_reaches_too_few_the_search_is_exact(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    add_many(store, 20)
    indexes = VectorIndexes(store, GRAPH)
    graph = searcher(indexes)
    assert isinstance(graph, HnswSearcher)

    class TornGraph:
        def set_ef(self, ef: int) -> None: ...

        def knn_query(self, query: object, k: int) -> None:
            raise RuntimeError("Cannot return the results in a contiguous 2D array")

    monkeypatch.setattr(graph, "_index", TornGraph())
    assert nearest(indexes) == truth(store)


# Delete, add again, update (D3-02)


@both_searches
def test_deleted_node_is_never_a_hit(store: MemoryStore, exact_below: int) -> None:
    identifiers = add_many(store, 30)
    indexes = VectorIndexes(store, exact_below)
    best = nearest(indexes, 1)
    delete(store, best)
    indexes.refresh()
    assert best[0] not in nearest(indexes, len(identifiers))
    assert nearest(indexes) == truth(store)


@both_searches
def test_what_is_added_again_is_one_hit_under_a_new_id(store: MemoryStore, exact_below: int) -> None:
    add_many(store, 5)
    indexes = VectorIndexes(store, exact_below)
    for _ in range(3):
        (old,) = [identifier for identifier in store.vector_ids(Kind.CONTEXT) if store.node(identifier).text == "entry 0"]
        delete(store, [old])
        indexes.refresh()
        (new,) = add(store, "entry 0")
        indexes.add([new], vector("entry 0")[np.newaxis])
        hits = nearest(indexes)
        assert old not in hits
        assert sorted(hits) == sorted(store.vector_ids(Kind.CONTEXT))


@both_searches
def test_an_updated_vector_is_found_at_its_new_place_only(store: MemoryStore, exact_below: int) -> None:
    identifiers = add_many(store, 5)
    indexes = VectorIndexes(store, exact_below)
    indexes.add(identifiers[:1], -QUERY[np.newaxis])
    indexes.add(identifiers[:1], QUERY[np.newaxis])
    hits = nearest(indexes)
    assert hits[0] == identifiers[0]
    assert sorted(hits) == sorted(identifiers)


@pytest.mark.parametrize("kind", [ExactSearcher, HnswSearcher.build])
def test_a_removed_number_that_is_added_again_is_live_once(kind: Callable[..., ExactSearcher | HnswSearcher]) -> None:
    rows = np.stack([vector(str(number)) for number in range(3)])
    search = kind([0, 1, 2], rows)
    search.remove([1, 1, 7])
    search.add([1], rows[1:2])
    assert search.numbers == {0, 1, 2}
    assert sorted(number for number, _ in search.nearest(QUERY, 10)) == [0, 1, 2]


# Growing and following others


def test_a_kind_that_grows_large_moves_from_exact_search_to_hnsw(store: MemoryStore) -> None:
    indexes = VectorIndexes(store, exact_below=20)
    for start in range(0, 40, 5):
        texts = [f"entry {number}" for number in range(start, start + 5)]
        indexes.add(add(store, *texts), np.stack([vector(text) for text in texts]))
        assert isinstance(searcher(indexes), ExactSearcher if start < 15 else HnswSearcher)
        assert nearest(indexes) == truth(store)


@both_searches
def test_refresh_follows_what_another_process_wrote(store: MemoryStore, tmp_path: Path, exact_below: int) -> None:
    identifiers = add_many(store, 10)
    indexes = VectorIndexes(store, exact_below)
    with open_store(tmp_path) as other:
        add(other, "later")
        delete(other, identifiers[:2])
    indexes.refresh()
    assert nearest(indexes, 20) == truth(store, 20)


@both_searches
def test_refresh_follows_a_change_of_the_embedder(store: MemoryStore, exact_below: int) -> None:
    identifiers = add_many(store, 10)
    indexes = VectorIndexes(store, exact_below)
    store.replace_vectors("hash-4", {identifier: vector(identifier, 4) for identifier in identifiers})
    indexes.refresh()
    (best, cosine), *_ = indexes.nearest(Kind.CONTEXT, vector("c7", 4), 3)
    assert (best, round(cosine, 5)) == ("c7", 1.0)


def test_vectors_are_the_stored_ones_in_the_order_asked(store: MemoryStore) -> None:
    add(store, "one", "two")
    indexes = VectorIndexes(store)
    rows = indexes.vectors([NodeId("c2"), NodeId("c1")])
    np.testing.assert_array_equal(rows, np.stack([vector("two"), vector("one")]))
    assert indexes.vectors([]).shape == (0, DIMENSION)
    with pytest.raises(UnknownNode, match="c9"):
        indexes.vectors([NodeId("c9")])


# Files (D3-03)


def index_file(store: MemoryStore) -> Path:
    (path,) = store.place.index_folder.glob("context.*.hnsw")
    return path


def side_file(store: MemoryStore) -> Path:
    return store.place.index_folder / "index.json"


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


def note(path: Path, **fields: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


DAMAGE: dict[str, Callable[[MemoryStore], object]] = {
    "index missing": lambda store: index_file(store).unlink(),
    "index empty": lambda store: index_file(store).write_bytes(b""),
    "index cut": lambda store: cut(index_file(store)),
    "index changed": lambda store: flip(index_file(store)),
    "side file missing": lambda store: side_file(store).unlink(),
    "side file empty": lambda store: side_file(store).write_bytes(b""),
    "side file cut": lambda store: cut(side_file(store)),
    "side file of another form": lambda store: side_file(store).write_text("[1, 2]"),
    "side file not text": lambda store: side_file(store).write_bytes(b"\xff\xfe\x00"),
    "another dimension noted": lambda store: note(side_file(store), dimension=16),
    "another embedder noted": lambda store: note(side_file(store), identity="other"),
    "another format noted": lambda store: note(side_file(store), format=2),
    "unknown kind noted": lambda store: note(side_file(store), kinds={"dream": {}}),
    "all of it missing": lambda store: shutil.rmtree(store.place.index_folder),
}


@pytest.fixture
def saved(store: MemoryStore) -> MemoryStore:
    """A store of 60 vectors whose index was saved."""
    add_many(store, 60)
    VectorIndexes(store, GRAPH).save()
    return store


def builds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the indexes built from now on."""
    sizes: list[int] = []
    build = HnswSearcher.build

    def counted(numbers: list[int], vectors: np.ndarray) -> HnswSearcher:
        sizes.append(len(numbers))
        return build(numbers, vectors)

    monkeypatch.setattr(HnswSearcher, "build", counted)
    return sizes


def test_a_saved_index_is_used_as_it_is(saved: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = builds(monkeypatch)
    indexes = VectorIndexes(saved, GRAPH)
    assert nearest(indexes) == truth(saved)
    assert 60 not in sizes


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_noticed_and_the_index_built_anew(saved: MemoryStore, monkeypatch: pytest.MonkeyPatch, damage: str) -> None:
    DAMAGE[damage](saved)
    sizes = builds(monkeypatch)
    with open_store(saved.place.home) as store:
        indexes = VectorIndexes(store, GRAPH)
        assert nearest(indexes) == truth(store)
        assert 60 in sizes
        indexes.save()
        sizes.clear()
        assert nearest(VectorIndexes(store, GRAPH)) == truth(store)
        assert 60 not in sizes


def test_an_index_older_than_the_database_is_brought_up_to_it(saved: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    add(saved, "one more", "and one")
    sizes = builds(monkeypatch)
    assert nearest(VectorIndexes(saved, GRAPH), 62) == truth(saved, 62)
    assert 62 not in sizes


def test_an_index_that_holds_what_was_deleted_is_built_anew(saved: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    delete(saved, truth(saved, 1))
    sizes = builds(monkeypatch)
    assert nearest(VectorIndexes(saved, GRAPH)) == truth(saved)
    assert 59 in sizes


def test_an_index_of_another_memory_with_the_same_ids_is_not_believed(saved: MemoryStore, tmp_path: Path) -> None:
    with open_store(tmp_path, profile="other") as other:
        add(other, *(f"something else {number}" for number in range(60)))
        VectorIndexes(other, GRAPH).save()
        shutil.rmtree(saved.place.index_folder)
        shutil.copytree(other.place.index_folder, saved.place.index_folder)
    assert nearest(VectorIndexes(saved, GRAPH)) == truth(saved)


def test_an_index_of_another_dimension_under_our_name_is_not_opened(saved: MemoryStore, tmp_path: Path) -> None:
    with MemoryStore.open(tmp_path, "wide") as wide:
        wide.expect_vectors("hash-16", 16)
        wide.add([replace(arrival(f"entry {number}"), vector=vector(f"entry {number}", 16)) for number in range(60)])
        VectorIndexes(wide, GRAPH).save()
        index_file(saved).write_bytes(index_file(wide).read_bytes())
    assert nearest(VectorIndexes(saved, GRAPH)) == truth(saved)


def test_saved_files_hold_no_vector_that_was_deleted(saved: MemoryStore) -> None:
    gone = truth(saved, 1)
    number = saved.vectors_of(gone).tobytes()
    assert number in index_file(saved).read_bytes()
    indexes = VectorIndexes(saved, GRAPH)
    delete(saved, gone)
    indexes.refresh()
    indexes.save()
    assert number not in index_file(saved).read_bytes()
    assert nearest(indexes) == truth(saved)


def test_saving_leaves_no_file_but_those_it_names(saved: MemoryStore) -> None:
    for number in range(3):
        (saved.place.index_folder / "context.1.tmp").write_bytes(b"left by a process that died")
        indexes = VectorIndexes(saved, GRAPH)
        indexes.add(add(saved, f"more {number}"), vector(f"more {number}")[np.newaxis])
        indexes.save()
    named = {entry["name"] for entry in json.loads(side_file(saved).read_text())["kinds"].values()}
    assert {path.name for path in saved.place.index_folder.iterdir()} == named | {"index.json"}


def test_nothing_is_written_where_nothing_changed(saved: MemoryStore) -> None:
    before = side_file(saved).stat()
    indexes = VectorIndexes(saved, GRAPH)
    indexes.save()
    assert side_file(saved).stat() == before


def test_a_disk_that_refuses_the_index_gives_a_clear_error(saved: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    indexes = VectorIndexes(saved, GRAPH)
    indexes.add(add(saved, "more"), vector("more")[np.newaxis])

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(StoreError, match="cannot save the search index"):
        indexes.save()
