"""The slash commands: each does what it says, is completed and listed, and fails in one line without ending the chat."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from pgmem_local.cli.chatting.commands import COMMANDS, Room, selection_of
from pgmem_local.graph.nodes import Context, Kind, NodeId
from pgmem_local.graph.people import EntityId, EntityKind, Fact, FactId, FactKind, Naming, Profile, Sentence
from pgmem_local.lesson import Lesson, PeopleLesson
from tests.cli.conftest import Models, Shell, on_day
from tests.fakes import HashEmbedder


def test_names_are_told_apart_and_say_what_they_do() -> None:
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)
    assert all(command.name.startswith("/") and command.about for command in COMMANDS)


def test_help_lists_every_command(pgmem: Shell) -> None:
    shown = pgmem("chat", stdin="/help\n").stdout
    assert all(command.name in shown for command in COMMANDS)


def test_unknown_command_and_missing_argument_are_said(pgmem: Shell) -> None:
    result = pgmem("chat", stdin="/nonsense\n/remember\nI swim now.\n")
    assert "there is no /nonsense; /help" in result.stderr
    assert "/remember TEXT:" in result.stderr
    assert result.stdout == "Glad to hear it.\n"


def test_me_shows_what_holds_and_what_changed(remembered: Shell) -> None:
    shown = remembered("chat", "--no-learn", stdin="/me\n").stdout
    assert shown.index("Now") < shown.index("jasmine tea") < shown.index("Earlier, since changed") < shown.index("espresso")


def test_why_shows_what_the_answer_rested_on_with_signs_and_validity_and_lines(remembered: Shell) -> None:
    shown = remembered("chat", "--no-learn", stdin="What do I drink in the morning?\n/why\n").stdout
    assert "s2  2026-03-11  high priority  User drinks jasmine tea in the morning" in shown
    assert "validity 0." in shown
    assert "S/C +" in shown
    assert "“A week without espresso. It's jasmine tea now.”" in shown


def test_why_marks_what_the_answer_has_words_in_common_with(remembered: Shell, models: Models) -> None:
    models.chat.replies["chat"] = "It is jasmine tea."
    shown = remembered("chat", "--no-learn", stdin="What did I drink before?\n/why\n").stdout
    assert "* s2  2026-03-11" in shown
    assert "  s1  2026-03-01" in shown


@pytest.fixture
def acquainted(remembered: Shell) -> Shell:
    """The memory also knows Toby, of whom one fact no longer holds, and his sister."""
    toby, ana, first, second = EntityId("p1"), EntityId("p2"), NodeId("c1"), NodeId("c2")
    people = PeopleLesson(
        kinds={toby: EntityKind.PERSON, ana: EntityKind.PERSON},
        namings=(Naming(toby, first, "Toby", "flatmate"), Naming(ana, second, "Ana")),
        profiles=(Profile(toby, (Sentence("Toby is the user's flatmate.", (first,)),)), Profile(ana, (Sentence("Ana sings.", (second,)),))),
        facts=(Fact(FactId("f1"), toby, FactKind.NAME, "Toby plays the clarinet.", (second,), on_day(10)),),
    )
    with remembered.store() as store:
        embedder = HashEmbedder()
        store.expect_vectors(embedder.identity, embedder.dimension)
        store.land(Lesson(people=people))
    return remembered


def test_why_names_the_people_that_the_answer_used_with_what_is_told_of_them(acquainted: Shell, models: Models) -> None:
    models.chat.replies["chat"] = "The clarinet."
    shown = acquainted("chat", "--no-learn", stdin="What does Toby play?\n/why\n").stdout
    told = shown[shown.index("Of others") :]
    assert "* p1  Toby, your flatmate" in told
    assert "      f1  Toby plays the clarinet.\n        c2  2026-03-11" in told
    assert "      profile  Toby is the user's flatmate.\n        c1  2026-03-01" in told
    assert "Ana" not in told


def test_why_names_nobody_where_the_answer_used_nobody(acquainted: Shell) -> None:
    shown = acquainted("chat", "--no-learn", stdin="What do I drink in the morning?\n/why\n").stdout
    assert "User drinks jasmine tea" in shown
    assert "Of others" not in shown


def test_why_shows_the_lines_that_were_given_as_they_are(acquainted: Shell) -> None:
    acquainted("chat", "--no-learn", stdin="Toby painted the kitchen door green.\n")
    shown = acquainted("chat", "--no-learn", stdin="Which colour did Toby give the kitchen door?\n/why\n").stdout
    said = shown[shown.index("What was said") :]
    assert "Toby painted the kitchen door green." in said


def test_why_of_an_id_shows_how_it_came_about(remembered: Shell) -> None:
    shown = remembered("chat", "--no-learn", stdin="/why S2\n/why s99\n")
    assert "rests on" in shown.stdout
    assert "no node 's99'" in shown.stderr


def test_why_before_any_answer_says_so(pgmem: Shell) -> None:
    assert "ask something first" in pgmem("chat", stdin="/why\n").stderr


def test_what_is_remembered_and_corrected_holds_and_undo_takes_it_back(remembered: Shell) -> None:
    remembered("chat", "--no-learn", stdin="/remember I am allergic to peanuts\n/correct s2 I drink mint tea in the morning\n")
    states = [state["text"] for state in remembered.json("me")["states"]]
    assert any("peanuts" in text for text in states)
    assert any("mint tea" in text for text in states)
    assert not any("jasmine" in text for text in states)
    result = remembered("chat", "--no-learn", stdin="/undo\n")
    assert "taken back: I drink mint tea" in result.stderr
    assert any("jasmine" in state["text"] for state in remembered.json("me")["states"])


def test_search_finds_lines_and_notes(remembered: Shell) -> None:
    shown = remembered("chat", "--no-learn", stdin="/search jasmine\n")
    assert "s2  " in shown.stdout
    assert "c2  " in shown.stdout


def test_people_and_timeline_are_shown(remembered: Shell) -> None:
    shown = remembered("chat", "--no-learn", stdin="/people\n/timeline\n/people Imani\n")
    assert "Nobody yet" in shown.stdout
    assert shown.stdout.index("2026-03-01") < shown.stdout.index("2026-03-11")
    assert "Imani" in shown.stderr


def test_forget_in_a_pipe_is_refused_because_nobody_can_be_asked(remembered: Shell) -> None:
    result = remembered("chat", "--no-learn", stdin="/forget jasmine\n")
    assert "nobody can be asked" in result.stderr
    assert "nothing was forgotten" in result.stderr
    assert any("jasmine" in state["text"] for state in remembered.json("me")["states"])


def test_forgetting_after_a_yes_leaves_no_trace_in_memory_conversation_and_files(
    pgmem: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Room, "confirms", lambda room, question: True)
    result = pgmem("chat", "--no-learn", stdin="I breed zebrafishcanary.\n/forget zebrafishcanary\nI swim now.\n")
    assert "forgotten: 1 line, " in result.stderr
    with pgmem.store() as store:
        nodes = store.load_graph().of_kind(Kind.CONTEXT)
    assert [node.text for node in nodes if isinstance(node, Context)] == ["I swim now."]
    assert not any(b"zebrafishcanary" in path.read_bytes() for path in pgmem.home.rglob("*") if path.is_file())


def test_nothing_to_forget_is_said(remembered: Shell) -> None:
    assert "nothing of that is remembered" in remembered("chat", "--no-learn", stdin="/forget walrus\n").stderr


def test_ids_are_forgotten_as_ids_and_anything_else_as_words() -> None:
    assert selection_of("S12 c3").ids == ("s12", "c3")
    assert selection_of("s12 and more").text == "s12 and more"


def test_private_and_temporary_conversations_are_not_stored(pgmem: Shell) -> None:
    pgmem("chat", stdin="/temp\nI swim now.\n/temp\nI drink tea.\n/private\nI run.\n")
    with pgmem.store() as store:
        assert [node.text for node in store.load_graph().of_kind(Kind.CONTEXT)] == ["I drink tea."]


def test_saved_conversation_is_a_private_file_that_overwrites_none(pgmem: Shell, tmp_path: Path) -> None:
    path = tmp_path / "talk.md"
    result = pgmem("chat", stdin=f"I drink tea.\n/save {path}\n/save {path}\n")
    assert path.read_text().endswith("**You:** I drink tea.\n\n**Memory:** Glad to hear it.\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "name another file" in result.stderr


def test_stats_and_model_are_shown(remembered: Shell) -> None:
    shown = remembered("chat", "--no-learn", stdin="/stats\n/model\n").stdout
    assert "Per turn" in shown
    assert "scripted, 4096 tokens of context" in shown


def test_what_goes_wrong_in_a_command_does_not_end_the_chat(remembered: Shell) -> None:
    result = remembered("chat", "--no-learn", stdin="/correct s99 I swim\nI swim now.\n")
    assert "no node 's99'" in result.stderr
    assert result.stdout == "Glad to hear it.\n"
