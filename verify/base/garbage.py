"""The rate of garbage collection: an audit makes millions of small fractions, hardly any of which are in cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: Objects made before the youngest are looked through, and how many looks at one generation before one at the next:
#: with Python's own numbers a check spends about a seventh of its time in looking.
_SELDOM = (20_000, 20, 20)


@contextmanager
def seldom() -> Iterator[None]:
    """Look for garbage seldom inside; what is in no cycle is freed at once all the same."""
    before = gc.get_threshold()
    # Who looks less often, or not at all, is not made to look.
    if 0 < before[0] < _SELDOM[0]:
        gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
