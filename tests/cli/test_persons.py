"""`pgmem people` and `pgmem timeline`: the table, the card, the owner's corrections, what scripts read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from pgmem_local.cli.app import app
from pgmem_local.errors import UnknownEntity
from pgmem_local.graph.nodes import NodeId
from pgmem_local.graph.people import EntityId, EntityKind, Fact, FactId, FactKind, Naming, Profile, Sentence
from pgmem_local.lesson import Lesson, PeopleLesson
from tests.cli.conftest import Models, Shell, on_day
from tests.fakes import HashEmbedder

TOBY, TOBIAS, ANA = EntityId("p1"), EntityId("p2"), EntityId("p3")
C1, C2 = NodeId("c1"), NodeId("c2")


@pytest.fixture
def home(remembered: Shell) -> Path:
    """Toby the flatmate, who moved, and Tobias, who may be the same."""
    facts = (
        Fact(FactId("f1"), TOBY, FactKind.CHANGE, "Toby lives in [bold]Graz[/bold].", (C1,), on_day(0), replaced_by=FactId("f2")),
        Fact(FactId("f2"), TOBY, FactKind.CHANGE, "Toby moved to Linz on Monday (2026-03-09).", (C2,), on_day(10), on_day(8), "on Monday"),
        Fact(FactId("f3"), TOBIAS, FactKind.LINK, "Tobias knows Ana.", (C2,), on_day(10)),
    )
    people = PeopleLesson(
        kinds={TOBY: EntityKind.PERSON, TOBIAS: EntityKind.PERSON, ANA: EntityKind.PERSON},
        namings=(
            Naming(TOBY, C1, "Toby", "flatmate"),
            Naming(TOBY, C2, "Tob"),
            Naming(TOBIAS, C2, "Tobias"),
            Naming(ANA, C2, "Ana", "sister"),
        ),
        profiles=(Profile(TOBY, (Sentence("Toby is the user's flatmate.", (C1,)), Sentence("Toby knows Ana.", (C2,)))),),
        facts=facts,
    )
    with remembered.store() as store:
        embedder = HashEmbedder()
        store.expect_vectors(embedder.identity, embedder.dimension)
        store.land(Lesson(people=people))
    return remembered.home


def pgmem(home: Path, *arguments: str) -> Result:
    result = CliRunner().invoke(app, [*arguments, "--home", str(home)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def value(home: Path, *arguments: str) -> Any:
    return json.loads(pgmem(home, *arguments, "--json").stdout)


def test_table_names_everybody_with_what_they_are_to_the_user(home: Path, models: Models) -> None:
    rows = pgmem(home, "people").stdout.splitlines()
    assert rows[1].split() == ["p1", "Toby", "person", "flatmate", "Tob", "1", "2026-03-01", "2026-03-11"]
    assert [one["name"] for one in value(home, "people")["people"]] == ["Toby", "Tobias", "Ana"]
    assert not [name for name in models.opened if name.startswith("chat")]


def test_empty_memory_says_how_people_are_found(tmp_path: Path, models: Models) -> None:
    assert "pgmem learn" in pgmem(tmp_path, "people").stdout


@pytest.mark.parametrize("name", ["Toby", "toby's", "my flatmate", "p1", "Tob"])
def test_card_is_found_by_name_alias_relation_and_id(home: Path, name: str) -> None:
    shown = pgmem(home, "people", "show", name).stdout
    assert "p1  Toby  (person, your flatmate)" in shown
    assert "linked to     Ana" in shown
    assert "profile       Toby is the user's flatmate. Toby knows Ana." in shown
    assert "f2    2026-03-09  Toby moved to Linz on Monday (2026-03-09).  [c2]" in shown
    assert "f1    2026-03-01  earlier: Toby lives in [bold]Graz[/bold].  -> f2" in shown


def test_card_for_scripts_keeps_every_source(home: Path) -> None:
    card = value(home, "people", "show", "Toby")
    assert [sentence["sources"] for sentence in card["profile"]] == [["c1"], ["c2"]]
    assert [(one["id"], one["happened"], one["words"], one["replaced_by"]) for one in card["facts"]] == [
        ("f1", None, None, "f2"),
        ("f2", "2026-03-09", "on Monday", None),
    ]


@pytest.mark.parametrize("name", ["Jo", "my boss", "p9", "%", ""])
def test_nobody_of_that_name_is_an_error_that_says_where_names_are(home: Path, name: str) -> None:
    with pytest.raises(UnknownEntity, match="pgmem people"):
        pgmem(home, "people", "show", name)


def test_name_of_two_asks_for_the_id(home: Path) -> None:
    pgmem(home, "people", "rename", "Tobias", "Toby")
    with pytest.raises(UnknownEntity, match=r"p1 Toby \(flatmate\), p2 Toby"):
        pgmem(home, "people", "show", "Toby")


def test_merge_makes_one_of_two_and_undo_two_of_one(home: Path) -> None:
    assert "undo" in pgmem(home, "people", "merge", "Toby", "Tobias").stdout
    assert [one["name"] for one in value(home, "people")["people"]] == ["Toby", "Ana"]
    assert [one["id"] for one in value(home, "people", "show", "Tobias")["facts"]] == ["f1", "f2", "f3"]
    assert value(home, "people", "undo") == {"undone": "merge", "entity": "p1"}
    assert len(value(home, "people")["people"]) == 3
    assert "Nothing" in pgmem(home, "people", "undo").stdout


def test_split_makes_somebody_else_of_some_entries(home: Path) -> None:
    new = value(home, "people", "split", "Toby", "C2", "--as", "Tobi")
    assert (new["name"], new["facts"]) == ("Tobi", 1)
    assert [one["id"] for one in value(home, "people", "show", "p1")["facts"]] == ["f1"]


def test_rename_keeps_what_was_heard_as_an_alias(home: Path) -> None:
    pgmem(home, "people", "rename", "my sister", "Ana Reyes")
    assert value(home, "people", "show", "Ana")["name"] == "Ana Reyes"
    pgmem(home, "people", "rename", "Ana Reyes")
    assert value(home, "people", "show", "Ana")["name"] == "Ana"


def test_options_may_stand_before_the_name_of_the_command(home: Path) -> None:
    result = CliRunner().invoke(app, ["people", "--home", str(home), "show", "Toby"])
    assert "p1  Toby" in result.stdout


def test_timeline_is_in_order_and_says_what_no_longer_holds(home: Path) -> None:
    rows = [line.split()[:3] for line in pgmem(home, "timeline", "Toby").stdout.splitlines()[1:]]
    assert rows == [["2026-03-01", "until", "2026-03-09"], ["2026-03-09", "fact", "f2"]]
    kinds = [one["kind"] for one in value(home, "timeline")["events"]]
    assert set(kinds) == {"fact", "state"}


@pytest.mark.parametrize("command", ["show", "merge", "split", "rename", "undo"])
def test_every_command_shows_an_example(command: str) -> None:
    assert f"Example: pgmem people {command}" in CliRunner().invoke(app, ["people", command, "--help"]).stdout
    assert "Example: pgmem people" in CliRunner().invoke(app, ["people", "--help"]).stdout


def test_plan_and_receipt_of_a_forgetting_say_what_goes_of_others(home: Path) -> None:
    line = "of others: 2 people or places, 2 facts, 1 profile sentence, 0 names you gave"
    assert line in pgmem(home, "forget", "c2", "--dry-run").stdout.splitlines()
    counts = {"entities": 2, "facts": 2, "sentences": 1, "names": 0}
    assert counts.items() <= value(home, "forget", "c2", "--dry-run").items()
    assert line in pgmem(home, "forget", "c2", "--yes").stdout.splitlines()
