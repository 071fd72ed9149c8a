"""Talk: a message comes in, the reply streams out, and what was said is stored; learning goes on while nobody waits. Knows no terminal.

Answer first, learn after: a message sets the learner aside within the time of a token and is stored, and once the reply is there
learning goes on. What had not landed stays pending, so that nothing is lost or done twice, also where the process is killed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from pgmem_local.conversation import BROKEN_OFF, Exchange, Moment, Speaker, Turn
from pgmem_local.errors import Interrupted, ModelFileError, PGMemError, PromptTooLong
from pgmem_local.graph.nodes import Node
from pgmem_local.ingest.secrets import mask_secrets
from pgmem_local.ingest.untrusted import clean
from pgmem_local.lesson import Lesson
from pgmem_local.memory import Grounds, PersonaMemory, Progress
from pgmem_local.retrieval.core import PersonaCore, persona_core
from pgmem_local.talking.background import Background
from pgmem_local.talking.conversation import Conversation, Keeping
from pgmem_local.talking.notices import notice


def now() -> Moment:
    return Moment.of(datetime.now().astimezone().replace(microsecond=0))


@dataclass(frozen=True)
class Answered:
    """The last message, its reply, and what that rested on."""

    message: str
    reply: str
    grounds: Grounds


class Talk:
    """One person talking with their memory. `hear` gets a quiet line when something was learned, from another thread.

    With `learns` off, what is said is stored and waits. Close it before the memory.
    """

    def __init__(
        self,
        memory: PersonaMemory,
        conversation: Conversation,
        hear: Callable[[str], None] = lambda line: None,
        learns: bool = True,
        clock: Callable[[], Moment] = now,
    ) -> None:
        self.memory = memory
        self.conversation = conversation
        self.learns = learns
        self.answered: Answered | None = None
        self.progress: Progress | None = None
        self.ready = False
        """Whether the model is loaded and has read what does not change."""
        self._hear, self._clock = hear, clock
        self._stopped = False
        self._left: Conversation | None = None
        self._core: PersonaCore | None = None
        self._core_in_doubt = True
        self._complaints: set[str] = set()
        memory.on_lesson = self._landed
        self._background = Background(self._work, self._complain)

    def begin(self) -> None:
        """Open the models and go on with what is pending. Whoever does not call it has that done after the first message."""
        self._background.due()

    # ---------------------------------------------------------------- a message

    def say(self, line: str) -> Generator[str, None, None]:
        """The reply, piece by piece. The message is stored before its first word, so that no end of the process loses it, and the
        reply when it has ended, in whatever way: at its end, by `stop`, by an error, or because the generator was closed.

        Raises PromptTooLong where the message is too long; then it is not stored.
        """
        message = mask_secrets(clean(line)).text.strip()
        turn = Turn(message, self._clock(), Speaker.USER, self.conversation.session)
        pieces: list[str] = []
        ending: str | None = BROKEN_OFF
        self._stopped = False
        try:
            yield from self._reply(turn, pieces)
            ending = ""
        except Interrupted:
            pass
        except (PromptTooLong, ModelFileError):
            ending = None
            raise
        finally:
            if ending is not None:
                self._keep(turn, mask_secrets(clean("".join(pieces)).strip()).text + ending)

    def _reply(self, turn: Turn, pieces: list[str]) -> Iterator[str]:
        with self._background.aside(self._is_stopped):
            grounds = self.memory.consider(turn.text, self._current_core())
            with closing(self.memory.converse(turn.text, self.conversation.history, grounds)) as stream:
                self.answered = Answered(turn.text, "", grounds)
                self._store(Exchange(turn))
                while True:
                    with self.memory.model.giving_way(self._is_stopped):
                        piece = next(stream, None)
                    if piece is None:
                        return
                    pieces.append(piece)
                    yield piece

    def _keep(self, turn: Turn, reply: str) -> None:
        """Add an exchange to the conversation and, unless it is private, to what is to be learned."""
        whole = "" if reply == BROKEN_OFF else reply
        self.conversation.add(turn.text, whole)
        if self.answered is not None:
            self.answered = replace(self.answered, reply=whole)
        with self._background.aside():
            self._store(Exchange(turn, whole or None))
        self._background.due()

    def _store(self, exchange: Exchange) -> None:
        """Store what was said, or the reply to what is stored; nothing where it is private."""
        if self.conversation.stored:
            self.memory.observe([exchange])

    def stop(self) -> None:
        """End the reply under way; what there is of it stays. May be called from a signal handler."""
        self._stopped = True

    def _is_stopped(self) -> bool:
        return self._stopped

    # ---------------------------------------------------------------- while nobody waits

    def _work(self) -> None:
        """Open the models, evaluate what the next prompt begins with, then learn."""
        must_stop = self._background.must_stop
        self.memory.open_models()
        with self.memory.model.giving_way(must_stop):
            self.memory.prepare_reply(self.conversation.history, self._current_core())
        self.ready = True
        if self.learns:
            going_on = (self._left or self.conversation).session
            self.memory.learn(self._report, going_on=going_on, gives_way=must_stop)

    def _current_core(self) -> PersonaCore:
        """The persona core: the one there is, as long as all of it holds, because another has to be evaluated."""
        if self._core is None or self._core_in_doubt:
            self._core_in_doubt = False
            portrait = self.memory.me()
            if self._core is None or not self._core.holds(portrait):
                self._core = persona_core(portrait, self.memory.settings.chat)
        return self._core

    def _landed(self, lesson: Lesson) -> None:
        self._core_in_doubt = True
        if line := notice(lesson, self.memory.graph.__getitem__):
            self._hear(line)

    def _report(self, progress: Progress) -> None:
        self.progress = progress

    def _complain(self, error: PGMemError) -> None:
        """Say what went wrong, once: learning is tried again after every message."""
        if str(error) not in self._complaints:
            self._complaints.add(str(error))
            self._hear(str(error))

    @property
    def settled(self) -> bool:
        """Whether everything said so far has been learned, as far as it can be."""
        return self._background.settled

    def learn_now(self) -> None:
        """Learn what is pending, also where learning was off."""
        self.learns = True
        self._background.due()

    # ---------------------------------------------------------------- the conversation

    @contextmanager
    def memory_alone(self) -> Iterator[PersonaMemory]:
        """The memory while nothing is learned, to look at or to change."""
        with self._background.aside():
            yield self.memory
            self._core_in_doubt = True
        self._background.due()

    def unsay(self, forgotten: Iterable[Node]) -> None:
        """Take out of the conversations what was forgotten, with the replies to it."""
        texts = {node.text for node in forgotten}
        for conversation in filter(None, (self.conversation, self._left)):
            conversation.take_out(texts)
        self.answered = None

    def go_private(self) -> None:
        """Store nothing that is said from here on."""
        if self.conversation.stored:
            self.conversation.keeping = Keeping.PRIVATE

    def turn_temporary(self) -> bool:
        """Begin a conversation of which nothing is stored, or leave it for the one before; whether it has begun."""
        begins = self._left is None
        if self._left is None:
            self._left, self.conversation = self.conversation, Conversation.begun(self._clock(), Keeping.TEMPORARY)
        else:
            self.conversation, self._left = self._left, None
        self.answered = None
        self._background.due()
        return begins

    def close(self, patience: float | None = None) -> bool:
        """Stop learning where it is; whether it has stopped within so many seconds: a model that is being loaded takes its time.
        Safe to call twice."""
        self.memory.on_lesson = None
        return self._background.close(patience)
