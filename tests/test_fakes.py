"""The stand-ins keep the promises of the ports, so that a test which passes on them means something."""

from __future__ import annotations

import numpy as np
import pytest

from pgmem_local.errors import ModelOutputInvalid, PromptTooLong, UnknownNode
from pgmem_local.graph.nodes import Kind, NodeId
from pgmem_local.ports import ChatModel, Completion, Embedder, Head, Prompt, VectorSearch
from tests.builders import at_cosine
from tests.fakes import ExactSearch, HashEmbedder, ScriptedChat

HEAD = Head("state", "Say what holds.")


def test_scripted_chat_replays_in_order_and_records_what_was_asked() -> None:
    chat = ScriptedChat(["one", Completion("tw", False, 2)])
    model: ChatModel = chat
    assert model.write([Prompt(HEAD, "a"), Prompt(HEAD, "b")], 5) == [Completion("one", True, 1), Completion("tw", False, 2)]
    assert [asked.prompt.text for asked in chat.asked] == ["a", "b"]
    assert chat.ledger.tasks["state"].calls == 2
    assert chat.left == 0


def test_scripted_chat_fails_when_asked_for_more() -> None:
    with pytest.raises(AssertionError, match="once more"):
        ScriptedChat().write([Prompt(HEAD, "a")], 5)


def test_scripted_chat_answers_a_task_from_its_own_queue() -> None:
    chat = ScriptedChat(["other"], by_task={"state": ["mine"]})
    assert chat.write([Prompt(Head("trait", ""), ""), Prompt(HEAD, "")], 5)[1].text == "mine"


def test_scripted_chat_ends_before_a_stop() -> None:
    assert ScriptedChat(["one\ntwo"]).write([Prompt(HEAD, "")], 5, stop=["\n"])[0].text == "one"


def test_scripted_chat_raises_a_queued_error() -> None:
    with pytest.raises(ModelOutputInvalid):
        ScriptedChat([ModelOutputInvalid("cut off")]).write_json(Prompt(HEAD, ""), {}, 5)


def test_scripted_chat_refuses_what_does_not_fit() -> None:
    with pytest.raises(PromptTooLong):
        ScriptedChat(["never"], context_tokens=10).write([Prompt(HEAD, "a b c")], 6)


def test_scripted_choice_is_the_likeliest_option() -> None:
    chosen = ScriptedChat([" No", [-1.0, -2.0]]).choose([Prompt(HEAD, "a"), Prompt(HEAD, "b")], [" Yes", " No"])
    assert chosen.argmax(axis=1).tolist() == [1, 0]


def test_hash_embedder_brings_texts_that_share_words_together() -> None:
    embedder: Embedder = HashEmbedder()
    tea, green, train = embedder.embed(["drinks tea", "green tea", "train to work"])
    assert tea @ green > 0.3 > abs(tea @ train)
    assert np.array_equal(embedder.embed(["drinks tea"])[0], tea)
    assert embedder.embed([]).shape == (0, embedder.dimension)


def test_exact_search_returns_the_nearest_of_a_kind_and_no_more_than_exist() -> None:
    search: VectorSearch = ExactSearch({NodeId("s1"): at_cosine(0.2), NodeId("s2"): at_cosine(0.9), NodeId("t1"): at_cosine(1.0)})
    assert [identifier for identifier, _ in search.nearest(Kind.STATE, at_cosine(1.0), 10)] == ["s2", "s1"]


def test_exact_search_names_a_node_without_a_vector() -> None:
    with pytest.raises(UnknownNode, match="s7"):
        ExactSearch().vectors([NodeId("s7")])
