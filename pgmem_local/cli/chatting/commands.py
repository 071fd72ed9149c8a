"""The slash commands of a chat: a table of names, what each needs and does. Each is a function of the room and what follows its name.

What a command alone needs is imported when it is given, as with the commands of `pgmem`: it would keep the first prompt waiting.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from pgmem_local.cli import show
from pgmem_local.cli.chatting.screen import Screen, TerminalScreen
from pgmem_local.cli.chatting.transcript import save
from pgmem_local.cli.values import Status, entries
from pgmem_local.control.forgetting import Selection
from pgmem_local.graph.nodes import NodeId
from pgmem_local.talking.talk import Talk

_TICK_SECONDS = 0.25
_ID = re.compile(r"[cest][0-9]+")


@dataclass(frozen=True)
class Room:
    """What a command works with."""

    talk: Talk
    screen: Screen
    interactive: bool

    def confirms(self, question: str) -> bool:
        """Whether the person says yes. In a pipe nobody can be asked, so the answer is no."""
        if not self.interactive:
            self.screen.hint("nobody can be asked here; run `pgmem forget --yes` instead")
            return False
        try:
            return self.console.input(Text(f"{question} [y/N] ")).strip().lower() in ("y", "yes")
        except (EOFError, KeyboardInterrupt):
            return False

    @property
    def console(self) -> Console:
        return show.terminal()


@dataclass(frozen=True)
class Command:
    """One slash command. `needs` names what must follow it, `may` what can."""

    name: str
    about: str
    run: Callable[[Room, str], None]
    needs: str = ""
    may: str = ""


def find_command(name: str) -> Command | None:
    return next((command for command in COMMANDS if command.name == name), None)


def _me(room: Room, rest: str) -> None:
    with room.talk.memory_alone() as memory:
        found = [entry for entry in entries(memory.me()) if entry.status is not Status.HAPPENED]
    if not found:
        room.screen.hint("nothing yet")
    show.by_status(room.console, found)


def _people(room: Room, rest: str) -> None:
    from pgmem_local.cli.persons import print_card, print_people

    with room.talk.memory_alone() as memory:
        if rest:
            print_card(memory.person(rest), memory.people)
        else:
            print_people(memory.people)


def _timeline(room: Room, rest: str) -> None:
    from pgmem_local.cli.persons import print_events

    with room.talk.memory_alone() as memory:
        print_events(memory.timeline(rest or None), memory.people)


def _why(room: Room, rest: str) -> None:
    from pgmem_local.cli.chatting.why import show_grounds
    from pgmem_local.cli.look import print_reasons

    with room.talk.memory_alone() as memory:
        if rest:
            print_reasons(room.console, memory.why(NodeId(rest.lower())))
        elif room.talk.answered is None:
            room.screen.hint("ask something first; /why then shows what the answer rested on")
        else:
            show_grounds(room.console, memory, room.talk.answered)


def _remember(room: Room, rest: str) -> None:
    with room.talk.memory_alone() as memory:
        state = memory.remember(rest)
    room.screen.hint(f"remembered as {state.id}; /undo takes it back")


def _correct(room: Room, rest: str) -> None:
    identifier, _, text = rest.partition(" ")
    with room.talk.memory_alone() as memory:
        state = memory.correct(NodeId(identifier.lower()), text)
    room.screen.hint(f"{state.id} stands in its place now; /undo takes it back")


def _undo(room: Room, rest: str) -> None:
    with room.talk.memory_alone() as memory:
        done = memory.undo()
    room.screen.hint(done)


def _search(room: Room, rest: str) -> None:
    with room.talk.memory_alone() as memory:
        found = memory.search(rest)
    for node in found:
        show.line(room.console, show.node_line(node))
    if not found:
        room.screen.hint("nothing found")


def _forget(room: Room, rest: str) -> None:
    """Show what would go, ask, and forget it; the conversation forgets it too."""
    from pgmem_local.cli.controlling import plan_lines, receipt_lines

    with room.talk.memory_alone() as memory:
        plan = memory.plan_forgetting(selection_of(rest))
        if not plan:
            room.screen.hint("nothing of that is remembered")
            return
        for line in plan_lines(plan):
            show.line(room.console, line)
        if not room.confirms("Forget this for good?"):
            room.screen.hint("nothing was forgotten")
            return
        receipt = memory.forget(plan)
        room.talk.unsay(plan.removed)
    for line in receipt_lines(receipt):
        room.screen.hint(line)


def selection_of(rest: str) -> Selection:
    """Ids where each word is one, else everything that holds these words."""
    words = rest.lower().split()
    return Selection(ids=tuple(map(NodeId, words))) if all(map(_ID.fullmatch, words)) else Selection(text=rest)


def _stats(room: Room, rest: str) -> None:
    from pgmem_local.cli.figures import show_tables

    with room.talk.memory_alone() as memory:
        show_tables(memory)


def _model(room: Room, rest: str) -> None:
    with room.talk.memory_alone() as memory:
        about = f"{memory.model.identity}, {memory.model.context_tokens} tokens of context"
    show.line(room.console, f"{about}; for another leave and run pgmem chat -c --model NAME")


def _save(room: Room, rest: str) -> None:
    room.screen.hint(f"saved to {save(room.talk.conversation, rest)}")


def _private(room: Room, rest: str) -> None:
    room.talk.go_private()
    room.screen.hint("from here on nothing of this conversation is stored")


def _temp(room: Room, rest: str) -> None:
    begun = room.talk.turn_temporary()
    begins, ends = "a temporary conversation: nothing of it is stored; /temp again leaves it", "back in the conversation before"
    room.screen.hint(begins if begun else ends)


def _wait(room: Room, rest: str) -> None:
    """Show progress until all is learned. Ctrl-C ends the waiting, not the learning."""
    from pgmem_local.cli.progress import progress_for_terminal

    progress = progress_for_terminal()
    if isinstance(room.screen, TerminalScreen):
        room.screen.elsewhere = progress.say
    room.talk.learn_now()
    try:
        while not room.talk.settled:
            if room.talk.progress is not None:
                progress.learned(room.talk.progress)
            progress.tick()
            time.sleep(_TICK_SECONDS)
    except KeyboardInterrupt:
        room.screen.hint("learning goes on in the background")
    finally:
        progress.close()
        if isinstance(room.screen, TerminalScreen):
            room.screen.elsewhere = None


def _help(room: Room, rest: str) -> None:
    rows = [(" ".join(filter(None, (c.name, c.needs, c.may and f"[{c.may}]"))), c.about) for c in COMMANDS]
    rows += [
        ("!multi … !end", "a message of several lines; Alt-Enter begins a line, too"),
        ("Ctrl-C, Ctrl-D", "stop an answer; leave"),
    ]
    show.table(room.console, ("", ""), rows)


QUIT = "/quit"

COMMANDS: tuple[Command, ...] = (
    Command("/me", "what the memory holds about you", _me),
    Command("/people", "who you speak of, or what is known of one of them", _people, may="NAME"),
    Command("/why", "what the last answer rested on, or how ID came about", _why, may="ID"),
    Command("/remember", "keep a statement of yours, which outranks what was inferred", _remember, needs="TEXT"),
    Command("/correct", "put your words in the place of a note", _correct, needs="ID TEXT"),
    Command("/forget", "forget notes and lines by id, or all that holds a text; asks first", _forget, needs="ID… or TEXT"),
    Command("/undo", "take back your last statement or correction", _undo),
    Command("/search", "find notes and lines", _search, needs="TEXT"),
    Command("/timeline", "what happened when, of you or of somebody", _timeline, may="NAME"),
    Command("/stats", "counts, and what learning cost", _stats),
    Command("/model", "which model answers", _model),
    Command("/save", "the conversation as a Markdown file", _save, may="FILE"),
    Command("/private", "store nothing from here on", _private),
    Command("/temp", "a conversation of which nothing is stored; again: leave it", _temp),
    Command("/wait", "wait until everything said is learned", _wait),
    Command("/help", "this list", _help),
    Command(QUIT, "leave; what is not learned yet is learned next time", lambda room, rest: None),
)
