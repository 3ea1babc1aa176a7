"""Multipliers that were found once: they are checked before any are searched for."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from verify.multipliers.proofs import Wrong

_Found = TypeVar("_Found")


@cache
def texts(name: str) -> Mapping[str, Mapping[str, Any]]:
    """What a file beside this one holds, by claims and their cases or parts: nothing of it is taken unchecked."""
    found: Mapping[str, Mapping[str, Any]] = json.loads(Path(__file__).with_name(name).read_text())
    return found


def else_searched(
    known: Callable[[], _Found] | None, search: Callable[[float], _Found | str], deadline: float
) -> _Found | str:
    """What ``known`` proves (None where nothing is stored), or, where that is ``Wrong``, what a search finds in the
    seconds of the processor that are left; else why there is nothing."""
    if known is not None:
        try:
            return known()
        except Wrong:
            pass
    left = deadline - time.process_time()
    return search(left) if left > 0 else "no multipliers were found in the time"
