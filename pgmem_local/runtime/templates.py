"""Prompts as the loaded model was trained to see them: its own chat template, with untrusted text kept apart.

The template is rendered with marks in place of everything variable, then cut at the marks. What lies between the marks is ours and
may hold control strings; what the marks stood for is tokenized as plain text, so no stored or typed word can become a control token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from pgmem_local.errors import TemplateError
from pgmem_local.ports import Prompt

_MARK = "\ue0f0{}\ue0f1"
_PROBE = "\ue0f0probe\ue0f1"


@dataclass(frozen=True)
class Piece:
    """A stretch of a rendered prompt: ours (control strings count) or untrusted (they are only text)."""

    text: str
    trusted: bool


class ChatTemplate:
    """A model's chat template. Raises TemplateError at once where it cannot be used."""

    def __init__(self, source: str | None, begin: str = "", end: str = "") -> None:
        if not source:
            raise TemplateError(
                "this model file has no chat template (a base model?), so a conversation with it would be guesswork; "
                "take an instruct model, for example `pgmem models pull auto`"
            )
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
        environment.globals["raise_exception"] = _raise
        environment.globals["strftime_now"] = lambda form: ""
        try:
            self._template = environment.from_string(source)
        except jinja2.TemplateError as problem:
            raise TemplateError(f"the chat template of this model file cannot be read ({problem})") from problem
        self._tokens = {"bos_token": begin, "eos_token": end}
        self._has_system = self._takes_system()
        self.thinks = self._render([_message("user", "x")], thinking=True) != self._render([_message("user", "x")], thinking=False)

    def _takes_system(self) -> bool:
        try:
            text = self._render([_message("system", _PROBE), _message("user", "x")], thinking=False)
        except TemplateError:
            return False
        return _PROBE in text

    def _render(self, messages: list[dict[str, str]], thinking: bool) -> str:
        try:
            return self._template.render(
                messages=messages, add_generation_prompt=True, enable_thinking=thinking, tools=None, documents=None, **self._tokens
            )
        except (jinja2.TemplateError, TypeError) as problem:
            raise TemplateError(f"the chat template of this model file fails ({problem})") from problem

    def pieces(self, prompt: Prompt) -> list[Piece]:
        """The prompt in pieces; the first is the head's, the same for every prompt of that head."""
        variable = [message.text for message in prompt.history] + [prompt.text]
        roles = [message.role for message in prompt.history] + ["user"]
        marks = [_MARK.format(i) for i in range(len(variable))]
        messages = [_message(role, mark) for role, mark in zip(roles, marks, strict=True)]
        instructions = prompt.head.instructions
        if instructions and self._has_system:
            messages.insert(0, _message("system", instructions))
        elif instructions:
            messages[0]["content"] = f"{instructions}\n\n{messages[0]['content']}"
        rendered = self._render(messages, prompt.head.thinking)
        if not prompt.head.thinking and rendered.rstrip().endswith("<think>"):
            rendered = rendered.rstrip() + "\n\n</think>\n\n"
        return [*_cut(rendered, marks, variable), Piece(prompt.opening, False)]


def _cut(rendered: str, marks: Sequence[str], variable: Sequence[str]) -> list[Piece]:
    pieces: list[Piece] = []
    rest = rendered
    for mark, text in zip(marks, variable, strict=True):
        before, found, rest = rest.partition(mark)
        if not found:
            raise TemplateError("the chat template of this model file leaves out a message")
        pieces += [Piece(before, True), Piece(text, False)]
    return [*pieces, Piece(rest, True)]


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def _raise(message: Any) -> None:
    raise jinja2.TemplateError(str(message))


def without_thoughts(text: str) -> str:
    """What a model said without its <think> part; an unfinished thought leaves nothing."""
    before, opened, inside = text.partition("<think>")
    if not opened:
        return text.rpartition("</think>")[2]
    return before + without_thoughts(inside.partition("</think>")[2])
