"""Prompts as the loaded model was trained to see them: its own chat template, with untrusted text kept apart.

The template is rendered with marks in place of everything variable, then cut at the marks. What lies between the marks is ours and
may hold control strings; what the marks stood for is tokenized as plain text, so no stored or typed word can become a control token.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from pgmem_local.errors import TemplateError
from pgmem_local.ports import Head, Prompt

_MARK = "\ue0f0{}\ue0f1"
_PROBE = "\ue0f0probe\ue0f1"
_NOTES = "\ue0f0notes\ue0f1"
THINK_TAGS = ("<think>", "</think>")
_TAG = re.compile("(</?think>)")
_FAULTS = (jinja2.TemplateError, TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError)
"""What a foreign template can raise while it is read or rendered."""


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
        except _FAULTS as problem:
            raise TemplateError(f"the chat template of this model file cannot be read ({problem}); take another model") from problem
        self._tokens = {"bos_token": begin, "eos_token": end}
        self._has_system = self._takes_system()
        self._thought_opened = _ends_in_thought(self._render([_message("user", "x")], thinking=True))

    def opens_thought(self, head: Head) -> bool:
        """Whether the prompts of this head end inside a thought, so that the model's first words belong to it."""
        return head.thinking and self._thought_opened

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
        except _FAULTS as problem:
            raise TemplateError(f"the chat template of this model file fails ({problem}); take another model") from problem

    def pieces(self, prompt: Prompt) -> list[Piece]:
        """The prompt in pieces, ours and untrusted ones in turn. The last three are the prompt's text, what closes it, and its opening;
        all before them is the same for every prompt of that head and history."""
        variable = [message.text for message in prompt.history] + [prompt.text]
        roles = [message.role for message in prompt.history] + ["user"]
        marks = [_MARK.format(i) for i in range(len(variable))]
        messages = [_message(role, mark) for role, mark in zip(roles, marks, strict=True)]
        instructions = prompt.head.instructions
        if prompt.head.notes:
            instructions = f"{instructions}\n\n{_NOTES}"
            marks, variable = [_NOTES, *marks], [prompt.head.notes, *variable]
        if instructions and self._has_system:
            messages.insert(0, _message("system", instructions))
        elif instructions:
            first = messages[roles.index("user")]
            first["content"] = f"{instructions}\n\n{first['content']}"
        rendered = self._render(messages, prompt.head.thinking)
        if not prompt.head.thinking and _ends_in_thought(rendered):
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


def _ends_in_thought(rendered: str) -> bool:
    return rendered.rstrip().endswith("<think>")


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def _raise(message: Any) -> None:
    raise jinja2.TemplateError(str(message))


def without_thoughts(text: str, thinking: bool = False) -> str:
    """What a model said without its thoughts. An unfinished thought leaves nothing, and what comes before a lone `</think>` is one.

    thinking: the prompt ended inside a thought.
    """
    spoken: list[str] = []
    depth = int(thinking)
    for part in _TAG.split(text):
        if part == "</think>" and depth == 0:
            spoken.clear()
        elif part in THINK_TAGS:
            depth += 1 if part == "<think>" else -1
        elif depth == 0:
            spoken.append(part)
    return "".join(spoken)


class Speech:
    """The same while the words come in. A tag may come in several pieces; what was passed on cannot be taken back."""

    def __init__(self, thinking: bool = False) -> None:
        self._depth = int(thinking)
        self._held = ""

    def hear(self, piece: str) -> str:
        """What can be passed on now: nothing of a thought, and nothing that may be the beginning of a tag."""
        *whole, end = _TAG.split(self._held + piece)
        spoken = "".join(self._take(part) for part in whole)
        self._held = end[_beginning_of_tag(end) :]
        return spoken + self._take(end[: len(end) - len(self._held)])

    def rest(self) -> str:
        """What was held back and turned out to be no tag."""
        held, self._held = self._held, ""
        return self._take(held)

    def _take(self, part: str) -> str:
        if part not in THINK_TAGS:
            return "" if self._depth else part
        self._depth = max(self._depth + (1 if part == "<think>" else -1), 0)
        return ""


def _beginning_of_tag(text: str) -> int:
    """Where the text may break off inside a tag; its length where it does not."""
    start = text.rfind("<")
    return start if start >= 0 and any(tag.startswith(text[start:]) for tag in THINK_TAGS) else len(text)
