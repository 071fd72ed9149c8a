"""A profile for trying many mutations of every format by hand: `pytest tests/ingest -k any_bytes --hypothesis-profile=mutations`."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("mutations", max_examples=10_000, deadline=None, suppress_health_check=list(HealthCheck))
