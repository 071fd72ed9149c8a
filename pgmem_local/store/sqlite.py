"""MemoryStore: everything one person's memory holds, on disk. A turn is stored at once and waits as pending; what it taught (a
Lesson) lands in one transaction that clears the mark, so that a process may die at any moment.

The graph in memory and the vector indexes are derived from here and can always be rebuilt.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from pgmem_local.contents import Contents, Intake
from pgmem_local.conversation import Exchange
from pgmem_local.erasure import Erased, Erasure
from pgmem_local.errors import StoreBusy, StoreError, UnknownNode
from pgmem_local.graph.acts import Act
from pgmem_local.graph.edges import Relation
from pgmem_local.graph.nodes import Context, Kind, Node, NodeId, node_id
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.lesson import Lesson
from pgmem_local.ports import Spent, Vectors
from pgmem_local.settings import ConstructionSettings
from pgmem_local.store import acts, chunks, copies, embeddings, erasing, integrity, rows
from pgmem_local.store.contents import read_contents, write_acts, write_intake
from pgmem_local.store.database import Database
from pgmem_local.store.embeddings import VectorRows, VectorSpace
from pgmem_local.store.encryption import drop_leftover, open_database
from pgmem_local.store.learning import LearningLock, learning_lock
from pgmem_local.store.people import PeopleStore, drop_vectors, land_people
from pgmem_local.store.place import DEFAULT_PROFILE, Place, locate
from pgmem_local.words import folded

BUSY_SECONDS = 10.0


@dataclass(frozen=True)
class Arrival:
    """An exchange with its words and its vector. The vector may be None for one the store is known to hold."""

    exchange: Exchange
    keywords: frozenset[str] = frozenset()
    domains: frozenset[str] = frozenset()
    vector: Vectors | None = None


@dataclass(frozen=True)
class Added:
    """What became of arrivals: new Contexts, exchanges held already, held ones whose missing reply was filled in, and new Contexts that
    took the place of an earlier version."""

    new: tuple[NodeId, ...] = ()
    known: int = 0
    completed: tuple[NodeId, ...] = ()
    changed: tuple[NodeId, ...] = ()


@dataclass(frozen=True)
class Sweep:
    """Patterns of forgotten words that files beside the database may hold, or everything there is."""

    patterns: tuple[str, ...]
    everything: bool


class MemoryStore:
    """One profile's memory. Safe to share between threads; other processes may read and add turns at the same time."""

    def __init__(self, place: Place, database: Database, chunk_exchanges: int) -> None:
        self.place = place
        self.people = PeopleStore(database)
        self._database = database
        self._chunk_exchanges = chunk_exchanges
        self._space: VectorSpace | None = None
        self._given: dict[Kind, int] = {}

    @classmethod
    def open(
        cls,
        home: Path | None = None,
        profile: str = DEFAULT_PROFILE,
        chunk_exchanges: int = ConstructionSettings.chunk_exchanges,
        busy_seconds: float = BUSY_SECONDS,
        prompt: Callable[[], str] | None = None,
    ) -> MemoryStore:
        """Open or begin a memory; `prompt` is asked for the passphrase of an encrypted one where it lies nowhere else.

        Raises StoreError where it cannot lie, was written by a newer release, or is encrypted and does not open.
        """
        place = locate(home, profile)
        place.prepare()
        drop_leftover(place)
        return cls(place, open_database(place, busy_seconds, prompt), chunk_exchanges)

    @property
    def encrypted(self) -> bool:
        """Whether nothing may be written beside the database."""
        return self._database.encrypted

    @property
    def rejects_file(self) -> Path | None:
        """Where rejected records are kept; None where they are not."""
        return None if self.encrypted else self.place.rejects

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> MemoryStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    # Turns come in

    def add(self, arrivals: Sequence[Arrival], file: str | None = None) -> Added:
        """Store what is new as pending Contexts, all or nothing, and from which file it came. An exchange that is known from the same
        place changes no row."""
        with self._database.write() as connection:
            return self._add(connection, arrivals, file)

    def _add(self, connection: sqlite3.Connection, arrivals: Sequence[Arrival], file: str | None) -> Added:
        new: list[NodeId] = []
        completed: list[NodeId] = []
        for arrival in arrivals:
            if not _holds(connection, arrival.exchange.key):
                new.append(self._add_context(connection, arrival))
            elif (identifier := _complete(connection, arrival.exchange)) is not None:
                completed.append(identifier)
        if file is not None:
            acts.note_file(connection, file, [arrival.exchange.key for arrival in arrivals])
        return Added(tuple(new), len(arrivals) - len(new) - len(completed), tuple(completed))

    def _add_context(self, connection: sqlite3.Connection, arrival: Arrival) -> NodeId:
        exchange, said = arrival.exchange, arrival.exchange.said
        if arrival.vector is None:
            raise StoreError("a new exchange came without its vector; embed it and add it again")
        identifier = node_id(Kind.CONTEXT, rows.last_number(connection, Kind.CONTEXT) + 1)
        words, labels = arrival.keywords, arrival.domains
        context = Context(
            identifier, said.text, said.moment, words, labels, exchange.key, said.session, exchange.reply, said.author
        )
        rows.insert_context(connection, context, chunks.chunk_for(connection, exchange, self._chunk_exchanges))
        embeddings.insert_vectors(connection, self._space, {identifier: arrival.vector})
        return identifier

    def known_keys(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys whose exchanges are stored: they need no vector and no model."""
        with self._database.read() as connection:
            return {key for key in keys if _holds(connection, key)}

    # What is left to learn

    def pending(self) -> list[tuple[NodeId, int]]:
        """(Context, its chunk) in learning order: chunk by chunk in event time, undated ones last."""
        with self._database.read() as connection:
            return chunks.pending(connection)

    def chunks_to_close(self, except_label: str | None = None) -> list[int]:
        """Open chunks with nothing pending, oldest first, without that of a session still going on."""
        with self._database.read() as connection:
            return chunks.to_close(connection, except_label)

    def unconsolidated_chunks(self) -> list[int]:
        """Closed chunks that no offline pass has seen, oldest first."""
        with self._database.read() as connection:
            return chunks.unconsolidated(connection)

    def chunk_contexts(self, chunk: int) -> list[NodeId]:
        with self._database.read() as connection:
            return chunks.contexts(connection, chunk)

    # What was learned

    @contextmanager
    def learning(self) -> Iterator[LearningLock]:
        """Be the one process that learns. Raises StoreBusy where another is and does not end soon."""
        with learning_lock(self.place.learning_lock) as lock:
            yield lock

    def next_id(self, kind: Kind) -> NodeId:
        """An id for a node of a coming lesson: never one given before, landed or deleted."""
        with self._database.read() as connection:
            number = max(rows.last_number(connection, kind), self._given.get(kind, 0)) + 1
            self._given[kind] = number
        return node_id(kind, number)

    def land(self, lesson: Lesson) -> None:
        """Store all that a lesson holds, or nothing of it. Raises StoreBusy where another process took its ids."""
        if any(isinstance(node, Context) for node in lesson.nodes) or {node.id for node in lesson.nodes} != set(lesson.vectors):
            raise StoreError("a lesson brings new States, Episodes and Traits with one vector each; Contexts come in by `add`")
        with self._database.write() as connection:
            self._land(connection, lesson)

    def _land(self, connection: sqlite3.Connection, lesson: Lesson) -> None:
        for node in lesson.nodes:
            _refuse_taken(connection, node.id)
            rows.insert_node(connection, node)
        embeddings.insert_vectors(connection, self._space, lesson.vectors)
        rows.insert_sources(connection, lesson.sources)
        rows.insert_judgements(connection, lesson.judgements)
        if lesson.people is not None:
            land_people(connection, lesson.people, self._space)
        rows.add_spent(connection, lesson.spent)
        _mark(connection, lesson)

    # What the owner does

    def declare(self, context: Context, vector: Vectors, lesson: Lesson, act: Act) -> None:
        """Store a statement of the owner with what follows from it. Its Context is a chunk of its own that no Episode tells of and
        that the next offline pass looks at."""
        with self._database.write() as connection:
            _refuse_taken(connection, context.id)
            rows.insert_context(connection, context, chunks.closed_chunk(connection))
            connection.execute("UPDATE contexts SET learned = 1 WHERE node = ?", (context.id,))
            embeddings.insert_vectors(connection, self._space, {context.id: vector})
            self._land(connection, lesson)
            acts.record(connection, act)

    def record(self, act: Act) -> None:
        """Note an act of the owner; pinning and unpinning take effect with it."""
        with self._database.write() as connection:
            acts.record(connection, act)

    def take_back(self, act: Act) -> None:
        """Undo a pinning or unpinning, the last act there was."""
        with self._database.write() as connection:
            acts.take_back_last(connection, act)

    def acts(self) -> list[Act]:
        """What the owner did and did not take back, oldest first."""
        with self._database.read() as connection:
            return acts.read_acts(connection)

    def files(self) -> dict[NodeId, frozenset[str]]:
        """The files each Context was read from."""
        with self._database.read() as connection:
            return acts.read_files(connection)

    # What is forgotten

    def rehearse_erasing(self, erasure: Erasure) -> Erased:
        """What `erase` would take out, row by row; nothing has changed afterwards."""
        with self._database.rehearse() as connection:
            return erasing.erase(connection, erasure)

    def erase(self, erasure: Erasure, act: Act | None = None) -> Erased:
        """Take nodes out for good, with an act to note; the sweep that follows is due from then on, whatever happens to us."""
        with self._database.write() as connection:
            erased = erasing.erase(connection, erasure)
            self._land(connection, erasure.retold)
            if act is not None:
                acts.record(connection, act)
                erasing.note_sweep(connection, erasure.traces, erasure.everything)
        return erased

    def replace(self, erasure: Erasure, arrivals: Sequence[Arrival], file: str | None = None) -> Added:
        """Put new versions of entries in the place of what goes, all or nothing; no sweep follows."""
        with self._database.write() as connection:
            erasing.erase(connection, erasure)
            self._land(connection, erasure.retold)
            return self._add(connection, arrivals, file)

    def sweep_due(self) -> Sweep | None:
        """What a forgetting has left to be swept from the files; None where nothing is."""
        with self._database.read() as connection:
            due = erasing.sweep_due(connection)
            return None if due is None else Sweep(erasing.swept_patterns(connection), due == "everything")

    def finish_sweep(self) -> None:
        """Overwrite freed pages and the log, once no other file holds what was forgotten. Raises StoreBusy where another process
        reads on and on; the sweep stays due then."""
        with self._database.write() as connection:
            erasing.drop_patterns(connection)
        self._database.scrub()
        with self._database.write() as connection:
            erasing.end_sweep(connection)

    # Copies

    def copy_to(self, path: Path) -> copies.Counts:
        """Write a copy of all there is; how many rows it should hold."""
        return self._database.copy_to(path, copies.count_rows)

    def check_copy(self, path: Path) -> copies.Counts:
        """How many rows a copy holds. Raises StoreError on a file that is none, is damaged, or has another passphrase."""
        return copies.check_copy(self._database, path)

    def replace_content(self, path: Path) -> copies.Counts:
        """Put a checked copy in the place of all there is; how many rows there are then."""
        return copies.replace_content(self._database, path)

    def contents(self) -> Contents:
        """All there is, but for vectors and costs."""
        with self._database.read() as connection:
            return read_contents(connection)

    def take_in(self, merge: Callable[[Contents], Intake], vectors: Mapping[NodeId, Vectors]) -> Intake:
        """Put what is new in other contents beside those that are here, or nothing of it. `vectors` has those of all incoming nodes that
        may be new, by the ids they come with."""
        with self._database.write() as connection:
            intake = merge(read_contents(connection))
            here = {intake.ids[one]: row for one, row in vectors.items()}
            write_intake(connection, intake)
            embeddings.insert_vectors(connection, self._space, {one.node.id: here[one.node.id] for one in intake.contexts})
            self._land(connection, replace(intake.lesson, vectors={note.id: here[note.id] for note in intake.lesson.nodes}))
            write_acts(connection, intake)
        return intake

    # What is known

    def load_graph(self) -> PersonaGraph:
        graph = PersonaGraph()
        with self._database.read() as connection:
            edges = rows.read_sources(connection), rows.read_judgements(connection)
            graph.add(rows.read_nodes(connection), *edges, acts.read_pins(connection))
        return graph

    def node(self, identifier: NodeId) -> Node:
        """Raises UnknownNode."""
        with self._database.read() as connection:
            node = rows.read_node(connection, identifier)
        if node is None:
            raise UnknownNode(f"the memory holds no node {identifier!r}; `pgmem me` and `pgmem recall` show ids")
        return node

    def search_text(self, term: str, limit: int) -> list[NodeId]:
        """Nodes whose words or reply hold this very term in any case, newest first; no character is a wildcard."""
        if not (wanted := folded(rows.clean(term))):
            return []
        with self._database.read() as connection:
            found = connection.execute(
                """SELECT id FROM nodes LEFT JOIN contexts ON node = id
                   WHERE instr(folded(text), :term) OR instr(folded(ifnull(reply, '')), :term)
                   ORDER BY utc DESC, kind, number LIMIT :limit""",
                {"term": wanted, "limit": limit},
            )
            return [row["id"] for row in found]

    # Vectors

    def expect_vectors(self, identity: str, dimension: int) -> None:
        """Name the embedder whose vectors will be added. Raises StoreError where the stored ones are another's."""
        space = VectorSpace(identity, dimension)
        with self._database.read() as connection:
            embeddings.check_space(connection, space)
        self._space = space

    def vector_identity(self) -> str | None:
        """The embedder the stored vectors come from; None where there are none."""
        space = self.vector_space()
        return space.identity if space else None

    def vector_space(self) -> VectorSpace | None:
        with self._database.read() as connection:
            return embeddings.stored_space(connection)

    def vector_ids(self, kind: Kind) -> list[NodeId]:
        with self._database.read() as connection:
            return embeddings.read_ids(connection, kind)

    def vector_rows(self, kind: Kind) -> VectorRows:
        with self._database.read() as connection:
            return embeddings.read_all(connection, kind)

    def vectors_of(self, identifiers: Iterable[NodeId]) -> Vectors:
        """One row an id, in their order. Raises UnknownNode for an id without a vector."""
        with self._database.read() as connection:
            return embeddings.read_some(connection, identifiers)

    def replace_vectors(self, identity: str, vectors: Mapping[NodeId, Vectors]) -> None:
        """Put another embedder's vectors in place of all, at once. Raises StoreBusy where a node came in meanwhile."""
        dimension = next((len(vector) for vector in vectors.values()), 0)
        space = VectorSpace(identity, dimension)
        with self._database.write() as connection:
            live = [row["id"] for row in connection.execute("SELECT id FROM nodes")]
            if missing := [identifier for identifier in live if identifier not in vectors]:
                raise StoreBusy(f"{len(missing)} nodes have no new vector, {missing[0]} among them; embed all of the memory again")
            connection.execute("DELETE FROM vectors")
            drop_vectors(connection)
            embeddings.insert_vectors(connection, space, {identifier: vectors[identifier] for identifier in live})
        self._space = space if dimension else self._space

    # Figures and side notes

    @property
    def revision(self) -> int:
        """Raised by every write that changed something, in whatever process."""
        return int(self.meta("revision") or 0)

    def meta(self, key: str) -> str | None:
        with self._database.read() as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row["value"]) if row else None

    def spent(self) -> dict[str, Spent]:
        """What learning cost so far, by task."""
        with self._database.read() as connection:
            return rows.read_spent(connection)

    def counts(self) -> dict[str, int]:
        """Nodes by kind, judged pairs by relation, and `sources`, `pending`, `chunks`, `open_chunks`, `turns_learned`."""
        counts = {name.value: 0 for name in (*Kind, *Relation)}
        with self._database.read() as connection:
            counts.update((row["name"], int(row["number"])) for row in connection.execute(_COUNTS))
        return counts

    def integrity_check(self) -> list[str]:
        """What is wrong with the files, in words; empty where nothing is."""
        with self._database.read() as connection:
            return integrity.problems(connection)


_COUNTS = """
    SELECT kind AS name, count(*) AS number FROM nodes GROUP BY kind
    UNION ALL SELECT relation, count(*) FROM judgements GROUP BY relation
    UNION ALL SELECT 'sources', count(*) FROM source_edges
    UNION ALL SELECT 'pending', count(*) FROM contexts WHERE NOT learned
    UNION ALL SELECT 'chunks', count(*) FROM chunks
    UNION ALL SELECT 'open_chunks', count(*) FROM chunks WHERE NOT closed
    UNION ALL SELECT 'turns_learned', ifnull((SELECT value FROM meta WHERE key = 'turns_learned'), 0)
"""


def _holds(connection: sqlite3.Connection, key: str) -> bool:
    return connection.execute("SELECT 1 FROM contexts WHERE key = ?", (key,)).fetchone() is not None


def _refuse_taken(connection: sqlite3.Connection, identifier: NodeId) -> None:
    if _exists(connection, identifier):
        raise StoreBusy(f"another process took {identifier} meanwhile; learn these turns again, or say it again")


def _exists(connection: sqlite3.Connection, identifier: NodeId) -> bool:
    return connection.execute("SELECT 1 FROM nodes WHERE id = ?", (identifier,)).fetchone() is not None


def _complete(connection: sqlite3.Connection, exchange: Exchange) -> NodeId | None:
    """Fill in a reply that was missing when the exchange was stored; the Context that has it now."""
    if exchange.reply is None:
        return None
    lacking = connection.execute("SELECT node FROM contexts WHERE key = ? AND reply IS NULL", (exchange.key,)).fetchone()
    if lacking is None:
        return None
    connection.execute("UPDATE contexts SET reply = ? WHERE node = ?", (rows.clean(exchange.reply), lacking["node"]))
    return NodeId(lacking["node"])


def _mark(connection: sqlite3.Connection, lesson: Lesson) -> None:
    """Clear the pending marks, close the chunk, note the offline pass; a Context learned twice counts once."""
    learned = sum(
        connection.execute("UPDATE contexts SET learned = 1 WHERE node = ? AND NOT learned", (identifier,)).rowcount
        for identifier in lesson.learned
    )
    if learned:
        connection.execute(
            """INSERT INTO meta VALUES ('turns_learned', :turns)
               ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + :turns""",
            {"turns": learned},
        )
    if lesson.closes is not None:
        connection.execute("UPDATE chunks SET closed = 1 WHERE id = ?", (lesson.closes,))
    if lesson.consolidates:
        connection.execute("UPDATE chunks SET consolidated = 1 WHERE closed AND NOT consolidated")
