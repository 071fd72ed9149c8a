"""Each prompt as a ChatML model sees it, with its slots named instead of filled. `python -m tests.prompts.snapshots` writes them anew."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

from pgmem_local.prompts import Task, load
from pgmem_local.runtime.templates import ChatTemplate

FOLDER = Path(__file__).parent / "snapshots"
TEMPLATE = Path(__file__).parents[1] / "runtime" / "templates" / "chatml.jinja"


def task_names() -> list[str]:
    files = resources.files("pgmem_local.prompts").iterdir()
    return sorted(file.name.removesuffix(".md") for file in files if file.name.endswith(".md"))


def slots(task: Task) -> dict[str, str]:
    return {name: f"‹{name}›" for name in re.findall(r"\{(\w+)\}", task.tail)}


def snapshot(name: str) -> str:
    """What all prompts of a task have in common, then the words each opening adds."""
    task = load(name)
    template = ChatTemplate(TEMPLATE.read_text("utf-8"))
    pieces = {opening: template.pieces(task.ask(slots(task), opening)) for opening in task.openings}
    (common,) = {"".join(piece.text for piece in each[:-1]) for each in pieces.values()}
    return common + "".join(f"\n=== opening {opening}\n{each[-1].text}\n" for opening, each in pieces.items())


def write_all() -> None:
    for old in FOLDER.glob("*.txt"):
        old.unlink()
    for name in task_names():
        (FOLDER / f"{name}.txt").write_text(snapshot(name), "utf-8", newline="\n")


if __name__ == "__main__":
    write_all()
