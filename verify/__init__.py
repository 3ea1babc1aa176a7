"""The evidence: how a claim is tested, and how the result is reported.

What a program needs is loaded when it is first asked for: the methods take a second, a wrong argument must not.
"""

from __future__ import annotations

from importlib import import_module
from time import time_ns
from typing import TYPE_CHECKING, Any

from fedtheory import extras

if TYPE_CHECKING:
    from verify.base.verdict import Verdict
    from verify.checking import check
    from verify.evidence.counterexamples import Counterexample
    from verify.evidence.record import Evidence

__all__ = ["Counterexample", "Evidence", "Verdict", "check"]

#: When this package was loaded, in nanoseconds: before all that tests claims.
LOADED = time_ns()

# The pytest plugin too is loaded by every pytest of an environment, and has no use for solvers.
_HOMES = {
    "Counterexample": "verify.evidence.counterexamples",
    "Evidence": "verify.evidence.record",
    "Verdict": "verify.base.verdict",
    "check": "verify.checking",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_HOMES[name]), name)
    except ImportError as error:
        raise extras.explained(error) from error
