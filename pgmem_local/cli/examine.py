"""`pgmem doctor` and `pgmem doctor --privacy`: findings on the terminal or as JSON, and the exit code that goes with them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from pgmem_local.cli import show
from pgmem_local.cli.opening import open_to_look, passphrase_prompt, say
from pgmem_local.cli.options import Where
from pgmem_local.cli.values import print_json
from pgmem_local.doctor.findings import Finding, Verdict
from pgmem_local.doctor.health import examine
from pgmem_local.doctor.privacy import examine_privacy
from pgmem_local.store.place import locate

_MARKS = {Verdict.GOOD: ("ok  ", "green"), Verdict.NOTE: ("note", "yellow"), Verdict.BAD: ("BAD ", "bold red")}


def examine_memory(where: Where, privacy: bool, as_json: bool) -> int:
    """Print what was found; 1 where something is beyond its bound."""
    place = locate(where.home, where.profile)
    if privacy:
        findings = examine_privacy(place, where.model, say, passphrase_prompt())
    else:
        with open_to_look(where) as memory:
            findings = examine(memory)
    healthy = all(finding.verdict is not Verdict.BAD for finding in findings)
    if as_json:
        print_json({"folder": str(place.folder), "healthy": healthy, "findings": [finding.value() for finding in findings]})
    else:
        _show(show.terminal(), str(place.folder), findings)
    return 0 if healthy else 1


def _show(console: Console, folder: str, findings: Sequence[Finding]) -> None:
    show.line(console, folder)
    for finding in findings:
        mark, style = _MARKS[finding.verdict]
        show.line(console, f"{mark}  {finding.name:<15} {finding.detail}", "" if finding.verdict is Verdict.GOOD else style)
        for example in finding.examples if finding.verdict is not Verdict.GOOD else ():
            show.line(console, f"{'':<21} {show.flat(example)}")
