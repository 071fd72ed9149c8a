"""`pgmem models list | pull | verify | path`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TaskID, TextColumn, TimeRemainingColumn, TransferSpeedColumn
from rich.progress import Progress as ProgressBars
from rich.table import Table

from pgmem_local.errors import ModelFileError
from pgmem_local.runtime.model_files import find_embedder, find_model, folder_of, pull_folder, search_folders
from pgmem_local.runtime.weights.checksums import Verdict, Verified, verify
from pgmem_local.runtime.weights.progress import Progress
from pgmem_local.runtime.weights.registry import MODELS, ModelKind, ModelSpec, model_named

models_app = typer.Typer(name="models", help="Model weights: which there are, getting them, checking them.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


@models_app.command("list")
def list_models(as_json: AsJson = False) -> None:
    """Show every known model and where it is installed.

    Example: pgmem models list
    """
    rows = [(spec, folder_of(spec)) for spec in MODELS]
    if as_json:
        _print_json([_described(spec, folder) for spec, folder in rows])
        return
    table = Table("name", "size", "licence", "use", "installed", box=None)
    for spec, folder in rows:
        use = spec.standing.value if spec.kind is ModelKind.CHAT else spec.kind.value
        table.add_row(spec.name, f"{spec.size / 1e6:,.0f} MB", spec.licence, use, "yes" if folder else "no")
    Console().print(table, markup=False)
    typer.echo(f"Looked for in {', then '.join(map(str, search_folders()))}")


@models_app.command()
def pull(
    names: Annotated[list[str] | None, typer.Argument(help='Model names; "auto" is a chat model and the embedder.')] = None,
    folder: Annotated[Path | None, typer.Option("--dir", help="Folder to write to.")] = None,
    as_json: AsJson = False,
) -> None:
    """Download models and verify them. This is the only command that uses the network.

    Example: pgmem models pull auto
    """
    from pgmem_local.runtime.weights.download import pull_all

    target = pull_folder(folder)
    with _Bars() as bars:
        pulled = pull_all(names or ["auto"], target, bars)
    if as_json:
        _print_json([{"name": p.spec.name, "paths": [str(path) for path in p.paths], "fetched": p.fetched} for p in pulled])
        return
    for item in pulled:
        typer.echo(f"{item.spec.name}: {'pulled into' if item.fetched else 'already in'} {target}")


@models_app.command("verify")
def verify_models(
    names: Annotated[list[str] | None, typer.Argument(help="Model names; without any, all installed ones.")] = None,
    as_json: AsJson = False,
) -> None:
    """Hash installed weights and compare with the pinned or recorded hash.

    Example: pgmem models verify
    """
    results = [result for spec, folder in _chosen(names) for result in verify(spec, folder)]
    if as_json:
        _print_json([{"model": r.model, "path": str(r.path), "verdict": r.verdict.value} for r in results])
    else:
        for result in results:
            typer.echo(f"{result.verdict.value}: {result.path} ({result.model})")
    _require_good(results)


@models_app.command()
def path(
    name: Annotated[str, typer.Argument(help='Model name, file name or "auto".')] = "auto",
    as_json: AsJson = False,
) -> None:
    """Print where a model lies, after checking that its file is whole.

    Example: pgmem models path smollm2-135m
    """
    paths = _paths(name)
    if as_json:
        _print_json({"name": name, "paths": [str(found) for found in paths]})
        return
    for found in paths:
        typer.echo(found)


@models_app.command()
def calibrate(
    name: Annotated[str, typer.Argument(help='Model name, file name or "auto".')] = "auto",
    out: Annotated[Path | None, typer.Option("--out", help="Folder to write to; the installed package by default.")] = None,
) -> None:
    """Fit the small heads that turn what a model reads into probabilities. Takes about as long as reading 36,000 tokens.

    Example: pgmem models calibrate qwen2.5-coder-1.5b
    """
    from pgmem_local.construction.annotate import Annotator
    from pgmem_local.construction.calibrate import calibrate as fit_heads
    from pgmem_local.construction.logistic import heads_folder
    from pgmem_local.runtime.opening import open_chat_model, open_embedder

    folder = out or heads_folder()
    model, embedder = open_chat_model(name), open_embedder()
    with closing(model), closing(embedder), ProgressBars(console=Console(stderr=True)) as bars:
        reading = bars.add_task(f"reading with {model.identity}")
        heads = fit_heads(model, Annotator(embedder), lambda done, total: bars.update(reading, completed=done, total=total))
    for head in heads:
        target = folder / f"{head.name}.json"
        target.write_text(head.to_json() + "\n", encoding="utf-8")
        typer.echo(target)


def _paths(name: str) -> list[Path]:
    spec = next((spec for spec in MODELS if name.lower() in (spec.name, *spec.aliases)), None)
    if spec and spec.kind is ModelKind.EMBEDDER:
        files = find_embedder()
        return [files.network, files.tokenizer]
    return [find_model(name).path]


def _chosen(names: Iterable[str] | None) -> list[tuple[ModelSpec, Path]]:
    specs = [model_named(name) for name in names] if names else [spec for spec in MODELS if folder_of(spec)]
    chosen = [(spec, folder_of(spec) or pull_folder()) for spec in specs]
    if not chosen:
        raise ModelFileError(f"no model is installed in {' or '.join(map(str, search_folders()))}; run `pgmem models pull auto`")
    return chosen


def _require_good(results: Iterable[Verified]) -> None:
    wrong = [result for result in results if result.verdict in (Verdict.WRONG, Verdict.MISSING)]
    if wrong:
        names = " ".join(dict.fromkeys(result.model for result in wrong))
        raise ModelFileError(f"{len(wrong)} file(s) are not what was published; delete them and run `pgmem models pull {names}`")


def _described(spec: ModelSpec, folder: Path | None) -> dict[str, Any]:
    return {
        "name": spec.name,
        "kind": spec.kind.value,
        "standing": spec.standing.value,
        "licence": spec.licence,
        "context": spec.context,
        "size": spec.size,
        "files": [{"path": file.path, "size": file.size, "sha256": file.sha256} for file in spec.files],
        "folder": str(folder) if folder else None,
    }


def _print_json(value: object) -> None:
    typer.echo(json.dumps(value, indent=2))


class _Bars:
    """A progress bar a file, on standard error."""

    def __init__(self) -> None:
        name = TextColumn("{task.description}", markup=False)
        columns = (name, BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
        self._bars = ProgressBars(*columns, console=Console(stderr=True))
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> _Bars:
        self._bars.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bars.stop()

    def say(self, line: str) -> None:
        self._bars.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def progress(self, progress: Progress) -> None:
        if progress.file not in self._tasks:
            self._tasks[progress.file] = self._bars.add_task(progress.file, total=progress.total)
        self._bars.update(self._tasks[progress.file], completed=progress.done, total=progress.total)
