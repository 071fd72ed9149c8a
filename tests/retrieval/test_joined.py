"""One context of persona, people and exchanges: the kind of question divides it, every note can be cited, no budget is passed."""

from __future__ import annotations

import pytest

from pgmem_local.graph.nodes import RecallPriority
from pgmem_local.graph.people import EntityId
from pgmem_local.retrieval.joined import FACTS, SAID
from pgmem_local.retrieval.kind import QuestionKind, asks_for_advice, kind_of_question
from tests.retrieval.company import Circle, words


@pytest.fixture
def circle() -> Circle:
    drawn = Circle()
    ana, ben = drawn.person("Ana"), drawn.person("Ben")
    drawn.fact("Ben is the flatmate of Ana.", ana, ben, day=1)
    drawn.fact("Ben plays the piano.", ben, day=2, said="Rain all day. Ben plays the piano. Soup again for supper, with leeks.")
    drawn.fact("Ana paints boats.", ana, day=3)
    drawn.sketch.context("The choir sang in the old tower.", 4)
    return drawn


def test_chain_is_shown_in_order_with_who_leads_to_whom(circle: Circle) -> None:
    text = circle.written("Which instrument does Ana's flatmate play?").text
    assert "(Ana -> Ben)" in text
    assert text.index("[1] 2026-01-02: Ben is the flatmate of Ana.") < text.index("[2] 2026-01-03: Ben plays the piano.")


def test_each_label_stands_for_the_exchange_its_note_rests_on(circle: Circle) -> None:
    written = circle.written("Which instrument does Ana's flatmate play?")
    lines = {int(line[1 : line.index("]")]): line for line in written.text.splitlines() if line.startswith("[")}
    assert lines.keys() == written.labels.keys()
    for label, node in written.labels.items():
        assert lines[label].partition(": ")[2] in circle.sketch.graph[node].text


def test_exchange_comes_back_though_no_fact_was_made_of_it(circle: Circle) -> None:
    text = circle.written("Where did the choir of Ana sing, in a tower?").text
    assert SAID in text
    assert "The choir sang in the old tower." in text


def test_exchange_that_facts_hold_already_is_not_said_twice(circle: Circle) -> None:
    text = circle.written("Which instrument does Ana's flatmate play?").text
    assert text.count("Ben is the flatmate of Ana.") == 1
    assert text.count("Soup again for supper") == 1, "there is more in it than its fact"


def test_facts_come_before_profiles(circle: Circle) -> None:
    circle.profile(EntityId("p2"), "Ben is a quiet musician.")
    text = circle.written("Which instrument does Ana's flatmate play?").text
    assert text.index("Ben plays the piano.") < text.index("Ben is a quiet musician.")
    assert FACTS in text


@pytest.mark.parametrize("question", ["Which instrument does Ana's flatmate play?", "What should I buy for Ana?", "What do I like?"])
def test_budget_is_kept(circle: Circle, question: str) -> None:
    for number in range(6):
        circle.sketch.state(f"User likes number {number} very much", priority=RecallPriority.HIGH)
    for budget in range(0, 150, 11):
        assert words(circle.written(question, budget, persona=True).text) <= budget


def test_persona_takes_more_of_a_question_about_the_user(circle: Circle) -> None:
    for number in range(12):
        circle.sketch.state(f"User likes number {number} very much")
    questions = ("What do I like?", "What does Ana like?")
    mine, hers = (circle.written(question, 200, persona=True).text.count("User likes") for question in questions)
    assert mine > hers > 0


def test_labels_go_on_from_section_to_section(circle: Circle) -> None:
    circle.sketch.state("User plays the tuba")
    written = circle.written("Which instrument does Ana's flatmate play?", persona=True)
    assert "User plays the tuba" in written.text
    assert list(written.labels) == list(range(1, len(written.labels) + 1))


def test_superseded_fact_is_never_shown_as_a_fact(circle: Circle) -> None:
    newer = circle.fact("Ben plays the harp now.", EntityId("p2"), day=9)
    circle.fact("Ben plays the oboe.", EntityId("p2"), day=1, replaced_by=newer, said="He plays it. Ben plays the oboe.")
    text = circle.written("Which instrument does Ben play?").text
    assert "Ben plays the harp now." in text
    assert ": Ben plays the oboe." not in text.partition(SAID)[0]


def test_answer_about_somebody_can_stand_only_where_they_or_whom_they_lead_to_are_spoken_of(circle: Circle) -> None:
    circle.sketch.context("Bought a bicycle, red, one working brake.", 6)
    circle.sketch.context("Her canoe is green, says Ana.", 7)
    found = circle.about("What colour is the car of Ana's flatmate?")
    assert found is not None
    assert "Her canoe is green, says Ana." in found
    assert any("Ben plays the piano." in line for line in found)
    assert not any("bicycle" in line or "choir" in line for line in found)


def test_question_that_names_nobody_may_be_answered_from_any_line(circle: Circle) -> None:
    assert circle.about("What colour is my bicycle?") is None


def test_exchanges_are_shown_where_nobody_is_known() -> None:
    drawn = Circle()
    assert not drawn.company("Which harp?")
    drawn.sketch.context("The harp is made of pear wood.", 1)
    assert "pear wood" in drawn.written("Which harp?").text
    assert not Circle().company("What do I like?")


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What should I cook for Ana tonight?", QuestionKind.ADVICE),
        ("Can you recommend a book?", QuestionKind.ADVICE),
        ("What would Ana like for her birthday?", QuestionKind.ADVICE),
        ("Which instrument does Ana's flatmate play?", QuestionKind.SOMEONE),
        ("What is my dentist's dog called?", QuestionKind.SOMEONE),
        ("Who gave me the lamp?", QuestionKind.SOMEONE),
        ("When did I start to run?", QuestionKind.WHEN),
        ("What do I drink in the morning?", QuestionKind.ME),
        ("Which book did I read last?", QuestionKind.ME),
        ("Is the tower open?", QuestionKind.OTHER),
    ],
)
def test_kind_is_told_by_words_and_names(circle: Circle, question: str, kind: QuestionKind) -> None:
    assert kind_of_question(question, circle.people) is kind


@pytest.mark.parametrize("question", ["What did Toby recommend?", "Which ideas did I have?", "Why did I start to swim?"])
def test_question_about_what_was_asks_for_no_advice(question: str) -> None:
    assert not asks_for_advice(question)
