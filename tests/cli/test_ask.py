"""`pgmem ask`: an answer, the words of the diary it rests on, and how they were found."""

from __future__ import annotations

from tests.cli.conftest import Models, Shell
from tests.fakes import ScriptedChat

QUESTION = "What do I drink in the morning now?"


def answering(models: Models, text: str = "You drink jasmine tea [1].", holds: str = " Yes") -> None:
    models.chat = ScriptedChat(by_task={"answer": [holds, text]})


def test_answer_comes_with_date_and_words_of_the_diary(remembered: Shell, models: Models) -> None:
    answering(models)
    shown = remembered("ask", QUESTION).stdout
    assert shown.startswith("You drink jasmine tea.\n")
    assert "[s2] 2026-03-11 12:00  “A week without espresso. It's jasmine tea now.”" in shown


def test_json_cites_the_line_of_the_diary_and_the_note_made_of_it(remembered: Shell, models: Models) -> None:
    answering(models)
    said = remembered.json("ask", QUESTION)
    assert (said["answer"], said["known"], said["log_odds"]) == ("You drink jasmine tea.", True, 10.0)
    (citation,) = said["citations"]
    assert citation == {
        "id": "s2",
        "timestamp": "2026-03-11T12:00:00+01:00",
        "text": "A week without espresso. It's jasmine tea now.",
        "note": "User drinks jasmine tea in the morning",
        "quotes": [{"context": "c2", "timestamp": "2026-03-11T12:00:00+01:00", "text": "A week without espresso. It's jasmine tea now."}],
    }


def test_declined_question_is_an_answer_without_citations(remembered: Shell, models: Models) -> None:
    answering(models, holds=" No")
    said = remembered.json("ask", "What colour is the car?")
    assert (said["known"], said["citations"], said["log_odds"]) == (False, [], -10.0)
    assert said["answer"].startswith("I don't know")


def test_empty_memory_knows_nothing_and_says_how_to_fill_it(pgmem: Shell) -> None:
    result = pgmem("ask", QUESTION)
    assert result.exit_code == 0
    assert result.stdout.startswith("I don't know")
    assert "is empty; fill it with `pgmem ingest FILE`" in result.stderr


def test_explain_shows_seeds_paths_with_signs_what_evidence_weighs_and_the_three_figures(remembered: Shell, models: Models) -> None:
    answering(models)
    shown = remembered("ask", QUESTION, "--explain").stdout
    assert "states: s2 " in shown
    for word in ("weighs", "fresh", "φ", "val", "ψ", "changed", "challenged", "seed"):
        assert word in shown


def test_explained_json_holds_the_same_for_scripts(remembered: Shell, models: Models) -> None:
    answering(models)
    explain = remembered.json("ask", QUESTION, "--explain")["explain"]
    assert {seed["id"] for seed in explain["seeds"]["states"]} == {"s1", "s2"}
    by_id = {entry["id"]: entry for entry in explain["evidence"]}
    assert (by_id["s1"]["status"], by_id["s1"]["replaced_by"]) == ("changed", ["s2"])
    assert by_id["s2"]["path"] == {"origin": "s2", "sign": "+", "steps": []}
    assert by_id["s2"]["evidence"].keys() == {"supporters", "challengers", "supporting", "contradicting", "freshness"}
    assert explain["about_the_past"] is False


def test_path_from_another_node_shows_each_step_with_its_sign() -> None:
    from pgmem_local.cli.ask import path_text
    from pgmem_local.graph.edges import EvidenceEdge, Relation
    from pgmem_local.graph.nodes import NodeId
    from pgmem_local.graph.signs import Sign
    from pgmem_local.retrieval.expand import SignedPath, Step

    s1, s2, t1 = NodeId("s1"), NodeId("s2"), NodeId("t1")
    steps = (
        Step(s2, Sign.PLUS, EvidenceEdge(s1, s2, Relation.SHIFT_TO, 0.9)),
        Step(t1, Sign.MINUS, EvidenceEdge(s2, t1, Relation.CONTRADICT, 0.9)),
    )
    assert path_text(SignedPath(s1, steps)) == "s1 +shift_to s2 -contradict t1"


def test_what_the_model_writes_is_printed_literally(remembered: Shell, models: Models) -> None:
    answering(models, "You like [red]tea[/red] :smile: \x1b[31mred\x1b[0m jasmine.")
    shown = remembered("ask", QUESTION).stdout
    assert shown.startswith("You like [red]tea[/red] :smile: red jasmine.\n")
