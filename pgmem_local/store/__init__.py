"""The memory on disk: SQLite holds the truth, the vector indexes are derived from it."""

from pgmem_local.store.place import DEFAULT_PROFILE, Place, locate
from pgmem_local.store.sqlite import Added, Arrival, MemoryStore
from pgmem_local.store.vectors import VectorIndexes

__all__ = ["DEFAULT_PROFILE", "Added", "Arrival", "MemoryStore", "Place", "VectorIndexes", "locate"]
