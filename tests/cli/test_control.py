"""`pgmem search` to `pgmem restore`: what they print, when they ask, and what a script gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from pgmem_local.cli import controlling
from pgmem_local.errors import ChangeRefused, StoreError, UnknownNode
from tests.cli.conftest import Models, Shell, diary, entry


def chat_models(models: Models) -> list[str]:
    return [name for name in models.opened if name.startswith("chat")]


class TestLooking:
    def test_search_finds_lines_and_notes_without_a_language_model(self, remembered: Shell, models: Models) -> None:
        found = [one["id"] for one in remembered.json("search", "espresso")["found"]]
        assert set(found[:3]) == {"c1", "c2", "s1"}
        assert "s1  2026-03-01  high priority  User drinks espresso" in remembered("search", "ESPRESSO").stdout
        assert chat_models(models) == []

    def test_search_keeps_its_limit_and_says_when_there_is_nothing(self, remembered: Shell) -> None:
        assert len(remembered.json("search", "espresso", "--limit", "1")["found"]) == 1
        assert remembered("search", "zzz").stdout == "nothing found\n"

    def test_get_shows_all_that_is_kept_of_a_node(self, remembered: Shell) -> None:
        value = remembered.json("get", "S1")
        assert (value["text"], value["sources"], value["replaced_by"]) == ("User drinks espresso in the morning", ["c1"], ["s2"])
        assert "replaced_by: s2" in remembered("get", "s1").stdout.replace("  ", " ")

    def test_history_tells_in_order_of_time(self, remembered: Shell) -> None:
        remembered("pin", "s1")
        value = remembered.json("history", "s1")
        assert [event["happening"] for event in value["events"]] == ["said", "replaced by", "pinned"]
        assert "2026-03-11 12:00  replaced by     s2  User drinks jasmine tea" in remembered("history", "s1").stdout

    @pytest.mark.parametrize("command", ["get", "history", "pin", "unpin"])
    def test_unknown_id_is_an_error_that_says_where_ids_are(self, command: str, remembered: Shell) -> None:
        with pytest.raises(UnknownNode, match="`pgmem me`"):
            remembered(command, "s99")


class TestSaying:
    def test_statement_stands_in_me_as_your_words(self, remembered: Shell, models: Models) -> None:
        assert remembered.json("remember", "Walnuts make me ill.")["stated"] is True
        assert "your words  Walnuts make me ill." in remembered("me").stdout
        assert chat_models(models) == []

    def test_correction_says_what_it_replaces_and_me_follows(self, remembered: Shell) -> None:
        shown = remembered("correct", "s2", "I drink water in the morning.").stdout
        assert "replaces s2" in shown
        states = remembered.json("me")["states"]
        assert [one["text"] for one in states] == ["I drink water in the morning."]

    def test_pin_is_marked_in_me_until_it_is_taken_off(self, remembered: Shell) -> None:
        remembered("pin", "s2")
        assert "s2  2026-03-11  pinned  high priority" in remembered("me").stdout
        assert [one["pinned"] for one in remembered.json("me")["states"]] == [True]
        assert remembered.json("unpin", "s2")["pinned"] is False
        assert "pinned" not in remembered("me").stdout

    def test_undo_says_what_it_took_back(self, remembered: Shell) -> None:
        remembered("remember", "Walnuts make me ill.")
        assert "remember s3 taken back: Walnuts make me ill." in remembered("undo").stdout
        assert remembered.json("search", "walnuts")["found"] == []


class TestForgetting:
    def test_dry_run_shows_the_plan_and_changes_nothing(self, remembered: Shell) -> None:
        value = remembered.json("forget", "--text", "espresso", "--dry-run")
        assert [one["id"] for one in value["removed"]] == ["c1", "c2", "s1", "s2", "t1"]
        shown = remembered("forget", "--text", "espresso", "--dry-run").stdout
        assert "to be forgotten: 2 lines, 0 episodes, 2 states, 1 trait, 2 relations" in shown
        assert len(remembered.json("search", "espresso")["found"]) >= 3

    def test_without_yes_and_without_a_terminal_nothing_is_forgotten(self, remembered: Shell) -> None:
        with pytest.raises(ChangeRefused, match="--yes"):
            remembered("forget", "s1")
        assert remembered.json("get", "s1")["id"] == "s1"

    def test_on_a_terminal_the_owner_is_asked(self, remembered: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[str] = []
        monkeypatch.setattr(controlling, "ask_owner", asked.append)
        assert "forgotten: 0 lines, 0 episodes, 1 state, " in remembered("forget", "s1").stdout
        assert asked == ["Forget this for good?"]

    def test_receipt_counts_what_went(self, remembered: Shell) -> None:
        receipt = remembered.json("forget", "c1", "--yes")
        assert {name: receipt[name] for name in ("contexts", "states", "traits", "judgements", "vectors")} == {
            "contexts": 1, "states": 1, "traits": 1, "judgements": 2, "vectors": 3,
        }  # fmt: skip

    def test_after_forgetting_undo_says_that_there_is_no_way_back(self, remembered: Shell) -> None:
        remembered("remember", "Walnuts make me ill.")
        remembered("forget", "c1", "--yes")
        with pytest.raises(ChangeRefused, match="cannot be brought back"):
            remembered("undo")

    def test_nothing_found_is_said_and_is_no_error(self, remembered: Shell) -> None:
        assert remembered("forget", "--text", "zebra", "--yes").stdout == "nothing that is remembered meets this\n"

    def test_forget_without_a_selection_is_refused(self, remembered: Shell) -> None:
        with pytest.raises(ChangeRefused, match="say what to forget"):
            remembered("forget", "--yes")

    def test_file_is_forgotten_by_path_or_name_but_not_what_another_also_holds(self, pgmem: Shell, tmp_path: Path) -> None:
        first = diary(tmp_path / "first.jsonl", entry("Only here I ski."), entry("In both I swim.", 1))
        second = diary(tmp_path / "second.jsonl", entry("In both I swim.", 1))
        pgmem("ingest", str(first), str(second))
        assert pgmem.json("forget", "--source", "first.jsonl", "--yes")["contexts"] == 1
        assert pgmem.json("search", "swim")["found"]
        assert pgmem.json("forget", "--source", str(second), "--dry-run")["removed"] != []

    def test_days_are_given_as_days(self, remembered: Shell) -> None:
        value = remembered.json("forget", "--since", "2026-03-05", "--until", "2026-03-31", "--dry-run")
        assert [one["id"] for one in value["removed"]] == ["c2", "s2", "t1"]
        assert remembered("forget", "--since", "March", "--dry-run").exit_code == 2


class TestKeepingSafe:
    def test_backup_comes_back(self, remembered: Shell, tmp_path: Path) -> None:
        path = str(tmp_path / "copy.db")
        assert remembered.json("backup", path)["counts"]["state"] == 2
        remembered("forget", "--everything", "--yes")
        assert remembered.json("me")["states"] == []
        assert "restored from" in remembered("restore", path).stdout
        assert [one["id"] for one in remembered.json("me")["states"]] == ["s2"]

    def test_memory_with_content_is_not_replaced_unasked(self, remembered: Shell, tmp_path: Path) -> None:
        path = str(tmp_path / "copy.db")
        remembered("backup", path)
        with pytest.raises(ChangeRefused, match="--yes"):
            remembered("restore", path)

    def test_damaged_backup_is_an_error(self, remembered: Shell, tmp_path: Path) -> None:
        (tmp_path / "bad.db").write_text("no")
        with pytest.raises(StoreError, match="pgmem backup"):
            remembered("restore", str(tmp_path / "bad.db"), "--yes")


@pytest.mark.parametrize(
    "command", ["search", "get", "history", "remember", "correct", "pin", "unpin", "undo", "forget", "backup", "restore"]
)
def test_help_has_an_example(command: str, pgmem: Shell) -> None:
    assert f"Example: pgmem {command}" in pgmem(command, "--help").stdout
