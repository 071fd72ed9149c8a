"""Telemetry and lazy downloads of the libraries we load, switched off before they are imported.

onnxruntime from 1.29 on reports from its import on, also under Linux: it writes a device id and a queue of events into the user's
cache folder and sends them to events.data.microsoft.com. `disable_telemetry_events()` comes too late for that; only the environment
is early enough. It says nothing where CI is set, so a test that means to hear it must take CI away.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping

SWITCHES = {
    "ORT_DISABLE_TELEMETRY": "1",  # onnxruntime
    "HF_HUB_DISABLE_TELEMETRY": "1",  # huggingface_hub, which tokenizers brings along
    "HF_HUB_OFFLINE": "1",
    "DO_NOT_TRACK": "1",  # whoever honours it
}


def silence(environment: MutableMapping[str, str] | None = None) -> None:
    """Set every switch, over whatever was set before: nothing leaves this machine, whoever started us."""
    (os.environ if environment is None else environment).update(SWITCHES)
