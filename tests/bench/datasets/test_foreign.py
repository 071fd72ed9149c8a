"""Data of others: found where it lies, told by name where it does not, and its quirks handled. The samples here are invented."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from pgmem_local.bench.datasets.foreign import IMPLEXCONV, LOCOMO, MEMDAILY, PERSONAMEM, PREFEVAL, ForeignData, files_of, locate
from pgmem_local.bench.datasets.implexconv import read_implexconv
from pgmem_local.bench.datasets.locomo import dialogue_ids, read_locomo
from pgmem_local.bench.datasets.memdaily import read_memdaily
from pgmem_local.bench.datasets.personamem import read_personamem
from pgmem_local.bench.datasets.prefeval import chained, read_prefeval
from pgmem_local.errors import IngestError


def lines(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("\n".join(json.dumps(record) for record in records), "utf-8")
    return path


def test_missing_data_is_told_with_source_licence_and_files() -> None:
    with pytest.raises(IngestError) as missing:
        locate(LOCOMO, None, {})
    for part in ("LoCoMo", "snap-research/locomo", "CC BY-NC 4.0", "locomo10.json", "--data", "PGMEM_BENCH_DATA"):
        assert part in str(missing.value)


def test_data_is_found_anywhere_below_the_folder_plain_or_packed(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    questions = lines(tmp_path / "questions_32k.jsonl", {})
    contexts = tmp_path / "deep" / "shared_contexts_32k_partial.jsonl.gz"
    contexts.write_bytes(gzip.compress(b"{}"))
    assert locate(PERSONAMEM, None, {"PGMEM_BENCH_DATA": str(tmp_path)}) == [questions, contexts]


def test_half_of_the_data_is_not_enough(tmp_path: Path) -> None:
    lines(tmp_path / "questions_32k.jsonl", {})
    with pytest.raises(IngestError, match="is not in "):
        locate(PERSONAMEM, tmp_path)


def test_one_file_can_be_named_itself(tmp_path: Path) -> None:
    path = lines(tmp_path / "other-name.jsonl", {})
    assert locate(IMPLEXCONV, path) == [path]


@pytest.mark.parametrize(
    ("evidence", "ids"),
    [
        (["D1:3"], ["D1:3"]),
        (["D8:6; D9:17"], ["D8:6", "D9:17"]),
        (["D1:2 D1:3", "D1:2"], ["D1:2", "D1:3"]),
        (["D"], []),
        ([], []),
    ],
)
def test_malformed_evidence_is_repaired(evidence: list[str], ids: list[str]) -> None:
    assert dialogue_ids(evidence) == ids


def locomo(folder: Path) -> Path:
    turns = [
        {"speaker": "Ada", "dia_id": "D1:1", "text": "Look!", "blip_caption": "a red kite", "query": "kite for sale"},
        {"speaker": "Bo", "dia_id": "D1:2", "text": "I paint on Mondays."},
    ]
    asked = [
        {"question": "When does Bo paint?", "answer": "Sunday", "evidence": ["D1:2; D7:1"], "category": 2},
        {"question": "How many kites?", "answer": 1, "evidence": ["D1:1"], "category": 4},
        {"question": "What does Ada paint?", "adversarial_answer": "kites", "evidence": [], "category": 5},
    ]
    talk = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns, "session_2_date_time": "1:00 pm on 9 May, 2023"}
    path = folder / "locomo10.json"
    path.write_text(json.dumps([{"sample_id": "c1", "conversation": talk, "qa": asked}]))
    flaw = {"sample_id": "c1", "qa_index": 0, "score_corrupting": True, "correct_answer": "Monday", "correct_evidence": ["D1:2"]}
    (folder / "locomo_audit_errors.json").write_text(json.dumps([flaw]))
    return path


def test_locomo_takes_in_captions_but_no_search_strings(tmp_path: Path) -> None:
    (case,) = read_locomo(locomo(tmp_path))
    assert [entry.text for entry in case.entries] == ["Ada: Look! [shows a photo: a red kite]", "Bo: I paint on Mondays."]
    assert [entry.id for entry in case.entries] == ["D1:1", "D1:2"]
    moment = case.entries[0].exchange.said.moment
    assert moment is not None
    assert moment.isoformat() == "2023-05-08T13:56:00+00:00"


def test_locomo_keeps_the_audits_answer_beside_the_original(tmp_path: Path) -> None:
    (case,) = read_locomo(locomo(tmp_path))
    first, second, third = case.questions
    assert (first.answer, first.corrected, first.flagged) == ("Sunday", "Monday", True)
    assert first.steps == (frozenset({"D1:2"}),)
    assert (second.answer, second.corrected, second.flagged) == ("1", "1", False)
    assert (third.kind, third.answer, third.steps) == ("adversarial", "", ())


def test_personamem_history_ends_where_the_question_is_asked(tmp_path: Path) -> None:
    said = [("system", "Current user persona: secret"), ("user", "User: I like jazz."), ("assistant", "Assistant: Nice."),
            ("system", "again"), ("user", "User: Now I prefer folk."), ("assistant", "Assistant: Oh.")]  # fmt: skip
    contexts = lines(tmp_path / "c.jsonl", {"chat1": [{"role": role, "content": text} for role, text in said]})
    common = {"question_type": "recall", "user_question_or_message": "Hi", "correct_answer": "(b)", "options": ["(a) folk", "(b) jazz"]}
    asked = [
        {**common, "question_id": "late", "shared_context_id": "chat1", "end_index_in_shared_context": 6},
        {**common, "question_id": "early", "shared_context_id": "chat1", "end_index_in_shared_context": 3},
        {**common, "question_id": "elsewhere", "shared_context_id": "chat2", "end_index_in_shared_context": 3},
    ]
    questions = lines(tmp_path / "q.jsonl", *asked)
    early, late = read_personamem(questions, contexts)
    assert [entry.text for entry in early.entries] == ["User: I like jazz.\nAssistant: Nice."]
    assert len(late.entries) == 2
    assert late.before == early.entries
    assert (early.questions[0].options, early.questions[0].correct) == (("folk", "jazz"), 1)
    (leaking,) = read_personamem(questions, contexts, leaking=True)
    assert (len(leaking.entries), len(leaking.questions)) == (2, 2)


def prefeval(folder: Path, count: int = 3) -> Path:
    records = [
        {"topic": "food", "index": place, "preference": "SECRET", "question": f"Where {place}?", "mcq_options": ["right", "b", "c", "d"],
         "mcq_correct": 0, "persona": {"persona": "SECRET", "turns": [{"user": f"I hate dish {place}.", "assistant": "I see."}]}}
        for place in range(count)
    ]  # fmt: skip
    return lines(folder / "prefeval.jsonl", *records)


def test_prefeval_asks_all_questions_so_far_after_each_session(tmp_path: Path) -> None:
    cases = chained(read_prefeval(prefeval(tmp_path), 3, seed=0), every=1)
    assert [len(case.questions) for case in cases] == [1, 2, 3]
    assert [len(case.entries) for case in cases] == [1, 2, 3]
    assert cases[2].before == cases[1].entries
    assert len({question.id for case in cases for question in case.questions}) == 6


def test_prefeval_asks_at_the_end_however_seldom(tmp_path: Path) -> None:
    cases = chained(read_prefeval(prefeval(tmp_path), 3, seed=0), every=2)
    assert [len(case.questions) for case in cases] == [2, 3]


def test_prefeval_never_shows_the_preference_itself(tmp_path: Path) -> None:
    (case,) = chained(read_prefeval(prefeval(tmp_path), 3, seed=0), every=3)
    assert not any("SECRET" in entry.text for entry in case.entries)
    assert [entry.id for entry in case.entries] == ["s000:0", "s001:0", "s002:0"]


def test_prefeval_options_are_shuffled_by_seed_and_question(tmp_path: Path) -> None:
    path = prefeval(tmp_path, 40)
    first = [one.question for one in read_prefeval(path, 40, seed=0)]
    assert all(question.options[question.correct] == "right" for question in first)
    assert {question.correct for question in first} == {0, 1, 2, 3}
    assert first == [one.question for one in read_prefeval(path, 40, seed=0)]
    assert first != [one.question for one in read_prefeval(path, 40, seed=1)]


def test_implexconv_evidence_is_every_entry_of_its_session(tmp_path: Path) -> None:
    sessions = [
        {"sid": "h1", "text": "Speaker1: I run.\nAssistant: Good.", "evidence": False},
        {"sid": "e0", "text": "Speaker1: My back hurts.\n\nAssistant: Oh no.\nSpeaker1: Yes.", "evidence": True},
    ]
    asked = [{"qid": "q0", "question": "Which sport?", "implicit_reason": "back", "evidence_sid": "e0"}]
    persona = {"persona_index": 0, "sessions": sessions, "facts": [], "questions": asked}
    turns = [[{"role": "user", "content": "a"}], [{"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}]]
    chat = {"id": 7, "trait": "t", "opposed_reason": "r", "question": "What?", "evidence_session": 1, "sessions": turns}
    one, other = read_implexconv(lines(tmp_path / "opposed_44q.jsonl", persona, chat))
    assert one.questions[0].steps == (frozenset({"e0:0", "e0:2"}),)
    assert one.entries[1].text == "User: My back hurts.\nAssistant: Oh no."
    assert other.questions[0].steps == (frozenset({"1:0"}),)


def test_memdaily_is_read_with_its_times(tmp_path: Path) -> None:
    message = {"mid": 3, "message": "我将要参加论坛。", "time": "2024年04月01日 周一 08:30", "place": "深圳"}
    asked = {"qid": 0, "question": "什么？", "target_step_id": [3], "choices": {"A": "一", "B": "二"}, "ground_truth": "B"}
    (case,) = read_memdaily(lines(tmp_path / "m.jsonl", {"set": "01", "tid": 4, "messages": [message], "questions": [asked]}), None)
    moment = case.entries[0].exchange.said.moment
    assert moment is not None
    assert moment.isoformat() == "2024-04-01T08:30:00+00:00"
    assert (case.questions[0].correct, case.questions[0].steps) == (1, (frozenset({"3"}),))


# ------------------------------------------------------------------ the original distributions, in miniature


def published_prefeval(folder: Path) -> Path:
    """`benchmark_dataset` as its authors publish it, with the stray copy that one topic has."""
    root = folder / "PrefEval" / "benchmark_dataset"
    said, offered = root / "implicit_preference" / "persona-driven", root / "mcq_options"
    said.mkdir(parents=True)
    offered.mkdir()
    for topic in ("travel", "food"):
        turns = {"10": {"user": "last", "assistant": "ok"}, "2": None, "0": {"user": f"I hate {topic}.", "assistant": "I see."}}
        item = {"preference": "SECRET", "question": f"{topic}?", "explanation": "", "persona": "a cook", "conversation": turns}
        (said / f"{topic}.json").write_text(json.dumps([item, item]), "utf-8")
        (offered / f"{topic}.json").write_text(json.dumps([{"classification_task_options": ["right", "b", "c", "d"]}] * 2), "utf-8")
    (offered / "travel copy.json").write_text("[]", "utf-8")
    return root


def test_prefeval_is_read_from_its_authors_folder(tmp_path: Path) -> None:
    root = published_prefeval(tmp_path)
    assert locate(PREFEVAL, tmp_path) == locate(PREFEVAL, root) == [root]
    first, _, third, _ = read_prefeval(root, 10, seed=0)
    assert [entry.text for entry in first.entries] == ["User: I hate food.\nAssistant: I see.", "User: last\nAssistant: ok"]
    assert (first.question.id, third.question.id) == ("food-0", "travel-0")
    assert first.question.options[first.question.correct] == "right"
    assert first.question.wanted == "SECRET"
    assert len(files_of(root)) == 5


def test_prefeval_files_that_do_not_match_are_told(tmp_path: Path) -> None:
    root = published_prefeval(tmp_path)
    (root / "mcq_options" / "food.json").write_text("[]", "utf-8")
    with pytest.raises(IngestError, match=r"has 2 items, .*food\.json has 0"):
        read_prefeval(root, 10, seed=0)


MESSAGE = {"mid": 3, "message": "我将要参加论坛。", "time": "2024年04月01日 周一 08:30", "place": "深圳"}
ASKED = {"qid": 0, "question": "什么？", "answer": "二", "target_step_id": [3], "choices": {"A": "一", "B": "二"}, "ground_truth": "B"}


def test_memdaily_is_read_from_memsims_folder_without_failed_generations(tmp_path: Path) -> None:
    folder = tmp_path / "messages_and_QAs"
    folder.mkdir()
    good = {"tid": 4, "message_list": [MESSAGE], "question_list": [ASKED]}
    failed = {"tid": 5, "message_list": [MESSAGE], "question_list": [{**ASKED, "answer": "[ERRORA]"}]}
    (folder / "01_simple_events.json").write_text(json.dumps([good, failed]), "utf-8")
    assert locate(MEMDAILY, tmp_path) == [folder]
    (case,) = read_memdaily(folder, None)
    assert (case.name, case.questions[0].correct, case.questions[0].steps) == ("01_simple_events/4", 1, (frozenset({"3"}),))


def test_memdaily_is_read_from_the_one_published_file(tmp_path: Path) -> None:
    path = tmp_path / "memdaily.json"
    memory = {"tid": 4, "message_list": [MESSAGE], "QA": ASKED}
    path.write_text(json.dumps({"simple": {"events": [memory], "items": None}}), "utf-8")
    (case,) = read_memdaily(path, None)
    assert (case.name, case.questions[0].kind) == ("simple_events/4", "simple_events")


QA = {"question": "Which sport?", "answer": "None", "opposed_implicit_reasoning": "bad back", "retrieved_conv_ids": ["2"]}


def test_implexconv_is_read_as_released(tmp_path: Path) -> None:
    path = tmp_path / "ImplexConv_opposed.json"
    talks = {"1": "Speaker1: I run.\n\nAssistant: Good.", "2": "Speaker1: My back hurts."}
    path.write_text(json.dumps([{"conversation": talks, "qa": [QA, {**QA, "retrieved_conv_ids": []}]}]), "utf-8")
    assert locate(IMPLEXCONV, tmp_path) == [path]
    (case,) = read_implexconv(path)
    assert [entry.text for entry in case.entries] == ["User: I run.\nAssistant: Good.", "My back hurts."]
    first, without_evidence = case.questions
    assert (first.steps, first.wanted) == ((frozenset({"2:0"}),), "bad back")
    assert without_evidence.steps == ()


def test_implexconv_is_read_as_pgmems_authors_flattened_it(tmp_path: Path) -> None:
    path = tmp_path / "ImplexConv_opposed_processed.json.gz"
    said = [(1, "user", "I run."), (1, "assistant", "Good."), (2, "user", "My back hurts.")]
    turns = [{"session_id": 0, "conv_id": conv, "turn_id": 0, "speaker": who, "utterance": text} for conv, who, text in said]
    path.write_bytes(gzip.compress(json.dumps([{"metadata": {"session_id": 0}, "conversations": turns, "qa": [QA]}]).encode()))
    (case,) = read_implexconv(path)
    assert case.entries[0].text == "User: I run.\nAssistant: Good."
    assert case.questions[0].steps == (frozenset({"2:0"}),)


def test_personamem_is_read_from_its_table(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "User: I like\u2028jazz."}, {"role": "assistant", "content": "Assistant: Nice."}]
    contexts = lines(tmp_path / "shared_contexts_32k.jsonl", {"chat1": chat})
    row = 'q1,recall,"Hi,\nthere",(b),"[\'(a) folk\', \'(b) jazz\']",chat1,2'
    head = "question_id,question_type,user_question_or_message,correct_answer,all_options,shared_context_id,end_index_in_shared_context"
    questions = tmp_path / "questions_32k.csv"
    questions.write_bytes(f"\ufeff{head}\r\n{row}\r\n".encode())
    assert locate(PERSONAMEM, tmp_path) == [questions, contexts]
    (case,) = read_personamem(questions, contexts)
    asked = case.questions[0]
    assert (asked.id, asked.text, asked.options, asked.correct) == ("q1", "Hi,\nthere", ("folk", "jazz"), 1)


@pytest.mark.parametrize("wanted", [IMPLEXCONV, LOCOMO, MEMDAILY, PERSONAMEM, PREFEVAL])
def test_every_missing_data_set_is_told_with_what_is_published(wanted: ForeignData) -> None:
    with pytest.raises(IngestError) as missing:
        locate(wanted, None, {})
    assert all(name in str(missing.value) for names in wanted.files for name in names.split("|"))
    assert wanted.published in str(missing.value)
    assert wanted.licence in str(missing.value)
