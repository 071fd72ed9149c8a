"""`pgmem recall`, `me`, `why` and `stats`: what is known, shown without a language model."""

from __future__ import annotations

import pytest

from pgmem_local.errors import UnknownNode
from tests.cli.conftest import Models, Shell


def chat_models(models: Models) -> list[str]:
    return [name for name in models.opened if name.startswith("chat")]


def test_recall_ranks_with_ids_and_asks_no_language_model(remembered: Shell, models: Models) -> None:
    shown = remembered("recall", "espresso in the morning").stdout
    assert "Now\n  s2  2026-03-11  high priority  User drinks jasmine tea in the morning\n" in shown
    assert "s1  2026-03-01  high priority  User drinks espresso in the morning -> on 2026-03-11 s2" in shown
    assert chat_models(models) == []


def test_recall_of_an_empty_memory_is_no_error(pgmem: Shell) -> None:
    assert pgmem.json("recall", "tea")["evidence"] == []


def test_me_tells_what_holds_what_is_challenged_and_what_changed(remembered: Shell, models: Models) -> None:
    value = remembered.json("me")
    assert [(one["id"], one["status"], one["contradicted_by"]) for one in value["traits"]] == [("t1", "challenged", ["s2"])]
    assert [(one["id"], one["priority"]) for one in value["states"]] == [("s2", "high")]
    assert [(one["id"], one["replaced_by"]) for one in value["changed"]] == [("s1", ["s2"])]
    shown = remembered("me").stdout
    assert "t1  2026-03-11  User loves coffee\n      against it s2: User drinks jasmine tea" in shown
    assert models.opened == []


def test_why_shows_lines_successor_and_probability(remembered: Shell) -> None:
    value = remembered.json("why", "s1")
    assert [quote["context"] for quote in value["rests_on"]] == ["c1"]
    assert [(edge["how"], edge["node"]["id"], edge["probability"]) for edge in value["evidence"]] == [("replaced by", "s2", 0.91)]
    shown = remembered("why", "S2").stdout
    assert "rests on      c2  2026-03-11 12:00  “A week without espresso. It's jasmine tea now.”" in shown
    assert "replaces      s1" in shown
    assert "contradicts   t1" in shown
    assert "(0.91)" in shown


def test_why_of_a_line_shows_what_was_made_from_it_literally(remembered: Shell) -> None:
    shown = remembered("why", "c1").stdout
    assert "[bold]bus[/bold]" in shown
    assert "led to        s1" in shown


@pytest.mark.parametrize("identifier", ["s99", "nonsense", ""])
def test_why_of_an_unknown_id_is_an_error_that_says_where_ids_are(remembered: Shell, identifier: str) -> None:
    with pytest.raises(UnknownNode, match="`pgmem me`"):
        remembered("why", identifier)


def test_stats_per_turn_leave_out_what_served_the_owner(remembered: Shell) -> None:
    value = remembered.json("stats")
    assert value["counts"]["turns_learned"] == 2
    assert value["per_turn"] == {"calls": 2.0, "reads": 1.0, "evaluated": 500.0, "reused": 1500.0, "written": 25.0, "seconds": 1.0}
    assert value["paper_per_turn"]["calls"] == 2.75


def test_stats_stand_next_to_the_papers_figures(remembered: Shell) -> None:
    rows = {line.rsplit(maxsplit=2)[0].strip(): line.split()[-2:] for line in remembered("stats").stdout.splitlines() if line.strip()}
    assert rows["tokens evaluated"] == ["500", "3,436"]
    assert rows["tokens reused"] == ["1,500", "–"]
    assert rows["tokens written"] == ["25.00", "413"]
    assert rows["calls"] == ["2.00", "2.75"]


def test_stats_of_an_empty_memory_divide_by_nothing(pgmem: Shell) -> None:
    assert pgmem.json("stats")["per_turn"]["calls"] is None
