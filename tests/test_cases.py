"""The hard cases that were collected from the issues of others (D1-01 … D6-03), and which tests hold each."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from io import RawIOBase
from pathlib import Path
from typing import BinaryIO, cast

import pytest

from pgmem_local.conversation import Turn
from pgmem_local.ingest.chatgpt import CHATGPT
from pgmem_local.ingest.formats import ReadOptions
from tests.cli.conftest import Shell, diary, models, pgmem, remembered

__all__ = ["models", "pgmem", "remembered"]

TESTS = Path(__file__).parent
GROUPS = {1: 13, 2: 7, 3: 5, 4: 6, 5: 4, 6: 3}
"""How many cases each group has."""

HELD_BY: dict[str, tuple[str, ...]] = {
    # what is remembered: what the code decides, with models that follow rules; what a real model makes of it the benchmark shows
    "D1-01": (
        "construction/test_pipeline.py::test_change_is_a_shift_from_old_to_new",
        "construction/test_pipeline.py::test_who_moves_away_and_comes_back_lives_there_now",
        "test_memory.py::test_portrait_shows_the_change",
        "retrieval/test_passages.py::test_what_held_before_is_shown_to_questions_about_then_and_not_to_those_about_now",
        "profiles/test_pipeline.py::test_later_fact_on_a_single_valued_matter_replaces_the_earlier",
    ),
    "D1-02": (
        "construction/test_pipeline.py::test_affirmed_and_denied_are_two_states",
        "control/test_statements.py::test_denial_of_a_known_state_is_a_change_and_needs_no_language_model",
        "test_answering.py::test_state_in_the_words_of_the_question_settles_it_whatever_the_probe_says",
    ),
    "D1-03": (
        "construction/test_extract.py::test_assistants_words_come_as_what_the_message_answers",
        "construction/test_extract.py::test_note_may_rest_on_what_the_turn_answers",
    ),
    "D1-04": (
        "test_people_in_memory.py::test_case_third_persons_and_reported_speech",
        "test_people_in_memory.py::test_case_person_only_asked_about_gets_no_facts",
        "test_subject.py::test_what_is_said_of_somebody_else_is_no_fact_about_the_user",
        "test_answering.py::test_yes_must_stand_in_words_about_the_user",
    ),
    "D1-05": (
        "construction/test_judge.py::test_notes_with_no_word_and_no_domain_in_common_must_be_surer_to_replace_each_other",
        "construction/test_extract.py::test_two_things_told_in_the_same_way_are_two_notes",
        "profiles/test_pipeline.py::test_what_adds_up_replaces_nothing",
    ),
    "D1-06": (
        "test_memory.py::test_older_file_read_later_does_not_win",
        "construction/test_pipeline.py::test_older_entry_learned_later_does_not_replace_what_is_newer",
        "profiles/test_pipeline.py::test_order_of_reading_does_not_matter",
    ),
    "D1-07": (
        "test_dates.py::test_date_is_resolved_from_the_day_it_was_said",
        "test_dates.py::test_next_friday_is_doubtful_only_where_two_days_may_be_meant",
        "profiles/test_pipeline.py::test_relative_date_is_resolved_from_the_day_it_was_said_and_its_words_are_kept",
        "profiles/test_pipeline.py::test_doubtful_date_says_so",
        "construction/test_extract.py::test_note_is_kept_with_the_day_its_clause_names",
        "retrieval/test_passages.py::test_a_single_sentence_about_another_day_stands_under_that_day",
    ),
    "D1-08": (
        "test_people_in_memory.py::test_case_short_names_are_not_parts_of_longer_words",
        "store/test_sqlite.py::test_search_finds_exactly_what_is_written",
        "control/test_forgetting.py::test_entity_is_a_whole_word_and_no_character_a_wildcard",
    ),
    "D1-09": (
        "test_cases.py::test_blank_messages_are_left_out_and_no_error",
        "test_memory.py::test_names_in_the_examples_never_reach_the_store",
        "construction/test_extract.py::test_turn_without_words_costs_no_call",
        "construction/test_extract.py::test_copied_example_is_dropped_although_it_shares_words_with_the_turn",
    ),
    "D1-10": (
        "construction/test_extract.py::test_message_cannot_forge_a_line_of_ours",
        "test_answering.py::test_stored_text_can_forge_neither_a_label_nor_a_line",
        "retrieval/test_passages.py::test_what_was_pasted_says_nothing_of_the_user_and_is_shown_to_other_questions",
    ),
    "D1-11": (
        "test_cases.py::test_secrets_are_masked_in_every_file_and_named_by_line",
        "ingest/test_secrets.py::test_secret_is_taken_out_once_and_its_sentence_stays",
        "ingest/test_secrets.py::test_what_only_looks_like_a_secret_stays",
    ),
    "D1-12": (
        "store/test_sqlite.py::test_search_finds_exactly_what_is_written",
        "test_words.py::test_unspaced_script_is_found_by_two_characters",
        "doctor/test_hygiene.py::test_note_in_another_language_than_its_entry_is_seen",
    ),
    "D1-13": (
        "construction/test_pipeline.py::test_ten_repeats_are_one_state_and_not_judged_again",
        "construction/test_pipeline.py::test_same_note_is_one_state_whatever_polarity_was_read_of_it",
        "construction/test_extract.py::test_question_to_the_assistant_denies_nothing",
        "test_memory.py::test_same_again_changes_nothing_and_opens_no_model",
    ),
    # the local model
    "D2-01": (
        "construction/test_extract.py::test_a_few_notes_are_taken_of_one_utterance_and_none_that_was_cut_off",
        "construction/test_extract.py::test_output_cut_off_before_its_first_word_is_no_absence_of_facts",
        "runtime/test_llama.py::test_json_cut_at_its_limit_is_a_failure",
        "runtime/test_grammar.py::test_blank_space_cannot_flood_the_output",
        "test_memory.py::test_entry_the_model_fails_at_stays_pending_and_holds_up_no_other",
    ),
    "D2-02": (
        "runtime/test_llama.py::test_an_object_is_found_in_what_was_written",
        "runtime/test_llama.py::test_anything_else_is_a_failure_not_an_empty_answer",
        "runtime/test_llama.py::test_thoughts_are_not_streamed",
        "runtime/test_templates.py::test_thinking_is_switched_off_through_the_template",
    ),
    "D2-03": (
        "runtime/test_llama.py::test_a_file_without_a_chat_template_is_refused",
        "runtime/test_templates.py::test_instructions_are_folded_into_the_first_user_turn",
        "test_cases.py::test_message_with_null_content_is_left_out",
    ),
    "D2-04": (
        "test_memory.py::test_entry_of_any_length_is_learned",
        "construction/test_extract.py::test_long_turn_is_cut_between_sentences",
        "test_conversing.py::test_oldest_messages_go_first_and_history_begins_with_the_user",
        "runtime/test_minilm.py::test_a_fact_at_the_end_of_a_long_text_counts",
    ),
    "D2-05": (
        "runtime/test_model_files.py::test_wrong_content_is_named_in_one_line",
        "runtime/test_model_files.py::test_cut_at_any_length_never_passes_and_never_crashes",
        "runtime/test_model_files.py::test_directory_is_named",
    ),
    "D2-06": (
        "runtime/test_llama.py::test_untrusted_text_yields_no_control_token_and_stays_the_same_text",
        "runtime/test_llama.py::test_control_strings_in_text_do_not_take_over",
        "store/test_sqlite.py::test_an_exchange_comes_back_verbatim",
    ),
    "D2-07": (
        "runtime/test_grammar.py::test_schema_known_to_end_the_process_is_refused_before_llama_cpp_sees_it",
        "runtime/test_grammar.py::test_schema_compiles_in_a_process_of_its_own",
        "runtime/test_llama.py::test_two_threads_get_what_each_would_get_alone",
    ),
    # store and index
    "D3-01": (
        "store/test_vectors.py::test_no_more_hits_than_exist_or_are_asked",
        "store/test_vectors.py::test_an_empty_store_has_no_hits",
        "store/test_vectors.py::test_after_deleting_all_but_one_there_is_one_hit",
    ),
    "D3-02": (
        "store/test_vectors.py::test_what_is_added_again_is_one_hit_under_a_new_id",
        "store/test_vectors.py::test_deleted_node_is_never_a_hit",
        "store/test_vectors.py::test_an_updated_vector_is_found_at_its_new_place_only",
    ),
    "D3-03": (
        "store/test_vectors.py::test_damage_is_noticed_and_the_index_built_anew",
        "store/test_vectors.py::test_an_index_of_another_dimension_under_our_name_is_not_opened",
        "store/test_vectors.py::test_an_index_older_than_the_database_is_brought_up_to_it",
        "store/test_processes.py::test_a_process_killed_while_it_saves_its_index_leaves_a_usable_one",
    ),
    "D3-04": (
        "store/test_processes.py::test_a_write_waits_for_another_and_is_not_lost",
        "store/test_processes.py::test_a_wait_that_is_too_long_ends_in_a_clear_error_and_can_be_repeated",
        "test_two_processes.py::test_ingest_and_chat_on_one_memory_lose_nothing_and_show_no_lock",
    ),
    "D3-05": ("test_cases.py::test_any_words_may_be_looked_for",),
    # ingest
    "D4-01": (
        "ingest/test_jsonl.py::test_dirty_file_gives_every_good_record_and_rejects_the_others_by_line",
        "ingest/test_jsonl.py::test_what_was_repaired_or_assumed_is_noted_with_its_line",
        "ingest/test_jsonl.py::test_half_an_emoji_and_nul_never_leave_the_reader",
        "ingest/test_rejects.py::test_only_the_owner_may_read_the_rejects_even_where_the_file_was_open_before",
        "cli/test_ingest.py::test_bad_line_is_said_with_its_number_kept_and_ends_in_exit_code_3",
        "cli/test_ingest.py::test_file_of_bad_lines_only_is_an_error",
        "test_cases.py::test_dirty_file_is_accounted_for_to_the_last_line",
    ),
    "D4-02": (
        "ingest/test_chatgpt.py::test_only_the_branch_that_was_shown_is_read_without_tools_and_thoughts",
        "ingest/test_chatgpt.py::test_message_without_time_gets_that_of_its_conversation_and_says_so",
        "ingest/test_chatgpt.py::test_files_of_2023_are_read",
        "test_cases.py::test_conversation_tree_is_read_from_the_current_node_up",
    ),
    "D4-03": (
        "ingest/test_whatsapp.py::test_narrow_spaces_twelve_hours_and_a_second_line_with_a_colon",
        "ingest/test_whatsapp.py::test_german_chat_is_day_first_and_its_notices_and_placeholders_are_no_messages",
        "ingest/test_whatsapp.py::test_dates_with_two_readings_are_asked_about_and_never_guessed",
        "ingest/test_whatsapp.py::test_file_without_a_message_is_an_error_that_shows_its_first_line",
    ),
    "D4-04": (
        "ingest/test_moments.py::test_one_instant_is_one_moment_however_it_is_written",
        "ingest/test_moments.py::test_fractions_of_a_second_are_kept",
        "ingest/test_moments.py::test_time_without_zone_is_read_in_the_given_zone_and_marked",
        "ingest/test_moments.py::test_date_with_two_readings_is_not_guessed",
        "ingest/test_moments.py::test_missing_time_is_no_moment",
        "ingest/test_moments.py::test_time_that_cannot_be_true_is_flagged_and_not_believed",
        "ingest/test_moments.py::test_moments_from_all_sources_can_be_sorted_together",
    ),
    "D4-05": (
        "cli/test_ingest.py::test_edited_entry_takes_the_place_of_the_old_one",
        "cli/test_ingest.py::test_same_entries_in_another_form_are_known",
        "ingest/test_jsonl.py::test_same_words_on_two_days_are_two_entries",
    ),
    "D4-06": (
        "ingest/test_jsonl.py::test_line_that_is_too_long_is_rejected_without_being_held_in_memory",
        "test_cases.py::test_long_list_of_conversations_is_read_in_constant_memory",
        "cli/test_ingest.py::test_time_left_goes_by_the_speed_of_late_and_begins_anew_with_the_next_path",
    ),
    # chat
    "D5-01": (
        "test_chat_session.py::test_session_from_the_first_word_to_the_resumed_conversation",
        "test_chat_session.py::test_ctrl_c_at_the_prompt_hints_and_twice_leaves_quietly",
        "talking/test_talk.py::test_stopped_answer_stays_as_far_as_it_came",
        "test_memory.py::test_half_a_reply_is_nothing_that_a_message_answers_or_an_episode_tells_of",
        "runtime/test_llama.py::test_a_process_ends_quietly",
    ),
    "D5-02": (
        "cli/test_chat.py::test_piped_lines_get_plain_answers_and_nothing_else",
        "cli/test_chat.py::test_empty_input_ends_at_once",
        "cli/test_chat.py::test_closed_standard_input_is_one_line_and_no_loop",
    ),
    "D5-03": (
        "test_cases.py::test_words_of_any_script_are_shown_by_any_terminal",
        "test_cases.py::test_words_of_any_script_are_shown_and_answered_in_a_chat",
        "test_cases.py::test_line_that_cannot_be_shown_does_not_fail_an_ingest",
        "cli/chatting/test_screen.py::test_what_others_wrote_is_printed_literally",
    ),
    "D5-04": (
        "test_startup.py::test_help_and_version_take_well_under_half_a_second",
        "cli/test_ingest.py::test_it_shows_after_a_few_entries_how_fast_it_goes",
        "cli/test_ingest.py::test_without_a_terminal_a_line_comes_every_few_seconds",
        "cli/test_ingest.py::test_learning_says_how_many_notes_it_has_made",
    ),
    # privacy
    "D6-01": (
        "test_no_network.py::test_commands_open_no_socket",
        "test_no_network.py::test_guard_sees_the_sockets_of_native_libraries",
        "test_no_network.py::test_onnxruntime_is_silenced_before_it_is_imported",
        "runtime/test_download.py::test_finding_models_loads_nothing_that_could_open_a_socket",
    ),
    "D6-02": (
        "control/test_gone.py::test_no_byte_of_any_file_holds_what_was_forgotten_while_the_memory_is_open_and_after",
        "control/test_gone.py::test_what_stays_is_still_known_and_what_went_is_not",
    ),
    "D6-03": (
        "store/test_place.py::test_nobody_else_may_read_any_file_of_ours",
        "store/test_place.py::test_rights_that_are_too_wide_are_taken_away_when_the_memory_is_opened",
        "store/test_place.py::test_no_write_ahead_log_where_the_place_gives_a_warning",
        "store/test_place.py::test_synchronised_folders_are_noticed",
    ),
}


def test_every_case_is_held_by_tests_that_are_there() -> None:
    cases = [f"D{group}-{number:02}" for group, count in GROUPS.items() for number in range(1, count + 1)]
    assert list(HELD_BY) == cases
    missing = [test for tests in HELD_BY.values() for test in tests if not is_there(*test.split("::"))]
    assert missing == []


def is_there(file: str, name: str) -> bool:
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return any(isinstance(node, ast.FunctionDef) and node.name == name for node in ast.walk(tree))


# ------------------------------------------------------------------ what no other test holds


def test_blank_messages_are_left_out_and_no_error(pgmem: Shell, tmp_path: Path) -> None:
    said = ["ok", "hm", "😂😂", "???", "", "   ", "lol nice", "thx!!"]
    result = pgmem("ingest", str(diary(tmp_path / "d.jsonl", *({"text": text} for text in said))), "--no-llm")
    assert result.exit_code == 0
    assert "6 entries read: 6 new" in result.stdout
    assert "2× a record whose text is blank: left out (lines 5, 6)" in result.stdout


def test_secrets_are_masked_in_every_file_and_named_by_line(pgmem: Shell, tmp_path: Path) -> None:
    said = [
        "The wifi password is Heron-41-Lake, note to self.",
        "New card 4111 1111 1111 1111, exp 12/29, cvc 123.",
        f"export TOKEN=ghp_{'0' * 36}",
        "I should pick a password manager one day.",
        "My parcel number is 4111 1111 1111 1112, it arrives on Monday.",
    ]
    lines = [{"text": text} for text in said]
    cut = '{"text": "my password is Stork-17-Pond'
    shown = pgmem("ingest", str(diary(tmp_path / "d.jsonl", *lines, cut)), "--no-llm").stdout
    assert "4 secrets taken out before anything was stored (lines 1, 2, 3, 6)" in shown
    held = b"".join(path.read_bytes() for path in pgmem.home.rglob("*") if path.is_file())
    assert [one for one in ("Heron-41", "4111 1111 1111 1111", "cvc 123", "ghp_", "Stork-17") if one.encode() in held] == []
    assert all(one.encode() in held for one in (*said[3:], "The wifi password is [secret removed], note to self."))


def test_message_with_null_content_is_left_out(pgmem: Shell, tmp_path: Path) -> None:
    turns = [{"role": "user", "content": None}, {"role": "assistant", "content": None}, {"role": "user", "content": "I swim."}]
    result = pgmem("ingest", str(diary(tmp_path / "d.jsonl", *turns)), "--no-llm")
    assert "1 entry read: 1 new" in result.stdout
    assert "Traceback" not in result.stderr


QUERIES = (
    "don't", "e-mail", "18:30", 'say "hi', "C++", "(x", "foo AND", "NEAR", "*", "what's my mum's name?", "名字: 张伟", "咖啡", "a OR b",
    "-4", "100%", "_", "name:", "{", "^x", "'; drop table facts; --", "",
)  # fmt: skip


@pytest.mark.parametrize("words", QUERIES)
def test_any_words_may_be_looked_for(remembered: Shell, words: str) -> None:
    before = remembered.json("stats")["counts"]
    for command in ("search", "recall", "ask"):
        assert remembered(command, "--", words).exit_code == 0
    assert remembered.json("stats")["counts"] == before


def test_dirty_file_is_accounted_for_to_the_last_line(pgmem: Shell, tmp_path: Path) -> None:
    good = '{"text": "I own a red kayak."}'
    lines = ["\ufeff" + good, "", '{"text": "I own a sled."},', "   ", '{"text": "cut', "null", '"text"', "[1]", '{"role": "user"}']
    lines += ['{"role": "tool", "text": "exit code 0"}', '{"text": "I own a violin."}']
    file = tmp_path / "d.jsonl"
    file.write_text("\r\n".join(lines), encoding="utf-8")
    done = pgmem.json("ingest", str(file), "--no-llm")
    assert (done["new"], done["blank"], done["rejected"], done["skipped"]) == (3, 2, 5, 1)
    assert done["new"] + done["blank"] + done["rejected"] + done["skipped"] == len(lines)
    assert "blank lines: 2" in pgmem("ingest", str(file), "--no-llm").stdout


def message(role: str, text: object, parent: str | None, when: float | None = 1767583931.5, **more: object) -> dict[str, object]:
    content = {"content_type": "text", "parts": [text]}
    return {"parent": parent, "message": {"author": {"role": role}, "create_time": when, "content": content, **more}}


def test_conversation_tree_is_read_from_the_current_node_up(pgmem: Shell, tmp_path: Path) -> None:
    edited = {
        "root": {"parent": None, "message": None},
        "s1": message("system", "", "root", None, metadata={"is_visually_hidden_from_conversation": True}),
        "u1": message("user", "I am planning a trip with my sister Lene.", "s1"),
        "a1": message("assistant", "OLD BRANCH", "u1"),
        "u2": message("user", "I am allergic to penicillin.", "a1"),
        "a2": message("assistant", "Where to?", "u1"),
        "t1": message("tool", "web text", "a2", None),
    }
    slim = {"n1": message("user", {"asset_pointer": "file-service://x"}, None, None)}
    slim["n1"]["message"]["content"]["parts"].append("This is my bakery in Namur.")  # type: ignore[index]
    file = tmp_path / "conversations.json"
    conversations = [
        {"title": "trip", "create_time": 1767583930.285, "current_node": "a2", "mapping": edited},
        {"title": "slim", "create_time": 1767590000.0, "current_node": "n1", "mapping": slim},
        {"title": "empty", "create_time": None, "current_node": None, "mapping": {}},
    ]
    file.write_text(json.dumps(conversations), encoding="utf-8")
    shown = pgmem.json("ingest", str(file), "--dry-run", "--tz", "UTC")
    assert [(one["text"], one["reply"], one["time"][:10]) for one in shown["first"]] == [
        ("I am planning a trip with my sister Lene.", "Where to?", "2026-01-05"),
        ("This is my bakery in Namur.", None, "2026-01-05"),
    ]
    assert (shown["rejected"], shown["notes"][str(file)]["a conversation without messages: left out"]) == (0, 1)


class Endless(RawIOBase):
    """A list of conversations that is written while it is read."""

    def __init__(self, conversations: int) -> None:
        self._parts = self._written(conversations)
        self._left = b""

    def _written(self, conversations: int) -> Iterator[bytes]:
        for number in range(conversations):
            nodes = {"n": message("user", f"I swim, day {number}. " + "The water was cold. " * 40, None)}
            yield (b"[" if not number else b",") + json.dumps({"create_time": 1.7e9, "current_node": "n", "mapping": nodes}).encode()
        yield b"]"

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        part = self._left or next(self._parts, b"")
        taken = part[: len(buffer)]
        self._left = part[len(taken) :]
        buffer[: len(taken)] = taken
        return len(taken)


class EndlessSource:
    """A source of one such file."""

    path = Path("conversations.json")
    names = ("conversations.json",)

    def __init__(self, conversations: int) -> None:
        self._conversations = conversations

    def open(self, name: str) -> BinaryIO:
        return cast(BinaryIO, Endless(self._conversations))

    def size(self, name: str) -> int:
        return 0


def test_long_list_of_conversations_is_read_in_constant_memory() -> None:
    peaks = []
    for conversations in (500, 5_000):
        tracemalloc.start()
        read = sum(isinstance(item, Turn) for item in CHATGPT.read(EndlessSource(conversations), ReadOptions()))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert read == conversations
    assert peaks[1] < peaks[0] + 1_000_000, "ten times as much to read, and no more to hold"


ODD = 'Odd text: [/] [bold [1, "3"] [/some/path] [b + yield [red]x[/blue] :smile: C:\\[x] 🐝 Łódź 咖啡'


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_words_of_any_script_are_shown_by_any_terminal(pgmem: Shell, tmp_path: Path, encoding: str) -> None:
    pgmem("ingest", str(diary(tmp_path / "d.jsonl", {"text": ODD})), "--no-llm")
    ended = in_a_process(encoding, "get", "c1", "--home", str(pgmem.home))
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ODD.encode(encoding, "replace") in ended.stdout


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_words_of_any_script_are_shown_and_answered_in_a_chat(pgmem: Shell, tmp_path: Path, encoding: str) -> None:
    pgmem("ingest", str(diary(tmp_path / "d.jsonl", {"text": ODD})), "--no-llm")
    arguments = ("chat", "--no-learn", "--home", str(pgmem.home))
    ended = in_a_process(encoding, *arguments, module="tests.scripted_cli", typed=f"/search odd\n{ODD}\n/why\n".encode())
    assert ended.returncode == 0
    assert b"Traceback" not in ended.stderr
    assert ODD.encode(encoding, "replace") in ended.stdout
    assert b"Glad to hear it." in ended.stdout


def test_line_that_cannot_be_shown_does_not_fail_an_ingest(pgmem: Shell, tmp_path: Path) -> None:
    file = diary(tmp_path / "日記.jsonl", {"text": ODD}, {"text": "咖啡", "time": "咖啡"}, {"role": {"咖啡": 1}, "text": ODD})
    ended = in_a_process("ascii", "ingest", str(file), "--dry-run", "--home", str(pgmem.home))
    assert (ended.returncode, ended.stderr.count(b"rejected: ")) == (3, 1)
    assert b"2 entries: 2 new" in ended.stdout


def in_a_process(
    encoding: str, *arguments: str, module: str = "pgmem_local", typed: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, input=typed, capture_output=True, env=environment, check=False)
