"""Imports point one way: whoever reads a layer never has to read one above it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import pgmem_local

PACKAGE = Path(pgmem_local.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))

LAYERS = {
    "conversation": 0, "dates": 0, "settings": 0, "errors": 0, "words": 0, "sentences": 0, "subject": 0, "denial": 0,
    "graph": 1,
    "ports": 2, "prompts": 2, "lesson": 2, "erasure": 2, "contents": 2,
    "construction": 3, "retrieval": 3, "answering": 3, "conversing": 3, "profiles": 3, "store": 3, "runtime": 3, "ingest": 3, "portable": 3,
    "control": 4, "advising": 4,
    "memory": 5,
    "bench": 6, "doctor": 6, "talking": 6, "cli": 7, "__main__": 8,
}  # fmt: skip
STAGES_AND_ADAPTERS = 3

HOMES = {
    "sqlite3": "store",
    "hnswlib": "store",
    "sqlcipher3": "store",
    "keyring": "store",
    "llama_cpp": "runtime",
    "onnxruntime": "runtime",
    "tokenizers": "runtime",
    "typer": "cli",
    "rich": "cli",
    "prompt_toolkit": "cli",
}
LAZY = {"llama_cpp", "onnxruntime", "sqlcipher3", "keyring"}


def unit(dotted: str) -> str:
    """The module or folder right under the package: pgmem_local.store.rows -> store."""
    return [*dotted.split("."), ""][1]


def unit_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Every module a file imports, and whether that happens as soon as the file is."""
    tree = ast.parse(path.read_text("utf-8"))
    later = {id(inner) for node in ast.walk(tree) if is_late(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        at_once = id(node) not in later
        if isinstance(node, ast.Import):
            yield from ((alias.name, at_once) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide their layer"
            assert node.module is not None
            names = [f"{node.module}.{alias.name}" for alias in node.names] if node.module == "pgmem_local" else [node.module]
            yield from ((name, at_once) for name in names)


def is_late(node: ast.AST) -> bool:
    """A function body, or what only a type checker runs."""
    type_checking = isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    return type_checking or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))


def breaches(path: Path) -> list[str]:
    """What a file imports although its layer may not."""
    here = unit_of(path)
    found = []
    for name, at_once in imports(path):
        root = name.split(".")[0]
        if root == "pgmem_local" and here != "__init__" and unit(name) in LAYERS and not may_import(here, unit(name)):
            found.append(f"{here} imports {name}")
        if root in HOMES and here != HOMES[root]:
            found.append(f"{here} imports {root}, which belongs in {HOMES[root]}")
        if root in LAZY and at_once:
            found.append(f"{path.name} imports {root} before a model is opened")
    return found


def may_import(here: str, there: str) -> bool:
    if here == there:
        return True
    same_layer_is_fine = LAYERS[here] < STAGES_AND_ADAPTERS
    return LAYERS[there] < LAYERS[here] or (same_layer_is_fine and LAYERS[there] == LAYERS[here])


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path: Path) -> None:
    assert breaches(path) == []


def test_every_module_has_a_layer() -> None:
    assert {unit_of(path) for path in MODULES} - {"__init__"} <= LAYERS.keys()


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("retrieval/seed.py", "from pgmem_local.store.rows import x"),
        ("retrieval/seed.py", "import pgmem_local.construction.pair"),
        ("graph/nodes.py", "from pgmem_local.ports import Vectors"),
        ("graph/nodes.py", "from pgmem_local import memory"),
        ("memory.py", "def f():\n    import sqlite3"),
        ("runtime/llama.py", "import llama_cpp"),
        ("cli/app.py", "from hnswlib import Index"),
    ],
)
def test_breach_is_seen(module: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / module
    path.parent.mkdir(exist_ok=True)
    path.write_text(source, "utf-8")
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    assert breaches(path)
