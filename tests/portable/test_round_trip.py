"""What was exported comes in again: into nothing the same, into a part of it the rest, twice no more than once."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from pgmem_local.contents import Contents, Intake
from pgmem_local.errors import IngestError, StoreBusy, StoreError
from pgmem_local.graph.nodes import Kind
from pgmem_local.memory import PersonaMemory
from pgmem_local.store import MemoryStore
from tests.builders import on_day
from tests.control.conftest import content, opened, said
from tests.fakes import HashEmbedder
from tests.portable.conftest import DIARY, by_key, learn, model, told


def test_everything_occurs_in_what_is_exported(full: Path) -> None:
    with opened(full) as memory:
        contents = memory.store.contents()
    for name in ("chunks", "contexts", "notes", "sources", "judgements", "pins", "acts", "entities", "profiles", "facts"):
        assert getattr(contents, name), f"there are no {name}, so nothing is tested with them"
    assert {note.kind for note in contents.notes} == {Kind.EPISODE, Kind.STATE, Kind.TRAIT}
    assert {one.learned for one in contents.contexts} == {True, False}
    assert any(fact.replaced_by for fact in contents.facts)
    assert any(one.own_name for one in contents.entities)


def test_import_into_nothing_gives_the_same_memory(full: Path, exported: Path, tmp_path: Path) -> None:
    with opened(full) as memory, opened(tmp_path / "empty") as other:
        done = other.import_(exported)
        assert by_key(other.store.contents()) == by_key(memory.store.contents())
        assert told(other) == told(memory)
        assert other.store.integrity_check() == []
        assert {name: number for name, number in done.read.items() if name != "chunk"} == done.new
    with opened(tmp_path / "empty") as again:
        assert told(again)["me"]


def test_second_import_changes_no_row(exported: Path, tmp_path: Path) -> None:
    with opened(tmp_path / "empty") as memory:
        memory.import_(exported)
        before, revision = content(memory), memory.store.revision
        done = memory.import_(exported)
        assert content(memory) == before
        assert memory.store.revision == revision
        assert not any(done.new.values())


def test_own_export_changes_no_row(full: Path, exported: Path) -> None:
    with opened(full) as memory:
        before = content(memory)
        memory.import_(exported)
        assert content(memory) == before


def test_nothing_is_learned_again(exported: Path, tmp_path: Path) -> None:
    chat = model()
    with opened(tmp_path / "empty", chat) as memory:
        assert memory.import_(exported).pending == 3
        assert [memory.get(context).text for context, _ in memory.store.pending()] == ["It rained.", "See you at six.", "No date at all."]
        memory.learn()
        asked = "\n".join(asked.prompt.text for asked in chat.asked if asked.prompt.head.task == "state_probes")
        assert "It rained." in asked
        assert "espresso" not in asked


@pytest.mark.parametrize("learned", [True, False])
@pytest.mark.parametrize("part", [slice(0, 4), slice(2, None), slice(0, None, 2)])
def test_import_into_a_part_of_it_adds_the_rest(part: slice, learned: bool, full: Path, exported: Path, tmp_path: Path) -> None:
    home = tmp_path / "part"
    if learned:
        learn(home, DIARY[part], "diary.md")
    else:
        with opened(home) as memory:
            memory.observe(DIARY[part], "diary.md")
    with opened(full) as whole, opened(home) as memory:
        memory.import_(exported)
        wanted, got = (by_key(one.store.contents()) for one in (whole, memory))
        assert sorted(map(str, got["contexts"])) == sorted(map(str, wanted["contexts"]))  # type: ignore[call-overload]
        for name in ("pins", "acts"):
            assert got[name] == wanted[name]
        notes = [node.text for kind in (Kind.STATE, Kind.EPISODE) for node in memory.graph.of_kind(kind)]
        assert sorted(notes) == sorted(node.text for kind in (Kind.STATE, Kind.EPISODE) for node in whole.graph.of_kind(kind))
        assert sorted(fact.text for fact in memory.people.all_facts()) == sorted(fact.text for fact in whole.people.all_facts())
        assert sorted(one.name for one in memory.people) == sorted(one.name for one in whole.people)
        assert memory.store.integrity_check() == []
        before = content(memory)
        memory.import_(exported)
        assert content(memory) == before


def test_what_is_here_already_stays_under_its_id(full: Path, exported: Path, tmp_path: Path) -> None:
    home = tmp_path / "other"
    learn(home, [said("I swim every Wednesday.", 100), DIARY[0]])
    with opened(home) as memory:
        before = {node.id: node for kind in Kind for node in memory.graph.of_kind(kind)}
        memory.import_(exported)
        assert {one: memory.graph[one] for one in before} == before
        assert len({node.id for kind in Kind for node in memory.graph.of_kind(kind)}) > len(before)


def test_missing_reply_and_further_files_come_in(exported: Path, tmp_path: Path) -> None:
    with opened(tmp_path / "part") as memory:
        memory.observe([said("It rained.", 40, session="walk")], "notes.txt")
        memory.observe([DIARY[0]], "copy.md")
        memory.import_(exported)
        replies = {one.node.text: one.node.reply for one in memory.store.contents().contexts}
        files = {one.node.text: set(one.files) for one in memory.store.contents().contexts}
    assert replies["It rained."] == "Take a coat."
    assert files[DIARY[0].said.text] == {"diary.md", "copy.md"}


def test_undo_takes_back_the_last_act_in_time(exported: Path, tmp_path: Path) -> None:
    with opened(tmp_path / "other") as memory:
        memory.remember("I keep bees.", on_day(1))
        memory.import_(exported)
        moments = [act.moment.utc for act in memory.store.acts()]
        assert moments == sorted(moments)
        undone = [memory.undo() for _ in moments]
    assert "I keep bees." in undone[-1], "it was said before all that came in"


def test_split_made_here_is_not_undone_by_an_older_export(full: Path, tmp_path: Path) -> None:
    with opened(full) as memory:
        memory.export(tmp_path / "before.jsonl")
        first = memory.person("Toby")
        namings = memory.store.people.namings(first.id)
        memory.split_person("Toby", [namings[-1].context], "Toby Linz")
        before = content(memory)
        memory.import_(tmp_path / "before.jsonl")
        assert content(memory) == before


def test_two_of_one_name_stay_two(tmp_path: Path) -> None:
    learn(tmp_path / "a", [said("My sister Ana is a nurse.", 1)])
    learn(tmp_path / "b", [said("My boss Ana is strict.", 2), said("Toby sings.", 3)])
    learn(tmp_path / "c", [said("Toby dances.", 4)])
    with opened(tmp_path / "a") as memory:
        for name in ("b", "c"):
            with opened(tmp_path / name) as other:
                other.export(tmp_path / f"{name}.jsonl")
            memory.import_(tmp_path / f"{name}.jsonl")
        assert sorted((one.name, one.relation or "") for one in memory.people) == [("Ana", "boss"), ("Ana", "sister"), ("Toby", "")]
        assert len(memory.people.facts(memory.person("Toby").id)) == 2


class TestFile:
    def test_only_its_owner_reads_it_and_nothing_else_is_left(self, full: Path, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        with opened(full) as memory:
            done = memory.export(tmp_path / "out" / "memory.jsonl")
        assert [path.name for path in (tmp_path / "out").iterdir()] == ["memory.jsonl"]
        assert stat.S_IMODE(done.path.stat().st_mode) == 0o600
        assert done.size == done.path.stat().st_size

    def test_export_never_overwrites(self, full: Path, exported: Path) -> None:
        before = exported.read_bytes()
        with opened(full) as memory, pytest.raises(StoreError, match="not overwritten"):
            memory.export(exported)
        assert exported.read_bytes() == before

    def test_ending_without_a_format_says_which_there_are(self, full: Path, tmp_path: Path) -> None:
        with opened(full) as memory, pytest.raises(StoreError, match=r"\.jsonl"):
            memory.export(tmp_path / "memory.docx")
        assert not (tmp_path / "memory.docx").exists()

    def test_no_vector_is_written(self, exported: Path) -> None:
        assert b"vector" not in exported.read_bytes()


class TestAllOrNothing:
    def test_nothing_comes_in_where_the_last_row_fails(
        self, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(connection: object, intake: Intake) -> None:
            raise StoreError("the disk is full")

        monkeypatch.setattr("pgmem_local.store.sqlite.write_acts", fail)
        with opened(tmp_path / "empty") as memory:
            before = content(memory)
            with pytest.raises(StoreError, match="full"):
                memory.import_(exported)
            assert content(memory) == before

    def test_nothing_comes_in_while_something_is_learned(self, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("pgmem_local.store.learning.PATIENCE_SECONDS", 0.1)
        with opened(tmp_path / "empty") as memory, opened(tmp_path / "empty") as other:
            with other.store.learning(), pytest.raises(StoreBusy):
                memory.import_(exported)
            assert len(memory.graph) == 0

    def test_line_added_while_texts_are_embedded_is_known_then(self, exported: Path, tmp_path: Path) -> None:
        with opened(tmp_path / "home") as memory, opened(tmp_path / "home") as other:
            memory.import_(exported, lambda done, total: _observe_first(other))
            texts = [one.node.text for one in memory.store.contents().contexts]
            assert texts.count(DIARY[0].said.text) == 1
            assert memory.store.integrity_check() == []

    def test_progress_counts_every_new_text(self, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("pgmem_local.control.carrying.BATCH", 10)
        heard: list[tuple[int, int]] = []
        with opened(tmp_path / "empty") as memory:
            done = memory.import_(exported, lambda *numbers: heard.append(numbers))
        total = sum(done.new[kind.value] for kind in Kind)
        assert heard == [(min(number, total), total) for number in range(10, total + 10, 10)]


def _observe_first(memory: PersonaMemory) -> None:
    memory.observe([DIARY[0]])


def test_other_embedder_makes_its_own_vectors(exported: Path, tmp_path: Path) -> None:
    store = MemoryStore.open(tmp_path / "empty")
    with PersonaMemory(store, model, lambda: HashEmbedder(32)) as memory:
        memory.import_(exported)
        assert memory.store.vector_identity() == "hash-32"
        assert memory.store.integrity_check() == []


def test_contents_without_anything_bring_nothing(tmp_path: Path) -> None:
    with opened(tmp_path / "empty") as memory, opened(tmp_path / "other") as other:
        memory.export(tmp_path / "nothing.jsonl")
        assert memory.store.contents() == Contents(numbers=memory.store.contents().numbers)
        with pytest.raises(IngestError, match="line 1"):
            other.import_(Path(__file__))
        assert not any(other.import_(tmp_path / "nothing.jsonl").new.values())
