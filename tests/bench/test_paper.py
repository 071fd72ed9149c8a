"""PGMem as its paper has it: what the model writes becomes nodes and edges, and every candidate pair is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pgmem_local.bench.datasets.history import Case, Question
from pgmem_local.bench.json_judge import judge_in_json
from pgmem_local.bench.persona import Persona
from pgmem_local.bench.workbench import Workbench
from pgmem_local.construction.pair import Pair
from pgmem_local.errors import ModelOutputInvalid
from pgmem_local.graph.edges import Relation
from pgmem_local.graph.nodes import Kind, NodeId, RecallPriority, Scope, State
from tests.bench.conftest import entry, workbench
from tests.builders import Sketch
from tests.fakes import Answer, Asked, RuleChat, ScriptedChat

TEA = {"content": "The user drinks tea.", "keywords": ["tea"], "domain_labels": ["drink"], "scope": "BROAD", "recall_priority": "HIGH"}
BEER = {**TEA, "content": "The user drinks beer.", "keywords": ["beer", "pub"], "scope": "NARROW", "recall_priority": "LOW"}
SUMMARY = {"content": "The user went out.", "keywords": ["evening"], "domain_labels": ["drink"], "scope": "NARROW"}
TRAIT = {**SUMMARY, "content": "The user is sociable.", "keywords": ["sociable"]}
ENTRIES = [entry("a", "I drink beer at the pub", 1), entry("b", "it rains", 2), entry("c", "tea for me now", 3)]


class Author(RuleChat):
    """Writes what the test wants of a turn that holds a word, and one relation for every pair."""

    def __init__(self, states: Mapping[str, Mapping[str, Any]], relation: str = "SUPPORT", traits: Sequence[Any] = ()) -> None:
        rules = {
            "paper_state": self._states,
            "paper_episode": lambda asked: {"episode": SUMMARY},
            "paper_trait": lambda asked: {"traits": list(traits)},
            "paper_judge": self._judge,
        }
        super().__init__(rules)
        self.states, self.relation = dict(states), relation

    def _states(self, asked: Asked) -> Answer:
        said = asked.prompt.text.rpartition("Current user utterance:")[2]
        return {"states": [state for word, state in self.states.items() if word in said]}

    def _judge(self, asked: Asked) -> Answer:
        return {"judgements": [{"reason": "so", "relation": self.relation} for _ in range(asked.prompt.text.count(". older "))]}


def learned(model: Author, tmp_path: Path) -> Persona:
    bench: Workbench = workbench(model, tmp_path)
    system = bench.open_system("pgmem-paper", Case("case", tuple(ENTRIES), ()))
    assert isinstance(system, Persona)
    for one in ENTRIES:
        system.observe(one)
    system.settle()
    return system


def states(system: Persona) -> list[State]:
    return [node for node in system.held().graph.of_kind(Kind.STATE) if isinstance(node, State)]


def test_all_fields_of_a_state_are_those_the_model_wrote(tmp_path: Path) -> None:
    system = learned(Author({"tea": TEA, "beer": BEER}), tmp_path)
    beer, tea = states(system)
    assert (beer.text, beer.scope, beer.priority) == ("The user drinks beer.", Scope.NARROW, RecallPriority.LOW)
    assert (tea.keywords, tea.domains) == (frozenset({"tea"}), frozenset({"drink"}))
    assert (tea.scope, tea.priority) == (Scope.BROAD, RecallPriority.HIGH)
    system.close()


def test_turn_without_a_state_costs_a_call_all_the_same(tmp_path: Path) -> None:
    model = Author({})
    learned(model, tmp_path).close()
    assert model.tasks().count("paper_state") == 3


def test_every_chunk_is_summarised_however_short(tmp_path: Path) -> None:
    system = learned(Author({}), tmp_path)
    assert [node.text for node in system.held().graph.of_kind(Kind.EPISODE)] == ["The user went out."] * 3
    system.close()


def test_episode_is_judged_against_the_states_it_shares_its_words_with(tmp_path: Path) -> None:
    system = learned(Author({"beer": BEER}), tmp_path)
    graph = system.held().graph
    assert graph.judged(NodeId("e1"), NodeId("s1"))
    assert [edge.probability for edge in graph.evidence(NodeId("s1"))] == [1.0] * len(graph.evidence(NodeId("s1")))
    system.close()


def test_trait_rests_on_everything_it_was_inferred_from(tmp_path: Path) -> None:
    system = learned(Author({"beer": BEER}, traits=[TRAIT]), tmp_path)
    graph = system.held().graph
    assert set(graph.sources(NodeId("t1"))) == {"c1", "c2", "s1", "e1", "e2"}
    assert graph.judged(NodeId("t1"), NodeId("s1"))
    system.close()


def test_superseded_state_is_dropped_and_not_shown_as_history(tmp_path: Path) -> None:
    system = learned(Author({"tea": TEA, "beer": BEER}, relation="SHIFT_TO"), tmp_path)
    shown = system.context(Question("q", "What does the user drink, tea or beer at the pub?", "kind", ()), 500).notes.text
    assert "The user drinks tea." in shown
    assert "The user drinks beer." not in shown
    system.close()


def test_answer_cut_off_counts_as_nothing_found(tmp_path: Path) -> None:
    class Broken(Author):
        def _states(self, asked: Asked) -> Answer:
            return ModelOutputInvalid("cut off")

    system = learned(Broken({}), tmp_path)
    assert states(system) == []
    system.close()


def test_memory_of_the_paper_is_found_again_and_lies_apart_from_ours(tmp_path: Path) -> None:
    learned(Author({"tea": TEA}), tmp_path).close()
    silent = Author({})
    again = learned(silent, tmp_path)
    assert silent.asked == []
    assert len(states(again)) == 1
    again.close()
    case = Case("case", tuple(ENTRIES), ())
    ours = workbench(silent, tmp_path).open_system("pgmem", case)
    assert ours.spent.calls == 0
    ours.close()


def pair(one_day: int, other_day: int, kinds: tuple[Kind, Kind] = (Kind.STATE, Kind.STATE)) -> Pair:
    sketch = Sketch()
    make = {Kind.STATE: sketch.state, Kind.EPISODE: sketch.episode}
    one, other = make[kinds[0]]("tea", one_day), make[kinds[1]]("beer", other_day)
    return Pair(sketch.graph[one], sketch.graph[other], 0.5)


def test_shift_between_kinds_or_without_an_order_in_time_is_doubt() -> None:
    pairs = [pair(1, 2), pair(1, 1), pair(1, 2, (Kind.EPISODE, Kind.STATE))]
    said = judge_in_json(Author({}, relation="SHIFT_TO"), pairs)
    assert said == [Relation.SHIFT_TO, Relation.IRRELEVANT, Relation.IRRELEVANT]


def test_judgement_cut_off_is_no_label() -> None:
    model = ScriptedChat([ModelOutputInvalid("cut off"), {"judgements": [{"reason": "x", "relation": "CONTRADICT"}]}])
    assert judge_in_json(model, [pair(1, 2), pair(2, 3)], together=1) == [None, Relation.CONTRADICT]


def test_schema_asks_for_exactly_one_judgement_a_pair() -> None:
    model = Author({})
    judge_in_json(model, [pair(day, day + 1) for day in range(10)])
    sizes = [dict(asked.schema or {})["properties"]["judgements"]["maxItems"] for asked in model.asked]
    assert sizes == [8, 2]
