"""Lines from a terminal, with editing, history, completion and several lines a message (prompt_toolkit)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout

from pgmem_local.ingest.secrets import mask_secrets
from pgmem_local.ingest.untrusted import clean
from pgmem_local.store.place import private_file

LEAVING = "Ctrl-C again or Ctrl-D leaves"


class Editor:
    """Reads lines from a terminal. Enter sends, Alt-Enter begins a new line, Ctrl-D leaves; what others print appears above."""

    def __init__(
        self,
        label: Callable[[], str],
        history: LineHistory | None,
        commands: Iterable[tuple[str, str]],
        hint: Callable[[str], None],
        at_first_prompt: Callable[[], None],
    ) -> None:
        self._label, self._hint = label, hint
        self._begin: Callable[[], None] | None = at_first_prompt
        self._session: PromptSession[str] = PromptSession(
            history=history, completer=Slashes(tuple(commands)), key_bindings=_keys(), multiline=True, prompt_continuation=_indented
        )

    def __call__(self, goes_on: bool) -> str | None:
        warned = False
        while True:
            try:
                begin, self._begin = self._begin, None  # loading a model beside it would keep the first prompt waiting
                with patch_stdout(raw=True):
                    return self._session.prompt(". " if goes_on else self._label(), pre_run=begin)
            except EOFError:
                return None
            except KeyboardInterrupt:
                if warned:
                    return None
                warned = True
                self._hint(LEAVING)


def _indented(width: int, line: int, wrapped: int) -> str:
    return " " * width


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def send(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def begin_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys


class LineHistory(FileHistory):
    """Lines typed before, in a file only their owner may read; none is added while `keeps` says no. Secrets are masked in it too."""

    def __init__(self, path: Path, keeps: Callable[[str], bool]) -> None:
        private_file(path)
        super().__init__(str(path))
        self._keeps = keeps

    def store_string(self, string: str) -> None:
        if self._keeps(string):
            super().store_string(mask_secrets(clean(string)).text)


class Slashes(Completer):
    """The commands, completed with what each does."""

    def __init__(self, commands: tuple[tuple[str, str], ...]) -> None:
        self._commands = commands

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        typed = document.text
        if typed.startswith("/"):
            for name, about in self._commands:
                if name.startswith(typed):
                    yield Completion(name, start_position=-len(typed), display_meta=about)
