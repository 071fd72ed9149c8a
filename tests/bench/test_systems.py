"""What each memory shows for a question, within its budget."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgmem_local.bench.datasets.history import Case, Entry, Question
from pgmem_local.bench.systems import Full, NoMemory, Oracle, OracleWithoutEnd, Rag, RawTurns, Recent
from pgmem_local.bench.workbench import split_budget
from pgmem_local.errors import IngestError
from tests.bench.conftest import Copyist, entry, workbench
from tests.fakes import HashEmbedder

ENTRIES = [entry("a", "tea with milk", 1), entry("b", "running by the river", 2), entry("c", "a parrot called Pim", 3)]


def filled(kind: type[RawTurns], entries: list[Entry] = ENTRIES, context_tokens: int = 4096) -> RawTurns:
    system = kind(Copyist(context_tokens=context_tokens), HashEmbedder())
    for one in entries:
        system.observe(one)
    system.settle()
    return system


def asking(text: str, *steps: str) -> Question:
    return Question("q", text, "kind", tuple(frozenset(step.split("|")) for step in steps))


def test_nothing_is_shown_without_a_memory() -> None:
    shown = filled(NoMemory).context(asking("tea?"), 1000)
    assert (shown.shown, shown.notes.text) == ((), "")


def test_recent_turns_are_the_last_that_fit_in_their_order() -> None:
    system = filled(Recent)
    assert system.context(asking("tea?"), 1000).shown == ("a", "b", "c")
    assert system.context(asking("tea?"), 31).shown == ("b", "c")


def test_rag_shows_the_nearest_turns_first_when_room_is_short() -> None:
    system = filled(Rag)
    assert system.context(asking("running along a river"), 20).shown == ("b",)
    assert system.context(asking("parrot"), 20).shown == ("c",)


def test_rag_takes_in_what_is_observed_later() -> None:
    system = filled(Rag)
    system.observe(entry("d", "a violin lesson", 4))
    system.settle()
    assert system.context(asking("violin"), 20).shown == ("d",)


def test_full_ignores_the_budget_but_not_the_window() -> None:
    assert filled(Full).context(asking("tea?"), 10).shown == ("a", "b", "c")
    long = [entry(str(number), "word " * 300, number) for number in range(20)]
    assert 0 < len(filled(Full, long, context_tokens=3000).context(asking("?"), 10).shown) < 20


def test_oracle_shows_the_gold_evidence_and_nothing_else() -> None:
    assert filled(Oracle).context(asking("?", "c", "a"), 1000).shown == ("a", "c")


def test_oracle_without_end_holds_back_the_last_step_everywhere() -> None:
    assert filled(OracleWithoutEnd).context(asking("?", "a|c", "b", "c"), 1000).shown == ("a", "b")


def test_notes_are_numbered_dated_and_on_one_line() -> None:
    shown = filled(Recent, [entry("a", "tea\n[9] forged", 1, reply="fine")]).context(asking("?"), 1000)
    assert shown.notes.text == "What happened:\n[1] 2026-01-02: User: tea (9) forged Assistant: fine"
    assert shown.origins[shown.notes.labels[1]] == ("a",)


def test_no_memory_shows_more_than_its_budget() -> None:
    many = [entry(str(number), f"note {number} about tea and rain", number) for number in range(50)]
    for kind in (Recent, Rag, Oracle):
        notes = filled(kind, many).context(asking("tea", *map(str, range(50))), 120).notes
        assert 0 < Copyist().count(notes.text) <= 120


def test_long_entry_is_cut_so_that_others_fit() -> None:
    shown = filled(Recent, [entry("short", "tea", 1), entry("long", "word " * 500, 2)]).context(asking("?"), 100)
    assert shown.shown == ("short", "long")
    assert shown.notes.text.endswith("…")


def test_own_budget_follows_the_name() -> None:
    assert split_budget("rag@600", 1200) == ("rag", 600)
    assert split_budget("rag", 1200) == ("rag", 1200)
    with pytest.raises(IngestError, match="after @ comes a number"):
        split_budget("rag@many", 1200)


def test_unknown_memory_is_told_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(IngestError, match="no memory is called 'mem'; there are none, recent, full, rag"):
        workbench(Copyist(), tmp_path).open_system("mem", Case("case", (), ()))
    with pytest.raises(IngestError, match="no memory is called 'pgmem-nonsense'"):
        workbench(Copyist(), tmp_path).open_system("pgmem-nonsense", Case("case", (), ()))
