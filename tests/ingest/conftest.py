"""A profile for trying many mutations of every format by hand: `pytest tests/ingest -k any_bytes --hypothesis-profile=mutations`."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from hypothesis import HealthCheck, settings

from pgmem_local.ingest.written_days import parse_written

settings.register_profile("any_speed", deadline=None, suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no failure
settings.load_profile("any_speed")
settings.register_profile("mutations", max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="session", autouse=True)
def _names_of_months_are_loaded() -> None:
    """The first date that is not English loads 36 languages, which no test with a deadline should pay for."""
    parse_written("1. Unbekannt 2024", timezone.utc, datetime.now(timezone.utc))
