"""Every test has a cache of its own, which is empty: no verdict is that of another test, or of another day."""

from __future__ import annotations

from itertools import count

import pytest

_NUMBERS = count()


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path_factory):
    monkeypatch.setenv("FEDTHEORY_CACHE", str(tmp_path_factory.getbasetemp() / f"cache-{next(_NUMBERS)}"))
