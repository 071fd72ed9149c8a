"""Downloads model weights: `python scripts/download_models.py auto smollm2-135m minilm`.

The same as `pgmem models pull`, but runs from a bare checkout, before anything is installed.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pgmem_local.errors import PGMemError
from pgmem_local.runtime.model_files import pull_folder
from pgmem_local.runtime.weights.download import pull_all
from pgmem_local.runtime.weights.progress import Progress
from pgmem_local.runtime.weights.registry import MODELS


class Lines:
    """Progress as lines of text: one in place on a terminal, one every few seconds elsewhere."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._interval = 0.2 if self._live else 5.0
        self._shown = time.monotonic()

    def say(self, line: str) -> None:
        print(f"\r\033[K{line}" if self._live else line, file=sys.stderr, flush=True)

    def progress(self, progress: Progress) -> None:
        if time.monotonic() - self._shown < self._interval:
            return
        self._shown = time.monotonic()
        left = progress.seconds_left
        text = (
            f"  {progress.file}: {progress.done / 1e6:,.0f} of {progress.total / 1e6:,.0f} MB, "
            f"{progress.rate / 1e6:.1f} MB/s, {'?' if left is None else f'{left:.0f}'} s left"
        )
        print(f"\r\033[K{text}" if self._live else text, file=sys.stderr, end="" if self._live else "\n", flush=True)


def main() -> int:
    known = ", ".join(spec.name for spec in MODELS)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=["auto"], help=f"auto (a chat model and the embedder), {known}")
    parser.add_argument("--dir", type=Path, help="folder to write to; default: PGMEM_MODELS, or this checkout's models/")
    options = parser.parse_args()
    reporter = Lines()
    try:
        pulled = pull_all(options.names, pull_folder(options.dir), reporter)
    except PGMemError as error:
        reporter.say(f"error: {error}")
        return 1
    for item in pulled:
        reporter.say(f"{item.spec.name}: {'pulled' if item.fetched else 'already here'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
