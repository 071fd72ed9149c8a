"""An entry edited after it was ingested takes the place of the old one, and nothing else ever does."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgmem_local.control.editing import EditedEntries, Settled
from pgmem_local.conversation import Exchange, Moment, Speaker, Turn
from pgmem_local.errors import StoreBusy, StoreError
from pgmem_local.graph.acts import Act, Deed
from pgmem_local.graph.nodes import Context, Kind, NodeId, node_id
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.memory import PersonaMemory
from pgmem_local.store import acts
from tests.builders import on_day
from tests.control.conftest import content, current, opened, reader, said, texts
from tests.store.builders import delete

FILE = Path("/diaries/diary.jsonl")
OTHER_FILE = Path("/diaries/other.jsonl")
EIGHT = Moment(datetime(2026, 6, 12, 8, tzinfo=timezone.utc))
AUNT = "My aunt Silja visits."
EDITED = "My aunt Silja visits with her dog."


def written(text: str, moment: Moment | None = EIGHT, **parts: str | None) -> Exchange:
    reply = parts.pop("reply", None)
    speaker = Speaker.OTHER if parts.get("author") else Speaker.USER
    return Exchange(Turn(text, moment, speaker, **parts), reply)


def stored(*exchanges: Exchange) -> PersonaGraph:
    graph = PersonaGraph()
    graph.add(_context(number, exchange) for number, exchange in enumerate(exchanges, start=1))
    return graph


def _context(number: int, exchange: Exchange) -> Context:
    words, turn = frozenset[str](), exchange.said
    identifier = node_id(Kind.CONTEXT, number)
    return Context(identifier, turn.text, turn.moment, words, words, exchange.key, turn.session, exchange.reply, turn.author)


def read(
    graph: PersonaGraph, *exchanges: Exchange, file: Path = FILE, came_from: Path = FILE, deeds: Sequence[Act] = ()
) -> Settled:
    """What becomes of the exchanges of a file where all that is stored came from another."""
    files = {node.id: frozenset({str(came_from)}) for node in graph.of_kind(Kind.CONTEXT)}
    entries = EditedEntries(graph, files, deeds)
    entries.hold_back(exchanges, file)
    return entries.settled()


def replaced(settled: Settled) -> list[tuple[NodeId, str]]:
    return [(edit.earlier.id, edit.exchange.said.text) for edit in settled.edits]


class TestIsAnEdit:
    def test_entry_of_the_same_instant_that_shares_half_of_its_words(self) -> None:
        assert replaced(read(stored(written(AUNT)), written(EDITED))) == [("c1", EDITED)]

    def test_entry_in_a_renamed_file_that_holds_others_of_the_old_one(self) -> None:
        rake = written("I bought a rake.", on_day(3))
        graph = stored(written(AUNT), rake)
        assert replaced(read(graph, written(EDITED), rake, file=OTHER_FILE)) == [("c1", EDITED)]

    def test_only_once_where_the_file_holds_it_twice(self) -> None:
        settled = read(stored(written(AUNT)), written(EDITED), written(EDITED))
        assert (len(settled.edits), len(settled.others)) == (1, 1)

    def test_same_instant_on_another_clock(self) -> None:
        assert read(stored(written(AUNT)), written(EDITED, replace(EIGHT, offset_minutes=120))).edits


class TestIsNoEdit:
    @pytest.mark.parametrize(
        ("old", "new"),
        [
            pytest.param(written(AUNT), written("It rained on the tomatoes."), id="other words"),
            pytest.param(written(AUNT), written("My aunt plants tomatoes, beans and peas."), id="few shared words"),
            pytest.param(written("I did it."), written("I did not."), id="no words to compare"),
            pytest.param(written(AUNT), written(EDITED, Moment(EIGHT.utc + timedelta(seconds=1))), id="another instant"),
            pytest.param(written(AUNT, None), written(EDITED, None), id="undated"),
            pytest.param(written(AUNT, author="Imani"), written(EDITED), id="another speaker"),
            pytest.param(written(AUNT, session="chat"), written(EDITED, session="chat"), id="one chat"),
            pytest.param(written(AUNT, session="chat"), written(EDITED), id="a chat and a diary"),
            pytest.param(written(AUNT), written(EDITED, reply="How nice."), id="answered"),
            pytest.param(written(AUNT, reply="How nice."), written(EDITED), id="was answered"),
        ],
    )
    def test_entry_that_differs_in_more_than_some_words(self, old: Exchange, new: Exchange) -> None:
        assert not read(stored(old), new).edits

    @pytest.mark.parametrize("offset", [0, 120, -330])
    def test_entry_of_a_bare_date(self, offset: int) -> None:
        midnight = Moment(datetime(2026, 6, 12, tzinfo=timezone.utc) - timedelta(minutes=offset), offset)
        assert not read(stored(written(AUNT, midnight)), written(EDITED, midnight)).edits

    @pytest.mark.parametrize("order", [(0, 1), (1, 0)])
    def test_entry_beside_the_stored_one_before_or_behind_it(self, order: tuple[int, int]) -> None:
        both = [written(AUNT), written(EDITED)]
        assert not read(stored(written(AUNT)), *(both[place] for place in order)).edits

    def test_entry_beside_the_stored_one_in_another_file_of_the_run(self) -> None:
        entries = EditedEntries(stored(written(AUNT)), {NodeId("c1"): frozenset({str(FILE)})}, ())
        entries.hold_back([written(EDITED)], FILE)
        entries.hold_back([written(AUNT)], OTHER_FILE)
        assert not entries.settled().edits

    def test_entry_that_may_be_a_version_of_either_of_two(self) -> None:
        assert not read(stored(written(AUNT), written("My aunt Silja came.")), written(EDITED)).edits

    def test_either_of_two_entries_that_may_be_the_version(self) -> None:
        settled = read(stored(written(AUNT)), written(EDITED), written("Aunt Silja visits often."))
        assert (len(settled.edits), len(settled.others)) == (0, 2)

    def test_entry_of_another_file_that_shares_nothing_with_the_old_one(self) -> None:
        assert not read(stored(written(AUNT)), written(EDITED), file=OTHER_FILE).edits

    def test_entry_whose_file_was_cut_short(self) -> None:
        entries = EditedEntries(stored(written(AUNT)), {NodeId("c1"): frozenset({str(FILE)})}, ())
        assert entries.hold_back([written(EDITED)], FILE) == []
        assert entries.settled({FILE}) == Settled((), ((written(EDITED), FILE),))

    def test_entry_of_unknown_origin(self) -> None:
        entries = EditedEntries(stored(written(AUNT)), {}, ())
        entries.hold_back([written(EDITED)], FILE)
        assert not entries.settled().edits

    def test_entry_whose_stored_one_holds_up_what_the_owner_decided(self) -> None:
        deed = Act(Deed.REMEMBER, EIGHT, context=NodeId("c1"))
        assert not read(stored(written(AUNT)), written(EDITED), deeds=[deed]).edits


SMALL_DIARY = st.lists(
    st.builds(
        written,
        st.lists(st.sampled_from(["aunt", "dog", "rake"]), min_size=1, max_size=3).map(" ".join),
        st.sampled_from([EIGHT, EIGHT, on_day(1), None]),
        session=st.sampled_from([None, None, None, "chat"]),
    ),
    max_size=8,
    unique_by=lambda exchange: exchange.key,
)


@given(SMALL_DIARY, SMALL_DIARY)
def test_edits_pair_entries_one_to_one_and_remove_nothing_that_was_read(old: list[Exchange], new: list[Exchange]) -> None:
    graph, read_keys = stored(*old), {exchange.key for exchange in new}
    files = {node.id: frozenset({str(FILE)}) for node in graph.of_kind(Kind.CONTEXT)}
    entries = EditedEntries(graph, files, ())
    at_once = entries.hold_back(new, FILE)
    settled = entries.settled()
    for edit in settled.edits:
        turn, earlier = edit.exchange.said, edit.earlier
        assert earlier.key not in read_keys
        assert turn.moment == earlier.moment is not None
        assert turn.session is None is earlier.session
        assert 2 * len(set(turn.text.split()) & set(earlier.text.split())) >= len(set(turn.text.split()))
    assert len({edit.earlier.id for edit in settled.edits}) == len(settled.edits)
    accounted = [*at_once, *(edit.exchange for edit in settled.edits), *(exchange for exchange, _ in settled.others)]
    assert sorted(one.key for one in accounted) == sorted(read_keys)


# ---------------------------------------------------------------- in a memory


def ingest(memory: PersonaMemory, *exchanges: Exchange, file: Path = FILE) -> list[str]:
    """Read a file as the command line does; the ids of new versions."""
    entries = memory.edited_entries()
    memory.observe(entries.hold_back(exchanges, file), file)
    settled = entries.settled()
    added = memory.replace_earlier(settled.edits)
    if settled.others:
        memory.observe([exchange for exchange, _ in settled.others], file)
    return list(added.changed)


@pytest.fixture
def learned(tmp_path: Path) -> Path:
    """The home of a memory that has learned three entries of a file."""
    with opened(tmp_path, reader()) as memory:
        ingest(memory, said("I drink espresso.", 0), said("I swim every Wednesday.", 1), said("My flat in Graz is cold.", 2))
        memory.learn()
    return tmp_path


MOVED = said("My flat in Linz is cold.", 2)


def test_old_entry_goes_with_what_only_it_supported_and_the_new_one_waits(learned: Path) -> None:
    with opened(learned) as memory:
        assert "lives in Graz" in " ".join(current(memory))
        changed = ingest(memory, said("I drink espresso.", 0), MOVED)
        assert [one for one, _ in memory.store.pending()] == changed == ["c4"]
        everything = json.dumps([texts(memory, kind) for kind in Kind])
        assert "Graz" not in everything
        assert "espresso" in everything
        assert "Wednesday" in everything
        assert memory.store.sweep_due() is None


def test_new_version_is_learned_like_any_entry(learned: Path) -> None:
    with opened(learned, reader()) as memory:
        ingest(memory, MOVED)
        memory.learn()
        assert memory.store.pending() == []
        assert any("Linz" in text for text in texts(memory, Kind.EPISODE))
        assert memory.store.integrity_check() == []


def test_other_entries_of_its_day_keep_their_episode(tmp_path: Path) -> None:
    later = Exchange(Turn("I swim every Wednesday.", Moment(MOVED.said.moment.utc + timedelta(hours=1))))  # type: ignore[union-attr]
    with opened(tmp_path, reader()) as memory:
        ingest(memory, said("My flat in Graz is cold.", 2), later)
        memory.learn()
        ingest(memory, MOVED, later)
        memory.learn()
        told = " ".join(texts(memory, Kind.EPISODE))
        assert "Wednesday" in told
        assert "Linz" in told
        assert "Graz" not in told


def test_same_run_again_changes_nothing(learned: Path) -> None:
    with opened(learned) as memory:
        ingest(memory, MOVED)
        before = content(memory)
        assert ingest(memory, MOVED) == []
        assert content(memory) == before


def test_similar_entries_of_one_chat_and_minute_stay_two(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        ingest(memory, said("We meet at the lake.", 0, session="chat"))
        ingest(memory, said("We meet at the lake at noon.", 0, session="chat"))
        assert len(texts(memory, Kind.CONTEXT)) == 2


def test_what_rests_on_a_pinned_note_stays(learned: Path) -> None:
    with opened(learned) as memory:
        note = next(node for node in memory.graph.of_kind(Kind.STATE) if "Graz" in node.text)
        memory.pin(note.id)
        assert ingest(memory, MOVED) == []
        assert note.id in memory.graph
        assert "My flat in Linz is cold." in texts(memory, Kind.CONTEXT)


def test_entry_that_another_process_forgot_meanwhile_is_simply_stored(learned: Path) -> None:
    with opened(learned) as memory:
        entries = memory.edited_entries()
        entries.hold_back([MOVED], FILE)
        with opened(learned) as other:
            delete(other.store, [NodeId("c3")])
        assert memory.replace_earlier(entries.settled().edits).changed == ("c4",)


def test_nothing_changes_while_another_learns(learned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pgmem_local.store.learning.PATIENCE_SECONDS", 0.0)
    with opened(learned) as memory, opened(learned) as other:
        before = content(memory)
        with other.store.learning(), pytest.raises(StoreBusy):
            ingest(memory, MOVED)
        assert content(memory) == before


def test_replacement_that_fails_halfway_leaves_the_old_entry(learned: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object) -> None:
        raise StoreError("the disk is full")

    with opened(learned) as memory:
        before = content(memory)
        with monkeypatch.context() as broken:
            broken.setattr(acts, "note_file", fails)
            entries = memory.edited_entries()
            entries.hold_back([MOVED], FILE)
            with pytest.raises(StoreError):
                memory.replace_earlier(entries.settled().edits)
        assert content(memory) == before
        assert ingest(memory, MOVED) == ["c4"]


def test_order_in_the_file_makes_no_difference() -> None:
    graph = stored(written(AUNT), written("I bought a rake.", on_day(3)))
    exchanges = [written(EDITED), written("I bought a red rake.", on_day(3)), written("The cat sleeps."), written("Hot.", on_day(1))]
    found = []
    for seed in range(6):
        random.Random(seed).shuffle(exchanges)
        found.append(sorted(replaced(read(graph, *exchanges))))
    assert found == [[("c1", EDITED), ("c2", "I bought a red rake.")]] * 6
