"""Algorithm 2: seed retrieval, evidence-guided expansion, validity-aware assembly."""

from __future__ import annotations

from dataclasses import dataclass, field

from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.ports import VectorSearch
from pgmem_local.retrieval.assemble import Evidence, assemble, looking_back
from pgmem_local.retrieval.expand import Pool, expand
from pgmem_local.retrieval.joined import Company
from pgmem_local.retrieval.query import Query
from pgmem_local.retrieval.seed import Seeds, find_seeds
from pgmem_local.settings import RetrievalSettings


@dataclass(frozen=True)
class Retrieval:
    """The evidence for a query, and how it was come by; company: what the memory holds on it of others and of exchanges as they were."""

    query: Query
    seeds: Seeds
    pool: Pool
    evidence: Evidence
    company: Company = field(default_factory=Company)

    def __bool__(self) -> bool:
        return bool(self.evidence) or bool(self.company)


def retrieve(graph: PersonaGraph, vectors: VectorSearch, query: Query, settings: RetrievalSettings) -> Retrieval:
    """What the memory holds on a query; an empty memory holds nothing, which is no error."""
    seeds = find_seeds(graph, vectors, query, settings.seed)
    pool = expand(graph, vectors, query, seeds, settings)
    assembling = looking_back(settings.assemble) if query.past else settings.assemble
    return Retrieval(query, seeds, pool, assemble(graph, pool, assembling))
