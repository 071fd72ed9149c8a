"""PersonaMemory: one person's memory, opened, wired and closed. The only place where store, models and stages meet.

Observing stores a turn at once and marks it pending. Learning takes pending turns up, whenever it is called, in whatever process; each
lesson lands in one transaction, so it may be stopped at any moment. Recalling and answering read the same graph. What only learning
about people and carrying elsewhere need is imported there: nobody who opens a memory to talk waits for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

import numpy as np

from pgmem_local.advising import advise, guards
from pgmem_local.answering import UNKNOWN, Answer, Citation, Notes, answer, cite
from pgmem_local.construction import pipeline
from pgmem_local.construction.annotate import Annotation, Annotator
from pgmem_local.construction.desk import Desk
from pgmem_local.construction.extract import Reading, Said
from pgmem_local.construction.judge import judge_for
from pgmem_local.construction.pair import by_time
from pgmem_local.control import editing, erasing, safekeeping, statements
from pgmem_local.control import people as registry
from pgmem_local.control.editing import Edit, EditedEntries
from pgmem_local.control.erasing import Receipt
from pgmem_local.control.forgetting import ForgetPlan, Selection
from pgmem_local.control.history import History, tell_history
from pgmem_local.control.safekeeping import Kept
from pgmem_local.conversation import BROKEN_OFF, Exchange, Moment, Turn
from pgmem_local.conversing import prepare, reply
from pgmem_local.errors import ModelError, ModelOutputInvalid, PromptTooLong
from pgmem_local.graph.edges import EvidenceEdge
from pgmem_local.graph.nodes import Context, Kind, Node, NodeId, State
from pgmem_local.graph.people import Entity
from pgmem_local.graph.timeline import Event, timeline
from pgmem_local.ingest.secrets import mask_secrets
from pgmem_local.ingest.untrusted import clean
from pgmem_local.lesson import Lesson, PeopleLesson
from pgmem_local.ports import ChatModel, Embedder, Message, Spent
from pgmem_local.retrieval.assemble import Evidence
from pgmem_local.retrieval.core import PersonaCore, persona_core
from pgmem_local.retrieval.joined import Sources, about_those_asked, find_company, of_its_time, write_joined
from pgmem_local.retrieval.kind import asks_for_advice
from pgmem_local.retrieval.passages import Passages
from pgmem_local.retrieval.pipeline import Retrieval, retrieve
from pgmem_local.retrieval.portrait import portrait
from pgmem_local.retrieval.query import ask_query
from pgmem_local.retrieval.search import search
from pgmem_local.retrieval.serialise import serialise
from pgmem_local.settings import Settings
from pgmem_local.store.people import PeopleVectors, Undone
from pgmem_local.store.sqlite import Added, Arrival, MemoryStore
from pgmem_local.store.vectors import VectorIndexes

if TYPE_CHECKING:
    from pgmem_local.control.carrying import Exported, Imported
    from pgmem_local.portable.formats import Format

WINDOW = 4
"""Contexts learned together: their prompts are decoded in one batch, their lessons land one by one."""
READINGS = 5
"""How often a memory is read until nobody has written meanwhile."""


@dataclass(frozen=True)
class Progress:
    """How far learning is: Contexts learned of those that were pending, and what it cost so far."""

    done: int
    total: int
    spent: Spent


@dataclass(frozen=True)
class Reasons:
    """Why a node is there: the lines it rests on, what was made from it, and the evidence around it."""

    citation: Citation
    derived: tuple[Node, ...]
    evidence: tuple[tuple[EvidenceEdge, Node], ...]


@dataclass(frozen=True)
class Grounds:
    """What a reply rests on: what was retrieved on the message, how much of it was shown, and the persona core."""

    retrieval: Retrieval
    notes: Notes
    core: PersonaCore


class Construction(Protocol):
    """The steps of Algorithm 1, each of which returns what it taught; `construction.pipeline` is ours."""

    def learn_contexts(self, desk: Desk, readings: Sequence[Reading]) -> list[Lesson]: ...

    def close_chunk(self, desk: Desk, chunk: int, contexts: Sequence[Context]) -> Lesson: ...

    def consolidate(self, desk: Desk, contexts: Sequence[Context]) -> Lesson: ...


def _now() -> Moment:
    return Moment.of(datetime.now().astimezone())


def _said_now(text: str) -> Exchange:
    return Exchange(Turn(mask_secrets(clean(text)).text, _now()))


def _without_half_reply(context: Context) -> Context:
    """A reply that was broken off is no part of memory: nobody answers half an answer, and no Episode tells of one."""
    return replace(context, reply=None) if (context.reply or "").endswith(BROKEN_OFF) else context


Failures = dict[NodeId | int, ModelError]
"""Contexts and chunks that the model failed at in this run, and how."""


def _raise_first(failed: Failures) -> None:
    for first in failed.values():
        what = f"the model failed at {len(failed)} of the entries, which stay pending"
        raise ModelOutputInvalid(f"{what}; ingest again to retry, perhaps with another --model. First: {first}") from first


class PersonaMemory:
    """A memory with its models. Models are opened when first needed: looking at what is known loads no language model.

    open_model and open_embedder are called at most once. Safe to share between threads; learning holds the lock a window at a time.
    """

    def __init__(
        self,
        store: MemoryStore,
        open_model: Callable[[], ChatModel],
        open_embedder: Callable[[], Embedder],
        settings: Settings | None = None,
        construction: Construction = pipeline,
    ) -> None:
        self.store = store
        self._construction = construction
        self.settings = settings or Settings()
        self._lock = threading.RLock()
        self._open_model, self._open_embedder = open_model, open_embedder
        self._model: ChatModel | None = None
        self._embedder: Embedder | None = None
        self._accepted = False
        self._annotator: Annotator | None = None
        erasing.finish(store)
        self.on_lesson: Callable[[Lesson], None] | None = None
        """Hears of each lesson once it has landed, in the thread that learns."""
        self._revision = store.revision
        self.vectors = VectorIndexes(store)
        self.graph = store.load_graph()
        self.people = store.people.load()
        self._passages = Passages(lambda texts: self.embedder.embed(texts))

    @classmethod
    def open(
        cls,
        home: Path | None = None,
        profile: str = "default",
        model: str | None = None,
        settings: Settings | None = None,
        loading: Callable[[str], None] | None = None,
        prompt: Callable[[], str] | None = None,
    ) -> PersonaMemory:
        """Open or begin the memory in `home` with the real models; `model` is a name of the registry or a path, `loading` hears
        which chat model is being loaded, and `prompt` is asked for a passphrase that lies neither in a file nor in the keyring.

        Raises StoreError where it cannot lie there. ModelFileError comes later, when a model is first needed and missing.
        """
        from pgmem_local.runtime.opening import open_chat_model, open_embedder

        settings = settings or Settings()
        store = MemoryStore.open(home, profile, settings.construction.chunk_exchanges, prompt=prompt)
        return cls(store, lambda: open_chat_model(model, loading=loading), open_embedder, settings)

    def __enter__(self) -> PersonaMemory:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Save the indexes and free models and files, each even where another fails."""
        with self._lock, ExitStack() as stack:
            stack.callback(self.store.close)
            for opened in (self._model, self._embedder):
                if opened is not None:
                    stack.callback(opened.close)
            stack.callback(self.vectors.save)
            self._model = self._embedder = self._annotator = None
            self._accepted = False

    # ---------------------------------------------------------------- models

    @property
    def model(self) -> ChatModel:
        with self._lock:
            if self._model is None:
                self._model = self._open_model()
            return self._model

    @property
    def embedder(self) -> Embedder:
        with self._lock:
            if self._embedder is None:
                self._embedder = self._open_embedder()
            if not self._accepted:
                self._accept_embedder(self._embedder)
                self._accepted = True
            return self._embedder

    @property
    def annotator(self) -> Annotator:
        with self._lock:
            if self._annotator is None:
                self._annotator = Annotator(self.embedder)
            return self._annotator

    def open_models(self) -> None:
        """Open both models now rather than when they are first needed."""
        with self._lock:
            _ = self.model, self.embedder

    def _accept_embedder(self, embedder: Embedder) -> None:
        """Vectors of another embedder are made anew from the stored texts: they could not be compared."""
        self.refresh()
        stored = self.store.vector_identity()
        if stored is not None and stored != embedder.identity:
            nodes = [node for kind in Kind for node in self.graph.of_kind(kind)]
            notes = Annotator(embedder).annotate([node.text for node in nodes])
            self.store.replace_vectors(embedder.identity, {node.id: note.vector for node, note in zip(nodes, notes, strict=True)})
            self.vectors.refresh()
        self.store.expect_vectors(embedder.identity, embedder.dimension)

    # ---------------------------------------------------------------- observing and learning

    def observe(self, said: str | Sequence[str | Exchange], file: Path | str | None = None) -> Added:
        """Store exchanges as pending Contexts; those already known change nothing and need no model.

        A string is something the owner says now. `file` is where the exchanges were read, so that it can be forgotten as a whole.
        """
        exchanges = [one if isinstance(one, Exchange) else _said_now(one) for one in ([said] if isinstance(said, str) else said)]
        with self._lock:
            known = self.store.known_keys(exchange.key for exchange in exchanges)
            fresh = [exchange for exchange in exchanges if exchange.key not in known]
            notes = iter(self.annotator.annotate([exchange.said.text for exchange in fresh]) if fresh else [])
            arrivals = [self._arrival(exchange, exchange.key in known, notes) for exchange in exchanges]
            added = self.store.add(arrivals, str(file) if file is not None else None)
            self._take_in([self.store.node(identifier) for identifier in added.new])
            self.graph.add(self.store.node(identifier) for identifier in added.completed)
            self._follow_own_writes(1 if added.new or added.completed else 0)
            return added

    def edited_entries(self) -> EditedEntries:
        """Tells, for one run over files, which entries may be new versions of stored ones: what it lets through is for `observe`, what
        it settles in the end for `replace_earlier`, and for `observe` again."""
        with self._lock:
            self.refresh()
            return EditedEntries(self.graph, self.store.files(), self.store.acts())

    def replace_earlier(self, edits: Sequence[Edit]) -> Added:
        """Put new versions in the place of stored entries and of what rests on those alone; they wait to be learned.

        Raises StoreBusy while something is being learned, and changes nothing then.
        """
        with self._lock:
            return editing.replace_earlier(self, edits)

    def _arrival(self, exchange: Exchange, known: bool, notes: Iterator[Annotation]) -> Arrival:
        if known:
            return Arrival(exchange)
        note = next(notes)
        return Arrival(exchange, note.keywords, note.domains, note.vector)

    def _take_in(self, nodes: Sequence[Node]) -> None:
        """Follow in memory what this process has just committed."""
        self.graph.add(nodes)
        if nodes:
            self.vectors.add([node.id for node in nodes], self.store.vectors_of([node.id for node in nodes]))

    def _follow_own_writes(self, transactions: int) -> None:
        """Count what this process committed and took in: a revision beyond that is another's work."""
        self._revision += transactions

    def refresh(self) -> None:
        """Follow what was written and not taken in, mostly by another process.

        What is committed between the readings would be known to one and not to the other, so all is read again then. Should others
        write faster than we read, the graph is the newer: a vector of a node that it does not hold could not be shown.
        """
        with self._lock:
            for _ in range(READINGS):
                revision = self.store.revision
                if revision == self._revision:
                    return
                self.vectors.refresh()
                self.people = self.store.people.load()
                self.graph = self.store.load_graph()
                self._passages.forget()
                self._revision = revision

    def learn(
        self,
        report: Callable[[Progress], None] | None = None,
        going_on: str | None = None,
        enough: Callable[[], bool] = lambda: False,
        gives_way: Callable[[], bool] | None = None,
    ) -> Spent:
        """Take up everything pending; what it cost. The chunk of a session still `going_on` stays open. Once `enough` says so,
        learning stops after the window in hand, and the rest stays pending.

        Raises StoreBusy where another process is learning, Interrupted as soon as `gives_way` says that the model is needed for something
        else. May be ended at any moment: what has landed stays. Where the model fails at an entry, the others are learned all the
        same; in the end ModelOutputInvalid says how many are left pending.
        """
        total, done, spent = len(self.store.pending()), 0, Spent()
        failed: Failures = {}
        at_once = 1 if gives_way else WINDOW  # whoever may be interrupted soon loses as little as possible by it
        with self.store.learning() as lock, self.model.giving_way(gives_way) if gives_way else nullcontext():
            self.refresh()
            lock.note(0, total)
            if total and report is not None:
                report(Progress(0, total, spent))
            while not enough() and (window := [context for context, _ in self.store.pending() if context not in failed][:at_once]):
                spent += self._learn_window(window, failed) + self._close_chunks(going_on, failed)
                done += sum(context not in failed for context in window)
                lock.note(done, max(total, done))
                if report is not None:
                    report(Progress(done, max(total, done), spent))
            if not enough():
                spent += self._close_chunks(going_on, failed)
                if self.store.unconsolidated_chunks():
                    spent += self._consolidate()
            self.vectors.save()
        _raise_first(failed)
        return spent

    def _desk(self) -> Desk:
        judge = judge_for(self.model.identity)
        return Desk(
            self.model, self.annotator, self.graph, self.vectors, self.store.next_id, self.settings.construction, judge
        )

    def _learn_window(self, contexts: Sequence[NodeId], failed: Failures) -> Spent:
        """Learn Contexts together; where the model fails at one of them, one by one, so that it holds up no other."""
        try:
            with self._lock:
                readings = [Reading(context, self._said_before(context)) for context in self._contexts(contexts)]
                return self._land(self._construction.learn_contexts(self._desk(), readings))
        except (ModelOutputInvalid, PromptTooLong) as error:
            if len(contexts) == 1:
                failed[contexts[0]] = error
                return Spent()
            return sum((self._learn_window([context], failed) for context in contexts), Spent())

    def _close_chunks(self, going_on: str | None, failed: Failures) -> Spent:
        spent = Spent()
        for chunk in self.store.chunks_to_close(going_on):
            if chunk not in failed:
                spent += self._close_chunk(chunk, failed)
            if len(self.store.unconsolidated_chunks()) >= self.settings.construction.trait_interval:
                spent += self._consolidate()
        return spent

    def _close_chunk(self, chunk: int, failed: Failures) -> Spent:
        try:
            with self._lock:
                contexts = self._contexts(self.store.chunk_contexts(chunk))
                lesson = self._construction.close_chunk(self._desk(), chunk, contexts)
                return self._land([replace(lesson, people=self._learn_people(contexts))])
        except (ModelOutputInvalid, PromptTooLong) as error:
            failed[chunk] = error
            return Spent()

    def _learn_people(self, contexts: Sequence[Context]) -> PeopleLesson | None:
        if not self.settings.people.enabled:
            return None
        from pgmem_local.profiles.desk import PeopleDesk
        from pgmem_local.profiles.pipeline import learn_people

        known = self.people_vectors()
        desk = PeopleDesk(self.model, self.embedder.embed, self.people, known.fact, self.store.people, self.settings.people)
        return learn_people(desk, contexts)

    def people_vectors(self) -> PeopleVectors:
        """The vectors of profiles and facts as they are stored; those that changed since they were embedded are made anew."""
        with self._lock:
            profiles, facts = self.store.people.without_vectors()
            if profiles or facts:
                texts = {one: self.people.profile(one).text for one in profiles} | {one: self.people.fact(one).text for one in facts}
                rows = self.embedder.embed(list(texts.values()))
                self.store.people.add_vectors(dict(zip(texts, rows, strict=True)))
                self._follow_own_writes(1)
            return self.store.people.vectors()

    def _consolidate(self) -> Spent:
        with self._lock:
            chunks = self.store.unconsolidated_chunks()
            contexts = self._contexts([i for chunk in chunks for i in self.store.chunk_contexts(chunk)])
            return self._land([self._construction.consolidate(self._desk(), contexts)])

    def _land(self, lessons: Sequence[Lesson]) -> Spent:
        """Commit lessons in order, each in a transaction of its own; the cost of their common calls goes with the first."""
        booked = self.model.ledger.take()
        for place, lesson in enumerate(lessons):
            self.store.land(replace(lesson, spent=booked if place == 0 else {}))
            self.graph.add(lesson.nodes, lesson.sources, lesson.judgements)
            if lesson.nodes:
                self.vectors.add([node.id for node in lesson.nodes], np.stack([lesson.vectors[node.id] for node in lesson.nodes]))
            if lesson.people is not None:
                self.people = self.store.people.load()
            self._follow_own_writes(1)
            if self.on_lesson is not None:
                self.on_lesson(lesson)
        return sum(booked.values(), Spent())

    def _contexts(self, identifiers: Sequence[NodeId]) -> list[Context]:
        """Contexts the store has named, also those that another process has added since the graph was read, to learn from."""
        self.refresh()
        return [_without_half_reply(node) for node in map(self.graph.__getitem__, identifiers) if isinstance(node, Context)]

    def _said_before(self, context: Context) -> Said | None:
        """What the user's words may answer: the assistant's reply, or somebody's words, just before them in their session."""
        if context.session is None or context.moment is None:
            return None
        earlier = [one for one in self.graph.of_session(context.session) if one.moment and one.moment < context.moment]
        return Said.at_the_end_of(_without_half_reply(max(earlier, key=by_time))) if earlier else None

    # ---------------------------------------------------------------- recalling and answering

    def recall(self, question: str) -> Retrieval:
        """What the memory holds on a question; no language model is asked."""
        with self._lock:
            self.refresh()
            query = ask_query(question, self.embedder, self.graph.newest)
            found = retrieve(self.graph, self.vectors, query, self.settings.retrieval)
            return replace(found, company=find_company(self._sources(), query, self.settings.joined))

    def _sources(self) -> Sources:
        return Sources(self.graph, self.people, self.vectors, self.people_vectors(), self.embedder.embed, self._passages)

    def notes(self, evidence: Evidence, tokens: int) -> Notes:
        """Persona evidence as the model sees it, within a budget of its tokens."""
        serialised = serialise(evidence, tokens, self.model.count)
        return Notes(serialised.text, serialised.labels)

    def joined_notes(self, retrieval: Retrieval, tokens: int) -> Notes:
        """Persona, people and exchanges as they were in one context, within a budget."""
        with self._lock:
            settings, count = self.settings.joined, self.model.count
            sources = self._sources()
            evidence = of_its_time(retrieval.evidence, retrieval.query)
            serialised = write_joined(sources, evidence, retrieval.company, tokens, count, settings)
            about = about_those_asked(sources, retrieval.query.text, retrieval.company, serialised.labels.values())
            return Notes(serialised.text, serialised.labels, about)

    def ask(self, question: str) -> tuple[Answer, Retrieval]:
        """An answer that cites its nodes, with the retrieval it rests on."""
        retrieval = self.recall(question)
        if not retrieval:
            return Answer(UNKNOWN, known=False), retrieval  # without loading a language model
        with self._lock:
            notes = self.joined_notes(retrieval, self.settings.answer.evidence_tokens)
            if asks_for_advice(question) and (kept := guards(retrieval.evidence)):
                return advise(self.model, self.graph, question, notes, kept, self.settings.answer), retrieval
            return answer(self.model, self.graph, question, notes, self.settings.answer), retrieval

    def persona_core(self) -> PersonaCore:
        """What comes with every message of a conversation that begins now."""
        return persona_core(self.me(), self.settings.chat)

    def consider(self, message: str, core: PersonaCore | None = None) -> Grounds:
        """What a reply to a message will rest on."""
        with self._lock:
            retrieval = self.recall(message)
            notes = self.joined_notes(retrieval, self.settings.chat.evidence_tokens)
            return Grounds(retrieval, notes, self.persona_core() if core is None else core)

    def converse(
        self, message: str, history: Sequence[Message] = (), grounds: Grounds | None = None
    ) -> Generator[str, None, None]:
        """A reply to a message, piece by piece, with what the memory holds on it; nothing is stored."""
        grounds = grounds or self.consider(message)
        return reply(self.model, message, grounds.notes.text, history, self.settings.chat, grounds.core.text)

    def prepare_reply(self, history: Sequence[Message], core: PersonaCore) -> None:
        """Evaluate all of the next prompt of a conversation but the next message and the notes on it. An encrypted memory keeps nothing
        of that from run to run."""
        kept_in = None if self.store.encrypted else self.store.place.model_states
        prepare(self.model, history, self.settings.chat, core.text, kept_in)

    def me(self) -> Evidence:
        """Everything the memory holds about its owner now, by kind and status."""
        with self._lock:
            self.refresh()
            return portrait(self.graph, self.settings.retrieval)

    def why(self, identifier: NodeId) -> Reasons:
        """How a node came about. Raises UnknownNode."""
        with self._lock:
            self.refresh()
            citation = cite(self.graph, identifier, self.graph[identifier].text)
            derived = tuple(self.graph[i] for i in self.graph.derived(identifier))
            edges = self.graph.evidence(identifier)
            others = [self.graph[edge.target if edge.source == identifier else edge.source] for edge in edges]
            return Reasons(citation, derived, tuple(zip(edges, others, strict=True)))

    def get(self, identifier: NodeId) -> Node:
        """One node. Raises UnknownNode."""
        with self._lock:
            self.refresh()
            return self.graph[identifier]

    def search(self, text: str, limit: int = 20) -> tuple[Node, ...]:
        """Nodes of all kinds that hold this very text, newest first, then those that resemble it; no language model is asked."""
        with self._lock:
            self.refresh()
            literal = self.store.search_text(text, limit)
            return search(self.graph, self.vectors, ask_query(text, self.embedder), literal, limit, self.settings.retrieval.seed)

    def history(self, identifier: NodeId) -> History:
        """How a node came about and what became of it, in order of time. Raises UnknownNode."""
        with self._lock:
            self.refresh()
            return tell_history(self.graph, identifier, self.store.acts())

    # ---------------------------------------------------------------- what the owner decides

    def remember(self, text: str, moment: Moment | None = None) -> State:
        """Keep what the owner says outright, in their words: it outranks what was or will be inferred.

        The language model is loaded only where a State is alike and the words alone do not tell how the two go together; where it is
        not installed, that waits for the next learning.
        """
        with self._lock:
            return statements.remember(self, text, moment or _now())

    def correct(self, identifier: NodeId, text: str, moment: Moment | None = None) -> State:
        """Put the owner's words in the place of a State or Trait, which is history from then on; no language model is asked.

        Raises UnknownNode, or ChangeRefused for a node that is no note or no longer holds.
        """
        with self._lock:
            return statements.correct(self, identifier, text, moment or _now())

    def pin(self, identifier: NodeId) -> Node:
        """Keep a note in view whatever is asked. Raises UnknownNode, or ChangeRefused for a line, which is never shown itself."""
        with self._lock:
            return statements.pin(self, identifier, _now())

    def unpin(self, identifier: NodeId) -> Node:
        """Let a pinned note be ranked like any other again. Raises UnknownNode."""
        with self._lock:
            return statements.unpin(self, identifier, _now())

    def undo(self) -> str:
        """Take back the owner's last statement, correction or pinning; what that was. Raises ChangeRefused where there is none or the
        last act was a forgetting, and StoreBusy while something is being learned."""
        with self._lock:
            return statements.undo(self)

    # ---------------------------------------------------------------- others

    def person(self, name: str) -> Entity:
        """Whom a name or an id means. Raises UnknownEntity, which says who else may be meant."""
        with self._lock:
            self.refresh()
            return registry.find(self.people, name)

    def merge_people(self, kept: str, other: str) -> Entity:
        """Make one entity of two. Raises UnknownEntity, or StoreBusy while something is being learned."""
        with self._lock:
            return registry.merge(self, kept, other)

    def split_person(self, name: str, contexts: Sequence[NodeId], called: str | None = None) -> Entity:
        """Make another entity of what is known from these Contexts alone. Raises as `merge_people` does."""
        with self._lock:
            return registry.split(self, name, contexts, called)

    def rename_person(self, name: str, called: str | None) -> Entity:
        """Call an entity what its owner calls it; None gives it back the name that was heard. Raises as `merge_people` does."""
        with self._lock:
            return registry.rename(self, name, called)

    def undo_people(self) -> Undone | None:
        """Take back the last merge, split or rename; None where there is none."""
        with self._lock:
            return registry.undo(self)

    def timeline(self, name: str | None = None) -> list[Event]:
        """What happened when, oldest first: of everybody, or of one entity. Raises UnknownEntity."""
        with self._lock:
            self.refresh()
            return timeline(self.graph, self.people, registry.find(self.people, name).id if name else None)

    # ---------------------------------------------------------------- forgetting

    def plan_forgetting(self, selection: Selection) -> ForgetPlan:
        """What would go, and what that would change; nothing is changed yet. Raises UnknownNode for an id that is not there."""
        with self._lock:
            return erasing.plan(self, selection)

    def forget(self, wanted: ForgetPlan | Selection) -> Receipt:
        """Remove what was selected and every trace of it under this profile's folder. What came in since a plan was made and is meant
        by it goes too. Raises StoreBusy while something is being learned."""
        with self._lock:
            return erasing.forget(self, wanted.selection if isinstance(wanted, ForgetPlan) else wanted, _now())

    def backup(self, path: Path | str) -> Kept:
        """Copy the memory into one new file, and check the copy. Raises StoreError."""
        with self._lock:
            return safekeeping.backup(self, Path(path))

    def restore(self, path: Path | str) -> Kept:
        """Put a backup in the place of the memory, once it is checked to be whole. Raises StoreError, and StoreBusy while something is
        being learned; the memory is as it was then."""
        with self._lock:
            self._accepted = False
            return safekeeping.restore(self, Path(path))

    # ---------------------------------------------------------------- in other forms

    def export(self, path: Path | str, form: Format | None = None) -> Exported:
        """Write the memory into a new file, in the form that its ending names or `form` says. The text is plain, also of an encrypted
        memory. Raises StoreError."""
        from pgmem_local.control import carrying

        with self._lock:
            return carrying.export(self, Path(path), form)

    def export_text(self, form: Format) -> Iterator[str]:
        """The same as text, piece by piece."""
        from pgmem_local.control import carrying

        with self._lock:
            return carrying.export_text(self, form)

    def import_(self, path: Path | str, report: Callable[[int, int], None] = lambda done, total: None) -> Imported:
        """Take in what an export as JSON Lines holds and is not known, all or nothing; `report` hears how many texts are embedded.

        Raises IngestError on any other file, and StoreBusy while something is being learned; the memory is as it was then.
        """
        from pgmem_local.control import carrying

        with self._lock:
            return carrying.import_(self, Path(path), report)
