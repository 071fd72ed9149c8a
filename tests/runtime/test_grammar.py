"""JSON that cannot run away, and schemas that never reach llama.cpp when they would end the process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pgmem_local.errors import ModelError
from pgmem_local.runtime.engine import Logits
from pgmem_local.runtime.grammar import JsonGrammar, check_schema
from pgmem_local.runtime.llama import LlamaChat

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer"}},
    "required": ["name", "age"],
}
LIST = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string", "maxLength": 3}}}, "required": ["a"]}


def about(a: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": a}, "required": ["a"]}


def written(model: LlamaChat, schema: dict[str, Any], wanted: str, limit: int = 200) -> str:
    """What a model writes that wants these characters, the later the more, wherever the grammar lets it."""
    engine = model._engine
    logits = np.zeros(engine.vocabulary_size, dtype=np.float32)
    for rank, letter in enumerate(wanted):
        logits[engine.tokenize(letter, special=False)[0]] = 50 + rank
    grammar = JsonGrammar(engine, json.dumps(schema))
    tokens: list[int] = []
    with grammar.fresh() as pick:
        while len(tokens) < limit and not (tokens and grammar.complete(tuple(tokens))):
            tokens.append(pick(logits))
    grammar.close()
    return model._text(tuple(tokens))


@pytest.mark.parametrize("wanted", [" ", "\n", "\t \n", "}\n ", '}"\n '])
def test_blank_space_cannot_flood_the_output(qwen: LlamaChat, wanted: str) -> None:
    text = written(qwen, about({"type": "integer"}), f"1{wanted}")
    assert "\n" not in text
    assert "  " not in text


def test_strings_hold_no_bare_control_characters(qwen: LlamaChat) -> None:
    text = written(qwen, PERSON, 'x1",:{}\n\t\x01')
    assert json.loads(text)["name"].isprintable()


def allowed(model: LlamaChat, schema: dict[str, Any], text: str) -> str:
    """The text as far as the grammar allows it."""
    engine = model._engine
    grammar = JsonGrammar(engine, json.dumps(schema))
    with grammar.fresh() as pick:
        for i, letter in enumerate(text):
            logits = np.zeros(engine.vocabulary_size, dtype=np.float32)
            wanted = engine.tokenize(letter, special=False)[0]
            logits[wanted] = 1
            if pick(logits) != wanted:
                return text[:i]
    return text


def test_no_half_of_a_character_can_be_escaped(qwen: LlamaChat) -> None:
    assert allowed(qwen, PERSON, '{"name": "a\\"b\\n", "age": 3}') == '{"name": "a\\"b\\n", "age": 3}'
    assert allowed(qwen, PERSON, '{"name": "\\ud83d') == '{"name": "\\'


def test_an_object_that_closes_is_complete(qwen: LlamaChat) -> None:
    grammar = JsonGrammar(qwen._engine, json.dumps(about({"type": "object", "properties": {"b": {"type": "string"}}})))

    def complete(text: str) -> bool:
        return grammar.complete(qwen._engine.tokenize(text, special=False))

    assert complete('{"a": {"b": "x"}}')
    assert complete('{"a": {}} ') is False  # it was complete a token earlier
    assert not complete('{"a": {"b": "x"}')
    assert not complete('{"a": {"b": "}')


def test_each_text_begins_the_grammar_anew(qwen: LlamaChat) -> None:
    grammar = JsonGrammar(qwen._engine, json.dumps(PERSON))
    brace = qwen._engine.tokenize("{", special=False)[0]
    logits: Logits = np.zeros(qwen._engine.vocabulary_size, dtype=np.float32)
    for _ in range(2):
        with grammar.fresh() as pick:
            assert pick(logits) == brace


@pytest.mark.parametrize(
    "schema",
    [
        about({"type": "string", "maxLength": 501}),
        about({"type": "string", "maxLength": 1999}),
        about({"type": "array", "items": {"type": "string", "maxLength": 5000}}),
        about({"anyOf": [{"type": "null"}, {"type": "string", "pattern": r"^\d+$"}]}),
    ],
)
def test_schema_known_to_end_the_process_is_refused_before_llama_cpp_sees_it(schema: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match=r"llama\.cpp crashes"):
        check_schema(schema)


@pytest.mark.parametrize(
    "a",
    [
        {"type": "string", "maxLength": 500},
        {"type": "string", "pattern": "^[0-9]+$"},
        {"type": "string", "format": "date"},
        {"type": "array", "items": {"type": "string"}, "maxItems": 0},
        {"enum": ["x", None]},
    ],
)
def test_harmless_schema_compiles(qwen: LlamaChat, a: dict[str, Any]) -> None:
    JsonGrammar(qwen._engine, json.dumps(about(a))).close()


@pytest.mark.parametrize("a", [{"type": "string", "pattern": "abc"}, {"type": "nonsense"}, {"$ref": "https://example.org/x"}])
def test_schema_that_is_no_grammar_is_a_model_error(qwen: LlamaChat, a: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="cannot be made a grammar"):
        JsonGrammar(qwen._engine, json.dumps(about(a)))


def test_schema_llama_cpp_cannot_compile_is_a_model_error(qwen: LlamaChat) -> None:
    with pytest.raises(ModelError, match="cannot compile"):
        JsonGrammar(qwen._engine, json.dumps(about({"type": "array", "items": {"type": "string"}, "maxItems": 5000})))


COMPILE = """
import json, sys
from pathlib import Path
from pgmem_local.runtime.engine import Engine
from pgmem_local.runtime.grammar import JsonGrammar
engine = Engine(Path(sys.argv[1]), 256, 1, 0)
JsonGrammar(engine, sys.argv[2]).close()
engine.close()
"""


@pytest.mark.parametrize("schema", [PERSON, LIST])
def test_schema_compiles_in_a_process_of_its_own(qwen_file: Path, schema: dict[str, Any]) -> None:
    run = subprocess.run([sys.executable, "-c", COMPILE, str(qwen_file), json.dumps(schema)], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stderr) == (0, "")
