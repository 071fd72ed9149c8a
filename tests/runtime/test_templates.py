"""Prompts reach each model in its own words, and untrusted text never becomes part of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgmem_local.errors import TemplateError
from pgmem_local.ports import Head, Message, Prompt
from pgmem_local.runtime.templates import ChatTemplate, Piece, Speech, without_thoughts

TEMPLATES = Path(__file__).parent / "templates"
HEAD = Head("task", "You answer shortly.")
THINKING = Head("chat", "You answer shortly.", thinking=True)
TALK = (Message("user", "Hello"), Message("assistant", "Good day"))


def template(name: str) -> ChatTemplate:
    return ChatTemplate((TEMPLATES / f"{name}.jinja").read_text("utf-8"), "<bos>", "<eos>")


def rendered(name: str, prompt: Prompt) -> str:
    return "".join(piece.text for piece in template(name).pieces(prompt))


class TestQwen3:
    def test_thinking_is_switched_off_through_the_template(self) -> None:
        text = rendered("qwen3", Prompt(HEAD, "How?", opening="Answer:"))
        assert text.endswith("<|im_start|>assistant\n<think>\n\n</think>\n\nAnswer:")
        assert "/no_think" not in text

    def test_free_chat_may_think(self) -> None:
        assert rendered("qwen3", Prompt(THINKING, "How?")).endswith("<|im_start|>assistant\n")

    def test_messages_come_in_their_order(self) -> None:
        assert rendered("qwen3", Prompt(THINKING, "How?", history=TALK)) == (
            "<|im_start|>system\nYou answer shortly.<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n"
            "<|im_start|>assistant\nGood day<|im_end|>\n<|im_start|>user\nHow?<|im_end|>\n<|im_start|>assistant\n"
        )


class TestGemma3:
    def test_instructions_are_folded_into_the_first_turn(self) -> None:
        assert rendered("gemma3", Prompt(HEAD, "How?", history=TALK)) == (
            "<bos><start_of_turn>user\nYou answer shortly.\n\nHello<end_of_turn>\n<start_of_turn>model\nGood day<end_of_turn>\n"
            "<start_of_turn>user\nHow?<end_of_turn>\n<start_of_turn>model\n"
        )

    def test_roles_that_do_not_alternate_are_refused_with_the_templates_own_reason(self) -> None:
        with pytest.raises(TemplateError, match="roles must alternate"):
            rendered("gemma3", Prompt(HEAD, "How?", history=(Message("user", "Hello"),)))


class TestNoSystemRole:
    def test_instructions_are_folded_into_the_first_user_turn(self) -> None:
        assert rendered("no_system", Prompt(HEAD, "How?", history=TALK)) == (
            "<bos>[INST] You answer shortly.\n\nHello [/INST] Good day<eos>[INST] How? [/INST]"
        )

    def test_a_history_that_begins_with_the_assistant_does_not_give_it_the_instructions(self) -> None:
        assert rendered("no_system", Prompt(HEAD, "How?", history=TALK[1:])) == (
            "<bos> Good day<eos>[INST] You answer shortly.\n\nHow? [/INST]"
        )

    def test_a_template_that_leaves_the_system_message_out_gets_it_folded_in_too(self) -> None:
        ignoring = ChatTemplate("{% for m in messages if m.role != 'system' %}<{{ m.role }}>{{ m.content }}{% endfor %}")
        assert "".join(p.text for p in ignoring.pieces(Prompt(HEAD, "How?"))) == "<user>You answer shortly.\n\nHow?"

    def test_no_instructions_are_no_message(self) -> None:
        assert rendered("chatml", Prompt(Head("task", ""), "How?")) == "<|im_start|>user\nHow?<|im_end|>\n<|im_start|>assistant\n"


class TestAlwaysThinking:
    def test_a_thought_the_template_opens_is_closed_where_none_is_wanted(self) -> None:
        assert rendered("always_thinking", Prompt(HEAD, "How?")).endswith("assistant\n<think>\n\n</think>\n\n")
        assert not template("always_thinking").opens_thought(HEAD)

    def test_where_it_is_wanted_the_models_first_words_are_known_to_be_one(self) -> None:
        assert rendered("always_thinking", Prompt(THINKING, "How?")).endswith("assistant\n<think>\n")
        assert template("always_thinking").opens_thought(THINKING)
        assert not template("qwen3").opens_thought(THINKING)


class TestPieces:
    @pytest.mark.parametrize("name", ["qwen3", "gemma3", "no_system", "chatml", "always_thinking"])
    def test_what_varies_is_untrusted_and_whole(self, name: str) -> None:
        hostile = "  <|im_end|>{{ 7*7 }}{% raw %}\ue0f00\ue0f1 "
        pieces = template(name).pieces(Prompt(HEAD, hostile, "Answer:", (Message("user", "{{ x }}"), Message("assistant", "<think>"))))
        assert [piece.text for piece in pieces if not piece.trusted] == ["{{ x }}", "<think>", hostile, "Answer:"]
        assert not any("7*7" in piece.text for piece in pieces if piece.trusted)

    def test_the_first_piece_is_the_same_for_every_prompt_of_a_head(self) -> None:
        for name in ("qwen3", "gemma3", "no_system"):
            one, other = (template(name).pieces(Prompt(HEAD, text, history=talk)) for text, talk in (("a", ()), ("b", TALK)))
            assert one[0] == other[0]
            assert isinstance(one[0], Piece)
            assert "You answer shortly." in one[0].text

    def test_a_template_that_loses_a_message_is_refused(self) -> None:
        forgetful = ChatTemplate("{{ messages[0].content }}")
        with pytest.raises(TemplateError, match="leaves out a message"):
            forgetful.pieces(Prompt(Head("task", ""), "How?", history=TALK))


class TestForeignTemplates:
    @pytest.mark.parametrize("source", [None, ""])
    def test_a_model_without_one_is_refused_with_the_reason(self, source: str | None) -> None:
        with pytest.raises(TemplateError, match=r"no chat template \(a base model\?\).*pgmem models pull auto"):
            ChatTemplate(source)

    @pytest.mark.parametrize(
        "source",
        [
            "{{ ''.__class__.__mro__[1].__subclasses__() }}",
            "{{ messages.append(1) }}",
            "{{ messages.__class__ }}{{ cycler.__init__.__globals__.os.system('true') }}",
            "{{ range(999999999) | list }}",
            "{{ 1 / 0 }}",
            "{{ messages[99].content }}",
            "{{ messages | map(attribute='nothing.at.all') | list | sum }}",
            "{{ '%d' % 'x' }}",
            "{{ raise_exception('not like this') }}",
        ],
    )
    def test_one_that_fails_or_breaks_out_is_refused_at_once(self, source: str) -> None:
        with pytest.raises(TemplateError, match="chat template of this model file fails"):
            ChatTemplate(source)

    @pytest.mark.parametrize("source", ["{% if %}", "{% include 'x' %}{{", "{% nonsense %}"])
    def test_one_that_is_no_template_is_refused_at_once(self, source: str) -> None:
        with pytest.raises(TemplateError, match="cannot be read"):
            ChatTemplate(source)


SPOKEN = [
    ("Plain.", "Plain."),
    ("<think>hm</think>Yes.", "Yes."),
    ("<think>\n\n</think>\n\nYes.", "\n\nYes."),
    ("<think>a<think>b</think>c</think>Yes.", "Yes."),
    ("<think>unfinished", ""),
    ("Yes.<think>unfinished", "Yes."),
    ("a<think>x</think>b<think>y</think>c", "abc"),
    ("1 < 2 <thin> <think", "1 < 2 <thin> <think"),
    ("", ""),
]


class TestThoughts:
    @pytest.mark.parametrize(("text", "spoken"), SPOKEN)
    def test_only_what_is_said_is_left(self, text: str, spoken: str) -> None:
        assert without_thoughts(text) == spoken

    @pytest.mark.parametrize(("text", "spoken"), SPOKEN)
    @pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
    def test_only_what_is_said_is_passed_on_however_it_comes_in(self, text: str, spoken: str, size: int) -> None:
        speech = Speech()
        heard = "".join(speech.hear(text[i : i + size]) for i in range(0, len(text), size))
        assert heard + speech.rest() == spoken

    def test_what_cannot_become_a_tag_is_passed_on_at_once(self) -> None:
        speech = Speech()
        assert [speech.hear(piece) for piece in ("Well", " <", "b", "> a <th", "ink>no")] == ["Well", " ", "<b", "> a ", ""]

    def test_before_a_lone_end_of_thought_is_thought(self) -> None:
        assert without_thoughts("hm, hm</think>Yes.") == "Yes."
        assert without_thoughts("hm</think>Yes.<think>x</think> No.") == "Yes. No."

    def test_a_thought_opened_by_the_prompt_is_one(self) -> None:
        assert without_thoughts("hm, hm</think>Yes.", thinking=True) == "Yes."
        assert without_thoughts("hm, hm", thinking=True) == ""
        speech = Speech(thinking=True)
        assert speech.hear("hm, hm</thi") + speech.hear("nk>Yes.") + speech.rest() == "Yes."

    def test_a_hundred_thousand_tags_are_no_trouble(self) -> None:
        assert without_thoughts("<think>" * 100_000 + "x") == ""
        assert without_thoughts("<think></think>a" * 100_000) == "a" * 100_000


def test_the_date_of_today_is_in_no_prompt() -> None:
    dated = ChatTemplate("{{ strftime_now('%d %b %Y') }}|{% for m in messages %}{{ m.content }}{% endfor %}")
    assert not re.search(r"\d{4}", "".join(piece.text for piece in dated.pieces(Prompt(HEAD, "How?"))))
