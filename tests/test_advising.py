"""Advice is checked suggestion by suggestion against what holds of the user, written once more where it breaks that, else says so."""

from __future__ import annotations

from collections.abc import Sequence

from pgmem_local.advising import advise, find_break, guards
from pgmem_local.answering import UNKNOWN, Answer, Notes
from pgmem_local.graph.nodes import RecallPriority
from pgmem_local.settings import AnswerSettings
from tests.builders import Sketch
from tests.fakes import Asked, RuleChat

QUESTION = "What should I eat tonight?"
BAD = "Eat a peanut stew."
GOOD = "Eat leek soup."


class Table:
    """A user who may eat no peanuts, and who likes soup."""

    def __init__(self) -> None:
        sketch = Sketch()
        self.allergy = sketch.state("User is allergic to peanuts, so no peanut stew", cosine=0.9, priority=RecallPriority.HIGH)
        self.soup = sketch.state("User likes leek soup", cosine=0.8)
        self.graph = sketch.graph
        self.kept = guards(sketch.retrieve().evidence)
        self.notes = Notes("[1] User is allergic to peanuts\n[2] User likes leek soup", {1: self.allergy, 2: self.soup})

    def advise(self, model: RuleChat) -> Answer:
        return advise(model, self.graph, QUESTION, self.notes, self.kept, AnswerSettings())


def advisor(*drafts: str) -> RuleChat:
    """Writes these one after the other; a suggestion of peanuts breaks what is known."""
    waiting = list(drafts)
    return RuleChat({"advice": lambda asked: waiting.pop(0), "option_check": checks})


def checks(asked: Asked) -> str:
    suggestion = asked.prompt.text.rpartition("Suggestion: ")[2]
    return " No" if "peanut" in suggestion and "allergic" in asked.prompt.text.rpartition("Question:")[0] else " Yes"


def tasks(model: RuleChat, task: str) -> Sequence[Asked]:
    return [asked for asked in model.asked if asked.prompt.head.task == task]


def test_only_current_states_of_high_priority_and_traits_are_guards() -> None:
    assert [node.text for node in Table().kept] == ["User is allergic to peanuts, so no peanut stew"]


def test_advice_that_breaks_nothing_is_written_once() -> None:
    model = advisor(f"{GOOD} [2]")
    given = Table().advise(model)
    assert (given.text, given.known) == (GOOD, True)
    assert [citation.node.text for citation in given.citations] == ["User likes leek soup"]
    assert len(tasks(model, "advice")) == 1


def test_advice_that_breaks_what_is_known_is_written_once_more_with_what_it_breaks() -> None:
    model = advisor(f"{GOOD} {BAD}", GOOD)
    assert Table().advise(model).text == GOOD
    again = tasks(model, "advice")[1].prompt.text
    assert f"Not this: {BAD} It goes against: User is allergic to peanuts" in again


def test_what_the_second_writing_breaks_is_named_and_cited() -> None:
    model = advisor(BAD, BAD)
    given = Table().advise(model)
    assert given.text.startswith(BAD)
    assert "may go against what I know: User is allergic to peanuts" in given.text
    assert "User is allergic to peanuts, so no peanut stew" in [citation.node.text for citation in given.citations]
    assert len(tasks(model, "advice")) == 2


def test_each_suggestion_is_checked_by_itself() -> None:
    model = advisor()
    table = Table()
    found = find_break(model, QUESTION, f"{GOOD} {BAD} Drink tea.", table.kept)
    assert found is not None
    assert (found.suggestion, found.against.id) == (BAD, table.allergy)
    assert len(tasks(model, "option_check")) == 3 + 1


def test_model_that_does_not_know_is_not_made_to_advise() -> None:
    assert Table().advise(advisor("I do not know.")) == Answer(UNKNOWN, known=False)


def test_advice_that_rests_on_no_note_is_not_given() -> None:
    assert not Table().advise(advisor("Fly to Mars.")).known
