"""Every test has a cache of its own, and those that take long are marked as slow."""

from __future__ import annotations

import gc
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

_NUMBERS = count()
#: The ids of tests that take some seconds each; what they show is shown by quicker ones, if more coarsely.
LONG = Path(__file__).with_name("long.txt")

# No test fails by the clock: not for an example that takes long, nor for one that takes long to be made.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
# Expressions are many and small, and few of them are garbage in cycles: by default the collector runs all the time.
gc.set_threshold(100_000, 20, 20)


def pytest_collection_modifyitems(items):
    long = set(LONG.read_text(encoding="utf-8").splitlines())
    for item in items:
        if item.nodeid in long:
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish():
    # Modules, claims and tests stay: each full collection of garbage would look through all of them.
    gc.freeze()


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path_factory):
    """It is empty: no verdict is that of another test, or of another day."""
    monkeypatch.setenv("FEDTHEORY_CACHE", str(tmp_path_factory.getbasetemp() / f"cache-{next(_NUMBERS)}"))
