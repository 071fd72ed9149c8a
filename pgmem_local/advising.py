"""An answer to a request for advice: drafted, then checked suggestion by suggestion, and written once more where one breaks what is known.

Not a step of the papers. A small model checks far better than it chooses, so each sentence of the draft is put to it beside what holds
of the user now: current States of high priority and Traits. A break that the second writing does not mend is named in the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgmem_local.answering import UNKNOWN, Answer, Notes, cite, cited_nodes, declines, rests_on, unlabelled
from pgmem_local.graph.nodes import Node, RecallPriority, State
from pgmem_local.graph.persona_graph import PersonaGraph
from pgmem_local.ports import ChatModel
from pgmem_local.prompts import load, one_line
from pgmem_local.retrieval.assemble import Evidence
from pgmem_local.retrieval.serialise import day, on_one_line
from pgmem_local.sentences import sentences
from pgmem_local.settings import AnswerSettings

BREAKS_LOG_ODDS = -1.0
"""Log-odds that a suggestion respects what is known, below which it is taken to break it."""
MOST_GUARDS = 8
MOST_SUGGESTIONS = 5
_STOPS = ("\nNotes:", "\nRequest:", "\n\n")


@dataclass(frozen=True)
class Break:
    """A suggestion, and the note it goes against."""

    suggestion: str
    against: Node


def guards(evidence: Evidence) -> tuple[Node, ...]:
    """What advice must respect: current States of high priority, then Traits that nothing challenges."""
    urgent = (one.node for one in evidence.states if isinstance(one.node, State) and one.node.priority is RecallPriority.HIGH)
    return tuple([*urgent, *(one.node for one in evidence.traits)][:MOST_GUARDS])


def advise(
    model: ChatModel, graph: PersonaGraph, question: str, notes: Notes, kept: Sequence[Node], settings: AnswerSettings
) -> Answer:
    """Advice from the notes that respects what is `kept` in mind, or says where it does not."""
    text = _write(model, question, notes, settings)
    if declines(text) or not rests_on(text, question, notes):
        return Answer(UNKNOWN, known=False)
    found = find_break(model, question, text, kept)
    if found is not None:
        text = _write(model, question, notes, settings, found)
        found = find_break(model, question, text, kept)
    cited = [*cited_nodes(text, question, notes, graph), *([found.against.id] if found else [])]
    citations = tuple(cite(graph, node, f"{question} {text}") for node in dict.fromkeys(cited))
    return Answer(f"{unlabelled(text)}{_named(found)}", True, citations)


def find_break(model: ChatModel, question: str, text: str, kept: Sequence[Node]) -> Break | None:
    """The suggestion that is least like what is known, where it breaks it, and the note it breaks."""
    suggestions = sentences(unlabelled(text))[:MOST_SUGGESTIONS]
    if not suggestions or not kept:
        return None
    together = "\n".join(f"[{place}] {_line(node)}" for place, node in enumerate(kept, 1))
    odds = _respects(model, question, [(together, suggestion) for suggestion in suggestions])
    worst = min(range(len(suggestions)), key=lambda place: odds[place])
    if odds[worst] >= BREAKS_LOG_ODDS:
        return None
    alone = _respects(model, question, [(f"[1] {_line(node)}", suggestions[worst]) for node in kept])
    return Break(suggestions[worst], kept[min(range(len(kept)), key=lambda place: alone[place])])


def _respects(model: ChatModel, question: str, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Log-odds that each suggestion respects its notes."""
    task, asked = load("option_check"), one_line(question)
    prompts = [task.ask({"notes": notes, "question": asked, "suggestion": one_line(suggestion)}) for notes, suggestion in pairs]
    scores = model.choose(prompts, (" Yes", " No"))
    return [float(yes - no) for yes, no in scores]


def _write(model: ChatModel, question: str, notes: Notes, settings: AnswerSettings, broken: Break | None = None) -> str:
    against = f"It goes against: {on_one_line(broken.against.text)}" if broken else ""
    remark = f"\nNot this: {on_one_line(broken.suggestion)} {against}" if broken else ""
    prompt = load("advice").ask({"notes": notes.text, "question": one_line(question), "remark": remark})
    return one_line(model.write([prompt], settings.answer_tokens, stop=_STOPS)[0].text) or UNKNOWN


def _line(node: Node) -> str:
    return f"{day(node)}: {on_one_line(node.text)}"


def _named(found: Break | None) -> str:
    return f" (This may go against what I know: {on_one_line(found.against.text)})" if found else ""
