"""The write path of entity profiles as a whole, with a model that follows rules: whom a chunk speaks of and what it says of them."""

from __future__ import annotations

import pytest

from pgmem_local.graph.people import EntityKind, FactKind
from pgmem_local.prompts import load
from pgmem_local.settings import PeopleSettings
from tests.profiles.builders import Diary, PeopleReader

TOBY = ("My flatmate Toby is learning the cello.", "He pays Gwilym £32 a lesson. Rain again.", "My boss Rike hates fuss.")


# ------------------------------------------------------------------ what it costs


def test_session_costs_one_call_and_one_for_each_entity() -> None:
    model = PeopleReader()
    Diary(model).session(*TOBY)
    assert sorted(model.tasks()) == ["people_names", *["people_profile"] * 3]


def test_session_without_a_name_costs_nothing() -> None:
    model = PeopleReader()
    assert Diary(model).session("It rained. I bought a tent.").lesson is None
    assert model.tasks() == []


def test_most_spoken_of_are_written_when_there_are_too_many() -> None:
    diary = Diary(settings=PeopleSettings(entities_a_session=1)).session("Ana met Ben.", "Ana called.")
    assert diary.names() == ["Ana"]


# ------------------------------------------------------------------ who is who


def test_names_relations_and_kinds_come_from_the_words() -> None:
    diary = Diary(PeopleReader({"Bello": "pet"})).session("My sister Ana came with her dog. Bello barked at Ana.")
    assert [(one.name, one.relation, one.kind) for one in diary.people] == [
        ("Ana", "sister", EntityKind.PERSON),
        ("Bello", None, EntityKind.PET),
    ]


def test_what_the_model_takes_for_no_entity_is_left_out() -> None:
    assert Diary(PeopleReader({"Latex": "other"})).session("Latex brings welts.").names() == []


def test_place_is_kept_once_it_is_spoken_of_twice() -> None:
    model = PeopleReader({"Porto": "place"})
    assert Diary(model).session("Joanna moved to Porto.").names() == ["Joanna"]
    assert Diary(model).session("We stayed in Porto. I like Porto.").names() == ["Porto"]


def test_model_joins_a_name_to_a_relation_that_the_user_states() -> None:
    model = PeopleReader({"Toby": "person, user's flatmate", "Rike": "person, user's boss"})
    diary = Diary(model).session("Toby and I share the flat.", "My flatmate has got into tea.", "Rike called.")
    assert [(one.name, one.relation) for one in diary.people] == [("Toby", "flatmate"), ("Rike", None)]
    assert diary.facts("Toby")[-1] == "Toby has got into tea."


def test_nameless_person_gets_a_name_when_it_is_said() -> None:
    diary = Diary().session("My sister plays the oboe.")
    assert diary.names() == ["the user's sister"]
    diary.session("My sister Ana moved.", day=1)
    assert diary.names() == ["Ana"]
    assert len(diary.facts("Ana")) == 2


def test_name_that_may_mean_two_people_is_not_guessed() -> None:
    diary = Diary(PeopleReader({"Graz": "place"})).session("My flatmate Ana sings.").session("My colleague Ana swims.", day=1)
    assert [(one.name, one.relation) for one in diary.people] == [("Ana", "flatmate"), ("Ana", "colleague")]
    before = diary.people.all_facts()
    assert diary.session("Ana moved to Graz.", day=2).people.all_facts() == before
    assert diary.session("My colleague Ana moved to Graz.", day=3).facts("my colleague Ana")[-1] == "My colleague Ana moved to Graz."


def test_full_name_belongs_to_the_one_known_by_the_first() -> None:
    diary = Diary().session("Ana sings.").session("Ana Reyes moved.", day=1).session("Ana Silva called.", day=2)
    assert [one.names for one in diary.people] == [("Ana Reyes", "Ana"), ("Ana Silva",)]


def test_nickname_finds_its_owner_only_where_the_model_reads_one_person() -> None:
    told = ("Toby is my flatmate. Toby sings.", "Tobias is learning the cello.")
    assert Diary(PeopleReader(same=[("Toby", "Tobias")])).session(told[0]).session(told[1], day=1).names() == ["Toby"]
    assert Diary(PeopleReader()).session(told[0]).session(told[1], day=1).names() == ["Toby", "Tobias"]


def test_two_names_in_one_breath_are_two_people_whatever_the_model_reads() -> None:
    model = PeopleReader(same=[("Kim", "Kimberly")])
    assert Diary(model).session("My friend Kim makes kimchi. Kimberly is allergic.").names() == ["Kim", "Kimberly"]
    assert "people_same" not in model.tasks()


def test_sender_of_a_message_is_the_subject_of_what_they_say() -> None:
    diary = Diary().session("I moved to Porto.", author="Anna")
    assert diary.facts("Anna") == ["Anna: I moved to Porto."]


def test_first_and_last_mention_are_kept() -> None:
    (ana,) = Diary().session("Ana sings.").session("Ana swims.", day=9).people
    assert ana.first is not None
    assert ana.last is not None
    assert (ana.last.day - ana.first.day).days == 9


# ------------------------------------------------------------------ what is said of them


def test_fact_is_the_users_own_sentence_with_the_name_put_in() -> None:
    diary = Diary().session(*TOBY)
    assert diary.facts("Toby") == ["My flatmate Toby is learning the cello.", "Toby pays Gwilym £32 a lesson."]
    assert diary.facts("Gwilym") == ["Toby pays Gwilym £32 a lesson."]


def test_fact_names_the_turn_it_rests_on() -> None:
    diary = Diary().session(*TOBY)
    assert [fact.sources for fact in diary.people.facts(diary.entity("Toby").id)] == [("c1",), ("c2",)]


def test_pronoun_that_may_mean_two_people_is_left_to_the_model() -> None:
    texts = ("Ana met Eva.", "She moved to Graz.")
    assert Diary().session(*texts).facts("Ana") == ["Ana met Eva."]
    told = Diary(PeopleReader(written={"Ana": "2. Ana moved to Graz."})).session(*texts)
    assert told.facts("Ana") == ["Ana met Eva.", "Ana moved to Graz."]
    assert told.facts("Eva") == ["Ana met Eva."]


def test_pronoun_of_the_other_gender_is_not_taken() -> None:
    assert Diary().session("My brother Ben came.", "She hates rain.").facts("Ben") == ["My brother Ben came."]


def test_question_states_nothing() -> None:
    assert Diary().session("What would Ana like?", "Should I ask Ben?").people.all_facts() == []
    assert Diary().session("Does Ana still live in Graz?").names() == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Ana moved to Graz.", FactKind.CHANGE),
        ("Ana left on 3 March.", FactKind.CHANGE),
        ("Ana sings on Monday.", FactKind.DATE),
        ("Ana's birthday is 3 June.", FactKind.DATE),
        ("Ana lives with Ben.", FactKind.LINK),
        ("Ana likes figs, plums and rye.", FactKind.LIST),
        ("Ana owns 14 hats.", FactKind.NUMBER),
        ("Ana read Middlemarch.", FactKind.NAME),
        ("Ana is allergic to nuts.", FactKind.IDENTITY),
    ],
)
def test_kind_of_a_fact_is_told_from_its_words(text: str, kind: FactKind) -> None:
    diary = Diary(PeopleReader({"Middlemarch": "other"})).session("Ben called.", text)
    assert [fact.kind for fact in diary.people.facts(diary.entity("Ana").id)] == [kind]


def test_relative_date_is_resolved_from_the_day_it_was_said_and_its_words_are_kept() -> None:
    diary = Diary().session("Mira called.", "She starts at the hospital on Monday.")
    (_, fact) = diary.people.facts(diary.entity("Mira").id)
    assert fact.text == "Mira starts at the hospital on Monday (2026-03-09)."
    assert (fact.when, fact.original) == ("2026-03-09", "on Monday")


def test_doubtful_date_says_so() -> None:
    diary = Diary().session("Mira flies next Friday.", day=3)
    assert diary.facts("Mira") == ["Mira flies next Friday (2026-03-13 or 2026-03-20)."]
    assert diary.people.all_facts()[0].when == "2026-03-13 (uncertain)"


# ------------------------------------------------------------------ what is written


def test_written_sentences_make_the_profile_and_keep_their_source() -> None:
    model = PeopleReader(written={"Toby": "1. Toby learns the cello.\n2. Toby pays Gwilym £32 a lesson."})
    diary = Diary(model).session(*TOBY)
    profile = diary.people.profile(diary.entity("Toby").id)
    assert profile.text == "Toby is the user's flatmate. Toby learns the cello. Toby pays Gwilym £32 a lesson."
    assert [sentence.sources for sentence in profile.sentences] == [("c1",), ("c1",), ("c2",)]


@pytest.mark.parametrize(
    "written",
    [
        "1. Toby learns the violin at the academy.",
        "2. Toby pays Gwilym £45 a lesson.",
        "2. Toby pays Quillon £32 a lesson.",
        "1. Toby is not learning the cello.",
        "1. He is learning the cello.",
        "2. Toby gets £32 a lesson and pays Gwilym.",
        "1. My Toby is learning the cello.",
        "Nonsense.",
        "",
    ],
)
def test_what_the_source_does_not_bear_out_is_dropped(written: str) -> None:
    diary = Diary(PeopleReader(written={"Toby": written})).session(*TOBY)
    profile = diary.people.profile(diary.entity("Toby").id)
    assert profile.text == "Toby is the user's flatmate. My flatmate Toby is learning the cello. Toby pays Gwilym £32 a lesson."


@pytest.mark.parametrize("written", ["2. Toby learns the cello.", "Toby learns the cello.", "9. Toby learns the cello."])
def test_wrong_or_missing_number_is_no_harm(written: str) -> None:
    diary = Diary(PeopleReader(written={"Toby": written})).session(*TOBY)
    sentences = diary.people.profile(diary.entity("Toby").id).sentences
    assert [one.sources for one in sentences if one.text == "Toby learns the cello."] == [("c1",)]


def test_model_sees_statements_with_the_names_put_in() -> None:
    model = PeopleReader()
    Diary(model).session(*TOBY)
    (asked,) = [one for one in model.asked if one.prompt.text.startswith("About: Toby")]
    assert "1. My flatmate Toby is learning the cello.\n2. Toby pays Gwilym £32 a lesson." in asked.prompt.text


def test_my_is_the_users_in_what_is_written() -> None:
    diary = Diary(PeopleReader(written={"Rike": "1. Rike hates my shoes."})).session("My boss Rike hates my old shoes.")
    assert "Rike hates the user's shoes." in diary.people.profile(diary.entity("Rike").id).text


@pytest.mark.parametrize("task", ["people_names", "people_profile", "people_same"])
def test_examples_of_a_prompt_never_reach_the_memory(task: str) -> None:
    examples = load(task).head.instructions
    diary = Diary(PeopleReader(written={"Toby": examples.replace("Quillon", "Toby").replace("Tam", "Toby")})).session(*TOBY)
    written = [diary.people.profile(entity.id).text for entity in diary.people]
    known = " ".join([*diary.names(), *written, *(fact.text for fact in diary.people.all_facts())])
    for canary in ("Quillon", "Brindlemoor", "Ombrelle", "Wendeline", "Tarrock", "ferry", "oboe", "eggs", "bees"):
        assert canary not in known


def test_said_twice_is_one_fact_with_two_sources() -> None:
    diary = Diary().session("Ana is allergic to nuts.").session("Ana is allergic to nuts!", day=4)
    (fact,) = diary.people.all_facts()
    assert fact.sources == ("c1", "c2")


def test_nearly_the_same_with_another_number_is_another_fact() -> None:
    words = "Ana runs in the park by the river before work with her team and swims {} lengths."
    diary = Diary().session(words.format(20)).session(words.format(30), day=4)
    assert len(diary.facts("Ana")) == 2


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Ana lives in Graz.", "Ana moved to Linz."),
        ("Ana works at the harbour.", "Ana works as a baker."),
        ("Ana drives a red Volvo.", "Ana drives a bus."),
        ("Ana plays the oboe.", "Ana no longer plays the oboe."),
    ],
)
def test_later_fact_on_a_single_valued_matter_replaces_the_earlier(older: str, newer: str) -> None:
    diary = Diary().session(older).session(newer, day=9)
    assert diary.facts("Ana") == [newer]
    assert diary.facts("Ana", current=False) == [older, newer]


def test_order_of_reading_does_not_matter() -> None:
    diary = Diary().session("Ana moved to Linz.", day=9).session("Ana lives in Graz.")
    assert diary.facts("Ana") == ["Ana moved to Linz."]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana has a dog.", "Ana has a cat."),
        ("Ana lives in Graz.", "Ana lives with Ben."),
        ("Ana plays the oboe.", "Ana no longer eats meat."),
        ("Ana speaks Dutch.", "Ana speaks Welsh."),
    ],
)
def test_what_adds_up_replaces_nothing(one: str, other: str) -> None:
    diary = Diary(PeopleReader({"Dutch": "other", "Welsh": "other"})).session(one).session(other, day=9)
    assert diary.facts("Ana") == [one, other]


def test_long_profile_gives_up_its_oldest_but_never_the_last_that_names_somebody() -> None:
    diary = Diary(settings=PeopleSettings(profile_words=20)).session("My flatmate Ana lives with Ben. Ana swims. Ana sings in the choir.")
    diary.session("Ana likes figs. Ana owns a red hat. Ana rows every week on the lake.", day=1)
    text = diary.people.profile(diary.entity("Ana").id).text
    assert "Ben" in text
    assert "the user's flatmate" in text
    assert "rows every week" in text
    assert "swims" not in text


def test_small_context_window_is_no_error() -> None:
    diary = Diary(PeopleReader(context_tokens=700)).session(*(f"Ana told me a long story about hat number {n}." for n in range(60)))
    assert len(diary.facts("Ana")) == 60


def test_sentence_that_turns_round_who_did_it_is_dropped() -> None:
    text = "Saw a physio at the clinic, Delphine, hands like a blacksmith."
    diary = Diary(PeopleReader(written={"Delphine": "1. Delphine saw a physio at the clinic."})).session(text)
    assert diary.people.profile(diary.entity("Delphine").id).text == text
