"""Construction is tested with models that follow rules."""

from __future__ import annotations

import pytest

from tests.reader import believe_the_model


@pytest.fixture(autouse=True)
def believed(monkeypatch: pytest.MonkeyPatch) -> None:
    believe_the_model(monkeypatch)
