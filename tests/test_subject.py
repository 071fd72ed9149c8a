from __future__ import annotations

import pytest

from pgmem_local.subject import clauses, told_of_others_only


@pytest.mark.parametrize(
    ("note", "said"),
    [
        ("User is a vegetarian.", "He'd checked, bless him. He's a vegetarian, so he's careful with food."),
        ("User lost one glove.", "The walk was lovely, Sunniva only lost one glove."),
        ("User practises the oboe.", "Sunniva practised her oboe until nine, the slow piece again."),
        ("User works on a ferry.", "My brother came by. They work on a ferry now."),
        ("User drew a fish.", "He waited for the bus and then drew a fish on the window."),
        ("User ist Lehrer.", "Otto war da, er ist Lehrer."),
    ],
)
def test_what_is_said_of_somebody_else_is_no_fact_about_the_user(note: str, said: str) -> None:
    assert told_of_others_only(note, said)


@pytest.mark.parametrize(
    ("note", "said"),
    [
        ("User is allergic to shellfish.", "Otto brought oysters, and shellfish would put me in hospital. He's a cook."),
        ("User bought bread.", "Long walk. Bought bread and a bunch of mint on the way home."),
        ("User shares the rent with Otto.", "Otto and I share the rent."),
        ("User promised to be there.", "Her recital is on the twelfth. I promised to be there."),
        ("User taught Mr Berg the phone.", "Taught Mr Berg his phone."),
        ("User has a bad knee.", "Knee again, halfway round the park."),
        ("User likes jasmine tea.", "It's jasmine tea in the mornings now."),
        ("User ist nervös.", "Seine Prüfung ist morgen, ich bin nervös."),
        ("User speaks Catalan.", "Nothing that these words are in."),
    ],
)
def test_what_may_be_the_users_own_is_left_to_the_model(note: str, said: str) -> None:
    assert not told_of_others_only(note, said)


def test_a_clause_that_goes_on_keeps_the_subject_before_it() -> None:
    said = "Otto waited for me and then drew a fish. She sang and danced. Bought plums and bread."
    assert [own for _, own in clauses(said)] == [True, True, False, False, True, True]


def test_a_message_without_words_has_no_clauses() -> None:
    assert list(clauses(" … ")) == []
