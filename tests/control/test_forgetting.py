"""What a selection means, and what goes, stays or is made anew with it: pure, on graphs drawn by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

import pytest

from pgmem_local.control.forgetting import BRIDGE, ForgetPlan, Selection, choose, plan_forgetting
from pgmem_local.control.traces import mentions, without_rejects
from pgmem_local.errors import ChangeRefused, UnknownNode
from pgmem_local.graph.edges import Relation
from pgmem_local.graph.nodes import Context, Kind, NodeId
from pgmem_local.ingest.rejects import Reject
from tests.builders import Sketch, on_day


def retell(contexts: Sequence[Context]) -> str | None:
    """Short chunks are their own summary."""
    return " ".join(context.text for context in contexts) if len(contexts) < 3 else None


def planned(sketch: Sketch, *ids: NodeId, **selection: object) -> ForgetPlan:
    return plan_forgetting(sketch.graph, Selection(ids, **selection), {}, retell)  # type: ignore[arg-type]


def gone(plan: ForgetPlan) -> set[NodeId]:
    return {node.id for node in plan.removed}


def chosen(sketch: Sketch, files: Mapping[NodeId, frozenset[str]] | None = None, **selection: object) -> set[NodeId]:
    return choose(sketch.graph, Selection(**selection), files or {})  # type: ignore[arg-type]


class TestSelection:
    def test_text_is_found_in_any_case_in_lines_replies_and_notes(self) -> None:
        sketch = Sketch()
        line, note, other = sketch.context("My KNEE hurts"), sketch.state("User has a bad knee"), sketch.context("Rain")
        sketch.nodes[2] = replace(sketch.nodes[2], reply="Mind your knee.")  # type: ignore[call-arg]
        assert chosen(sketch, text="knee") == {line, note, other}

    def test_text_is_found_however_its_accents_are_encoded(self) -> None:
        sketch = Sketch()
        line = sketch.context("Met her in the cafe\u0301")
        assert chosen(sketch, text="the  caf\u00e9") == {line}

    @pytest.mark.parametrize(
        ("text", "name", "found"),
        [
            ("Jo came", "Jo", True),
            ("Jo's hat", "jo", True),
            ("Joanna came", "Jo", False),
            ("my journal", "Jo", False),
            ("a_b", "a_b", True),
            ("aXb", "a_b", False),
            ("with Ana Reyes.", "ana  reyes", True),
            ("咖啡 Ñandú!", "ñandú", True),
            ("Zoe\u0308 came", "Zo\u00eb", True),
        ],
    )
    def test_entity_is_a_whole_word_and_no_character_a_wildcard(self, text: str, name: str, found: bool) -> None:
        assert mentions(text, name) is found

    def test_days_are_those_of_lines_and_both_included(self) -> None:
        sketch = Sketch()
        lines = [sketch.context(f"day {day}", day) for day in range(4)]
        sketch.state("note", 1)
        sketch.context("undated", None)
        assert chosen(sketch, since=date(2026, 1, 2), until=date(2026, 1, 3)) == set(lines[1:3])

    def test_file_means_lines_that_came_from_it_alone(self) -> None:
        sketch = Sketch()
        only, both, none = (sketch.context(text) for text in ("only", "both", "none"))
        files = {only: frozenset({"/a/diary.jsonl"}), both: frozenset({"/a/diary.jsonl", "/b/other.jsonl"})}
        assert chosen(sketch, files, source="diary.jsonl") == chosen(sketch, files, source="/a/diary.jsonl") == {only}
        assert none not in chosen(sketch, files, source="other.jsonl")

    def test_of_several_conditions_all_must_hold(self) -> None:
        sketch = Sketch()
        early, late = sketch.context("my knee", 0), sketch.context("my knee", 5)
        assert chosen(sketch, text="knee", since=date(2026, 1, 3)) == {late}
        assert chosen(sketch, ids=(early, late), until=date(2026, 1, 3)) == {early}

    def test_unknown_id_is_said(self) -> None:
        with pytest.raises(UnknownNode, match="c9"):
            planned(Sketch(), NodeId("c9"))

    @pytest.mark.parametrize("nothing", [{}, {"text": " "}, {"entity": ""}])
    def test_selection_of_nothing_is_never_one_of_everything(self, nothing: dict[str, str]) -> None:
        with pytest.raises(ChangeRefused):
            Selection(**nothing)  # type: ignore[arg-type]


class TestStates:
    def test_state_of_one_line_goes_with_it_and_its_judgements(self) -> None:
        sketch = Sketch()
        line, note, other = sketch.context("I ski"), sketch.state("User skis"), sketch.state("User swims")
        sketch.derive(note, line)
        sketch.irrelevant(note, other)
        plan = planned(sketch, line)
        assert (gone(plan), plan.judgements) == ({line, note}, 1)

    def test_state_said_again_stays_with_the_time_of_what_stays(self) -> None:
        sketch = Sketch()
        first, again = sketch.context("I ski", 0), sketch.context("I ski a lot", 4)
        note = sketch.state("User skis", 0)
        sketch.derive(note, first, again)
        plan = planned(sketch, first)
        assert (gone(plan), plan.redated, plan.pending_again) == ({first}, {note: on_day(4)}, ())

    def test_state_in_words_that_only_the_lost_line_said_goes_and_the_rest_is_read_again(self) -> None:
        sketch = Sketch()
        first, again = sketch.context("I ski in Zermatt"), sketch.context("I ski a lot")
        note = sketch.state("User skis in Zermatt")
        sketch.derive(note, first, again)
        plan = planned(sketch, first)
        assert (gone(plan), plan.pending_again) == ({first, note}, (again,))

    def test_state_that_repeats_what_it_answered_goes_with_that(self) -> None:
        sketch = Sketch()
        asked, answered = sketch.context("A trip?", 0), sketch.context("Yes, that.", 1)
        for place in (0, 1):
            sketch.nodes[place] = replace(sketch.nodes[place], session="chat", reply="Zermatt?" if place == 0 else None)  # type: ignore[call-arg]
        note = sketch.state("User goes to Zermatt", 1)
        sketch.derive(note, answered)
        plan = planned(sketch, asked)
        assert (gone(plan), plan.pending_again) == ({asked, note}, (answered,))

    def test_named_state_goes_and_its_lines_stay_as_they_are(self) -> None:
        sketch = Sketch()
        line, note, trait = sketch.context("I ski"), sketch.state("User skis"), sketch.trait("User likes snow")
        sketch.derive(note, line)
        sketch.derive(trait, note)
        plan = planned(sketch, note)
        assert (gone(plan), plan.pending_again) == ({note, trait}, ())


class TestEpisodes:
    def test_mixed_episode_is_told_anew_from_what_stays(self) -> None:
        sketch = Sketch()
        lines = [sketch.context(text, day) for day, text in enumerate(("Snow.", "Zermatt.", "Home."))]
        episode = sketch.episode("Snow. Zermatt. Home.")
        sketch.derive(episode, *lines)
        (retold,) = planned(sketch, lines[1]).retold
        assert (retold.old.id, retold.text) == (episode, "Snow. Home.")

    def test_episode_too_long_for_that_waits_for_the_model(self) -> None:
        sketch = Sketch()
        lines = [sketch.context(f"Snow {day}.", day) for day in range(5)]
        episode = sketch.episode("A week of snow.")
        sketch.derive(episode, *lines)
        plan = planned(sketch, lines[0])
        assert (gone(plan), plan.retold[0].text) == ({lines[0], episode}, None)
        assert plan.of_kind(Kind.EPISODE) == ()

    def test_episode_without_a_line_left_goes(self) -> None:
        sketch = Sketch()
        line, episode = sketch.context("Snow."), sketch.episode("Snow.")
        sketch.derive(episode, line)
        plan = planned(sketch, line)
        assert (gone(plan), plan.retold) == ({line, episode}, ())


class TestTraits:
    @staticmethod
    def snowy(words: str, witnesses: int) -> tuple[Sketch, list[NodeId], NodeId]:
        sketch = Sketch()
        lines = [sketch.context(f"Snow and peak{number}", number) for number in range(witnesses)]
        notes = [sketch.state(f"User likes snow on peak{number}", number) for number in range(witnesses)]
        trait = sketch.trait(words, witnesses - 1)
        for line, note in zip(lines, notes, strict=True):
            sketch.derive(note, line)
        sketch.derive(trait, *notes)
        return sketch, lines, trait

    def test_trait_stays_on_two_witnesses(self) -> None:
        sketch, lines, trait = self.snowy("User likes snow", 3)
        plan = planned(sketch, lines[2])
        assert trait not in gone(plan)
        assert plan.redated == {trait: on_day(1)}

    def test_trait_with_one_witness_left_goes(self) -> None:
        sketch, lines, trait = self.snowy("User likes snow", 2)
        assert trait in gone(planned(sketch, lines[0]))

    def test_trait_in_words_its_other_witnesses_lack_goes(self) -> None:
        sketch, lines, trait = self.snowy("User likes snow and peak0", 3)
        assert trait in gone(planned(sketch, lines[0]))


class TestChanges:
    def test_what_had_been_replaced_is_not_current_again_where_something_newer_stands(self) -> None:
        sketch = Sketch()
        lines = [sketch.context(town) for town in ("Graz", "Linz", "Wien")]
        towns = [sketch.state(f"User lives in {town}") for town in ("Graz", "Linz", "Wien")]
        for line, note in zip(lines, towns, strict=True):
            sketch.derive(note, line)
        sketch.shift(towns[0], towns[1])
        sketch.shift(towns[1], towns[2])
        plan = planned(sketch, lines[1])
        (bridge,) = plan.bridges
        assert (bridge.source, bridge.target, bridge.relation, bridge.judge) == (towns[0], towns[2], Relation.SHIFT_TO, BRIDGE)
        assert plan.holds_again == ()

    def test_what_nothing_replaces_any_more_is_named(self) -> None:
        sketch = Sketch()
        old, new = sketch.state("User lives in Graz"), sketch.state("User lives in Linz")
        sketch.shift(old, new)
        plan = planned(sketch, new)
        assert ([node.id for node in plan.holds_again], plan.bridges) == ([old], ())


def test_everything_means_every_node() -> None:
    sketch = Sketch()
    nodes = {sketch.context("a"), sketch.state("b"), sketch.episode("c"), sketch.trait("d")}
    assert gone(planned(sketch, everything=True)) == nodes


def test_reject_goes_whole_whatever_ends_a_line_elsewhere() -> None:
    doomed, other = (Reject("diary.jsonl", 1, "cut", raw).to_json() for raw in ('{"text": "my knee\u2028and much more', "fine\x85as it is"))
    assert without_rejects(f"{doomed}\n{other}\n", ["knee"]) == (f"{other}\n", 1)
