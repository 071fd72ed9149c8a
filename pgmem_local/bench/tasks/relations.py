"""Task `relations`: judges of pairs of notes (PGMem, JUDGE), through `construction.judge` and nothing of their own.

Our judge is a fitted head over probes. The shipped heads were fitted on other pairs than the shipped benchmark's; on the pairs they were
fitted on, ours is scored by five-fold cross-validation. Probes of all pairs are read once and kept, so that another head costs nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from pgmem_local.bench.datasets.files import digest, spread
from pgmem_local.bench.datasets.relations import DatedNote, LabelledPair, read_relations, relation_files
from pgmem_local.bench.journal import Build, Journal, Outcome
from pgmem_local.bench.json_judge import judge_in_json
from pgmem_local.bench.scoring.intervals import Metrics
from pgmem_local.bench.scoring.relations import Judged, measure_relations
from pgmem_local.bench.workbench import Step, Workbench, code_digest
from pgmem_local.construction.annotate import Annotation, Annotator
from pgmem_local.construction.judge import RELATIONS, allowed, by_letters, features, is_hopeless, probe
from pgmem_local.construction.logistic import fit, heads_folder, shipped_head
from pgmem_local.construction.pair import Pair
from pgmem_local.errors import IngestError
from pgmem_local.graph.nodes import Episode, Kind, Node, State, Trait, node_id
from pgmem_local.ports import Spent

FOLDS = 5
TOGETHER = 10
"""Pairs asked about in one call: what is lost at most when a run is broken off."""

Chances = NDArray[np.float64]


class Relations:
    name: ClassVar[str] = "relations"
    systems: ClassVar[tuple[str, ...]] = ("constant", "surface", "letters", "json", "cross-validated", "pgmem")
    headline: ClassVar[tuple[str, ...]] = (
        "accuracy", "macro_f1", "recall.support", "recall.contradict", "recall.shift_to", "recall.irrelevant", "calibration_error",
    )  # fmt: skip
    decisive: ClassVar[tuple[str, ...]] = ("accuracy", "macro_f1", "calibration_error")
    lower: ClassVar[frozenset[str]] = frozenset({"calibration_error"})
    plain: ClassVar[tuple[str, ...]] = ("constant", "surface", "letters", "json")
    per: ClassVar[Literal["turn", "question"]] = "question"
    checks: ClassVar[tuple[str, ...]] = ()
    item: ClassVar[str] = "pair"

    def files(self, data: Path | None) -> list[Path]:
        return relation_files(data)

    def read(self, raw: dict[str, Any]) -> Judged:
        return Judged(**raw)

    def measure(self, results: Sequence[Judged]) -> Metrics:
        return measure_relations(results)

    def controls(self, bench: Workbench) -> Metrics:
        return {}

    def run(self, bench: Workbench, system: str, journal: Journal) -> Iterator[Build | Outcome]:
        if system not in _JUDGES:
            raise IngestError(f"no judge is called {system!r}; there are {', '.join(_JUDGES)}")
        labelled = spread(read_relations(bench.options.data), bench.options.limit)
        if len(journal.outcomes(system)) == len(labelled):
            return
        pairs = as_pairs(labelled, Annotator(bench.embedder))
        chances, costs = _JUDGES[system](bench, labelled, pairs)
        for one, pair, row, spent in zip(labelled, pairs, chances, costs, strict=True):
            yield Outcome(one.id, asdict(_judged(one, pair, row)), spent)


def _judged(one: LabelledPair, pair: Pair, chances: Chances) -> Judged:
    if np.isnan(chances).any():
        return Judged(one.id, one.label.value, None, 0.0, one.hard, is_hopeless(pair))
    possible = allowed(pair, chances)
    best = int(np.argmax(possible))
    return Judged(one.id, one.label.value, RELATIONS[best].value, float(possible[best]), one.hard, is_hopeless(pair))


def as_pairs(labelled: Sequence[LabelledPair], annotator: Annotator) -> list[Pair]:
    """Pairs as construction would meet them."""
    notes = annotator.annotate([note.text for one in labelled for note in (one.earlier, one.later)])
    pairs = []
    for place, one in enumerate(labelled):
        earlier, later = notes[2 * place : 2 * place + 2]
        nodes = _node(2 * place + 1, one.earlier, earlier), _node(2 * place + 2, one.later, later)
        pairs.append(Pair(*nodes, float(earlier.vector @ later.vector)))
    return pairs


def _node(number: int, note: DatedNote, annotation: Annotation) -> Node:
    common = node_id(note.kind, number), note.text, note.moment, annotation.keywords, annotation.domains
    match note.kind:
        case Kind.EPISODE:
            return Episode(*common)
        case Kind.TRAIT:
            return Trait(*common)
        case _:
            return State(*common, annotation.scope)


# ------------------------------------------------------------------ judges

Judge = Callable[[Workbench, Sequence[LabelledPair], Sequence[Pair]], tuple[Chances, list[Spent]]]


def _constant(bench: Workbench, labelled: Sequence[LabelledPair], pairs: Sequence[Pair]) -> tuple[Chances, list[Spent]]:
    """The floor: always support, with the probability it has in equal parts."""
    row = np.full(len(RELATIONS), 0.25)
    row[0] += 1e-6
    return np.tile(row, (len(pairs), 1)), [Spent()] * len(pairs)


def _surface(bench: Workbench, labelled: Sequence[LabelledPair], pairs: Sequence[Pair]) -> tuple[Chances, list[Spent]]:
    """What the head makes of cosine, kinds and cue words, without asking the model."""
    inputs = features(pairs, np.zeros((len(pairs), 0)))
    return cross_validated(inputs, labels_of(labelled), bench.options.seed), [Spent()] * len(pairs)


def _letters(bench: Workbench, labelled: Sequence[LabelledPair], pairs: Sequence[Pair]) -> tuple[Chances, list[Spent]]:
    """One of four described letters."""
    rows: list[Chances] = []
    costs: list[Spent] = []
    for start in range(0, len(pairs), TOGETHER):
        bench.model.ledger.take()
        group = pairs[start : start + TOGETHER]
        rows += [verdict.probabilities for verdict in by_letters(bench.model, group)]
        costs += [bench.model.ledger.total(), *[Spent()] * (len(group) - 1)]
        bench.report(Step("letters", len(rows), len(pairs)))
    return np.array(rows), costs


def _json(bench: Workbench, labelled: Sequence[LabelledPair], pairs: Sequence[Pair]) -> tuple[Chances, list[Spent]]:
    """The paper's: a relation and a reason written as JSON, a pair a call. No answer is no label, which `_judged` reads off a NaN."""
    rows: list[Chances] = []
    costs: list[Spent] = []
    for pair in pairs:
        bench.model.ledger.take()
        (said,) = judge_in_json(bench.model, [pair])
        rows.append(np.full(len(RELATIONS), np.nan) if said is None else np.eye(len(RELATIONS))[RELATIONS.index(said)])
        costs.append(bench.model.ledger.total())
        bench.report(Step("json", len(rows), len(pairs)))
    return np.array(rows), costs


def _probes(bench: Workbench, labelled: Sequence[LabelledPair], pairs: Sequence[Pair]) -> tuple[Chances, list[Spent]]:
    """Ours: probes through the head that ships, unless it was fitted on these very pairs."""
    if was_fitted_on(bench.options.data):
        return _refitted(bench, labelled, pairs)
    odds, costs = read_probes(bench, labelled, pairs)
    return shipped_head("judge", bench.model.identity).probabilities(features(pairs, odds)), costs


def _refitted(bench: Workbench, labelled: Sequence[LabelledPair], pairs: Sequence[Pair]) -> tuple[Chances, list[Spent]]:
    """The same probes through heads fitted on four fifths of these pairs: what a head of this data's own would reach."""
    odds, costs = read_probes(bench, labelled, pairs)
    return cross_validated(features(pairs, odds), labels_of(labelled), bench.options.seed), costs


_JUDGES: dict[str, Judge] = {
    "constant": _constant,
    "surface": _surface,
    "letters": _letters,
    "json": _json,
    "cross-validated": _refitted,
    "pgmem": _probes,
}


def was_fitted_on(data: Path | None) -> bool:
    """Whether these are the pairs that the shipped heads were fitted on."""
    return digest(relation_files(data)) == digest([heads_folder() / "pairs.jsonl"])


def labels_of(labelled: Sequence[LabelledPair]) -> NDArray[np.int64]:
    return np.array([RELATIONS.index(one.label) for one in labelled], dtype=np.int64)


def cross_validated(inputs: NDArray[np.float64], labels: NDArray[np.int64], seed: int, folds: int = FOLDS) -> Chances:
    """Each item's probabilities by a head fitted without its fold; labels are spread evenly over the folds."""
    fold = np.empty(len(labels), dtype=np.int64)
    shuffled = np.random.default_rng(seed).permutation(len(labels))
    by_label = shuffled[np.argsort(labels[shuffled], kind="stable")]
    fold[by_label] = np.arange(len(labels)) % folds
    chances = np.full((len(labels), len(RELATIONS)), 1 / len(RELATIONS))
    for held_out in range(folds):
        inside = fold == held_out
        if inside.any() and not inside.all():
            chances[inside] = fit("fold", inputs[~inside], labels[~inside], len(RELATIONS)).probabilities(inputs[inside])
    return chances


def read_probes(bench: Workbench, labelled: Sequence[LabelledPair], pairs: Sequence[Pair]) -> tuple[NDArray[np.float64], list[Spent]]:
    """What `probe` reads of each pair, shape (pairs, questions), once for a model, a prompt and a pair, with what that cost."""
    code = code_digest("construction/judge.py", "prompts")
    key = hashlib.sha256(repr((bench.model.identity, code)).encode()).hexdigest()[:12]
    kept = Journal(bench.cache / f"probes-{key}.jsonl", key)
    named = {_pair_key(one): pair for one, pair in zip(labelled, pairs, strict=True)}
    missing = sorted(named.keys() - kept.outcomes("probes").keys(), key=list(named).index)
    for start in range(0, len(missing), TOGETHER):
        group = missing[start : start + TOGETHER]
        bench.model.ledger.take()
        rows = probe(bench.model, [named[name] for name in group])
        costs = [bench.model.ledger.total(), *[Spent()] * (len(group) - 1)]
        for name, row, spent in zip(group, rows, costs, strict=True):
            kept.add("probes", Outcome(name, {"odds": [float(value) for value in row]}, spent))
        bench.report(Step("probes", start + len(group), len(missing)))
    known = kept.outcomes("probes")
    found = [known[_pair_key(one)] for one in labelled]
    return np.array([one.result["odds"] for one in found]), [one.spent for one in found]


def _pair_key(one: LabelledPair) -> str:
    words = f"{one.earlier.kind.value}\x1f{one.earlier.text}\x1f{one.later.kind.value}\x1f{one.later.text}"
    return hashlib.sha256(words.encode()).hexdigest()[:16]
