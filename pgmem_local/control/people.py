"""The owner's word on who is who: two entities are one, one is two, somebody has another name. Each can be undone.

Nothing is corrected while another process learns: what it learned would be about somebody who is no longer there.
"""

from __future__ import annotations

from collections.abc import Sequence

from pgmem_local.control.opened import Opened
from pgmem_local.errors import UnknownEntity
from pgmem_local.graph.nodes import NodeId
from pgmem_local.graph.people import Entity, EntityId, People
from pgmem_local.store.people import Undone


def find(people: People, name: str) -> Entity:
    """The one entity of this name or id. Raises UnknownEntity that says who else may be meant."""
    if name.strip().lower() in people:
        return people[EntityId(name.strip().lower())]
    found = people.candidates(name)
    if len(found) == 1:
        return found[0]
    if not found:
        raise UnknownEntity(f"the memory knows nobody called {name!r}; `pgmem people` lists all")
    listed = ", ".join(f"{one.id} {one.name}" + (f" ({one.relation})" if one.relation else "") for one in found)
    raise UnknownEntity(f"more than one is called {name!r}: {listed}; say the id instead of the name")


def merge(memory: Opened, kept: str, other: str) -> Entity:
    with memory.store.learning():
        memory.refresh()
        one = find(memory.people, kept)
        memory.store.people.merge(one.id, find(memory.people, other).id)
        memory.refresh()
        return memory.people[one.id]


def split(memory: Opened, name: str, contexts: Sequence[NodeId], called: str | None) -> Entity:
    """A new entity of what rests on these Contexts alone."""
    with memory.store.learning():
        memory.refresh()
        one = find(memory.people, name)
        new = memory.store.people.split(one.id, contexts, one.kind, called)
        memory.refresh()
        return memory.people[new]


def rename(memory: Opened, name: str, called: str | None) -> Entity:
    with memory.store.learning():
        memory.refresh()
        one = find(memory.people, name)
        memory.store.people.rename(one.id, called)
        memory.refresh()
        return memory.people[one.id]


def undo(memory: Opened) -> Undone | None:
    with memory.store.learning():
        undone = memory.store.people.undo()
        memory.refresh()
        return undone
