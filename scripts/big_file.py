"""Peak memory of `pgmem ingest` on a file of a gigabyte: once with --dry-run, once with entries that are known. Without a model: what is
known needs none. The entries repeat, since what a memory knows it holds; what must stay flat is what reading adds to that.

    python scripts/big_file.py --megabytes 1000
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FIRST = datetime(2024, 1, 1, 8, tzinfo=timezone.utc)
KNOWN = 500
"""Different entries in the file."""
WORDS = "jasmine tea in the morning, a walk by the river, the clarinet until nine, and the last tram home again; "
PEAK_MEGABYTES = 300.0
_PEAK = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        small, big, home = Path(folder) / "small.jsonl", Path(folder) / "big.jsonl", Path(folder) / "home"
        write(small, 0)
        write(big, options.megabytes)
        measured = [
            measure("ingest", [str(small), "--home", str(home)]),
            measure("--dry-run", ["--dry-run", str(big), "--home", str(home)]),
            measure("known", [str(big), "--home", str(home)]),
        ]
    return 0 if max(measured) < PEAK_MEGABYTES else 1


def write(path: Path, megabytes: int) -> None:
    """The known entries once, and then again until the file is as large as wanted."""
    lines = [
        json.dumps({"timestamp": (FIRST + timedelta(hours=number)).isoformat(), "text": f"Entry {number}: {WORDS * 4}"}) + "\n"
        for number in range(KNOWN)
    ]
    block = "".join(lines)
    with path.open("w", encoding="utf-8") as file:
        file.write(block)
        for _ in range(megabytes * 1_000_000 // len(block)):
            file.write(block)


def measure(name: str, arguments: Sequence[str]) -> float:
    """Run an ingest with stand-ins for the models; its peak memory in megabytes."""
    began, peak = time.monotonic(), 0.0
    command = [sys.executable, "-m", "tests.scripted_cli", "ingest", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        while process.poll() is None:
            peak = max(peak, peak_of(process.pid))
            time.sleep(0.1)
        output = process.stdout.read() if process.stdout else ""
    print(f"{name:<10} {peak:6.0f} MB at most, {time.monotonic() - began:5.0f} s: {output.splitlines()[0] if output else '-'}", flush=True)
    return peak if process.returncode == 0 else float("inf")


def peak_of(process: int) -> float:
    """The largest resident size so far, as Linux counts it; 0 once the process is gone."""
    try:
        found = _PEAK.search(Path(f"/proc/{process}/status").read_text(encoding="utf-8"))
    except OSError:
        return 0.0
    return int(found[1]) / 1000 if found else 0.0


if __name__ == "__main__":
    sys.exit(main())
