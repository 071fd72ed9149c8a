"""ProGraph's plain rule: names first, then who is named in a profile and resembles the question, each with facts of their own."""

from __future__ import annotations

from pgmem_local.graph.people import EntityId
from pgmem_local.retrieval.people import people_notes
from pgmem_local.settings import PeopleReadSettings
from tests.retrieval.company import Circle, words

ONE = PeopleReadSettings(profiles=1)


def circle() -> Circle:
    """Ana's profile names Ben, who plays; it also names Cid, of whom nothing of the kind is told."""
    drawn = Circle()
    ana, ben, cid = drawn.person("Ana"), drawn.person("Ben"), drawn.person("Cid")
    drawn.profile(ana, "Ana lives with her flatmate Ben and a cousin Cid.")
    drawn.profile(ben, "Ben plays every instrument.")
    drawn.profile(cid, "Cid sells stamps in Porto.")
    drawn.fact("Ben plays the piano.", ben)
    drawn.fact("Ben eats soup.", ben)
    return drawn


def names(drawn: Circle, question: str, settings: PeopleReadSettings = ONE) -> list[str]:
    return [known.entity.name for known in drawn.chosen(question, settings)]


def test_boost_puts_who_is_named_first() -> None:
    question = "Does Ana sell stamps in Porto?"
    assert names(circle(), question, PeopleReadSettings(profiles=1, rounds=0, name_boost=0.0)) == ["Cid"]
    assert names(circle(), question, PeopleReadSettings(profiles=1, rounds=0, name_boost=1.0)) == ["Ana"]


def test_name_in_a_profile_is_followed_where_it_resembles_the_question() -> None:
    assert names(circle(), "Which instrument does Ana's flatmate play?") == ["Ana", "Ben"]


def test_without_rounds_nobody_is_followed() -> None:
    assert names(circle(), "Which instrument does Ana's flatmate play?", PeopleReadSettings(profiles=1, rounds=0)) == ["Ana"]


def test_each_has_their_own_best_facts_and_no_more_than_the_cap() -> None:
    known = {one.entity.name: one for one in circle().chosen("Which instrument does Ben play?", PeopleReadSettings(profiles=1, facts=1))}
    assert [fact.text for fact in known["Ben"].facts] == ["Ben plays the piano."]


def test_who_led_to_whom_is_kept() -> None:
    chosen = circle().chosen("Which instrument does Ana's flatmate play?", ONE)
    assert [known.through for known in chosen] == [None, EntityId("p1")]


def test_replaced_fact_is_not_served() -> None:
    drawn = circle()
    newer = drawn.fact("Ben plays the harp now.", EntityId("p2"), day=3)
    drawn.fact("Ben plays the oboe.", EntityId("p2"), replaced_by=newer)
    assert "Ben plays the oboe." not in {fact.text for known in drawn.chosen("What does Ben play?") for fact in known.facts}


def test_notes_hold_profile_then_facts_with_the_exchange_behind_each_and_keep_the_budget() -> None:
    drawn = circle()
    chosen = drawn.chosen("Which instrument does Ana's flatmate play?", ONE)
    notes = people_notes(chosen, drawn.sketch.graph, 200, words)
    assert notes.text.index("Ben plays every instrument.") < notes.text.index("Ben plays the piano.")
    assert [drawn.sketch.graph[node].text for node in notes.labels.values()][-2:] == ["Ben plays the piano.", "Ben eats soup."]
    for budget in range(0, 60, 7):
        assert words(people_notes(chosen, drawn.sketch.graph, budget, words).text) <= budget
