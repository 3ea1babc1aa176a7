"""The evidence: how a claim is tested, and how the result is told."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verify.checking import check
    from verify.evidence import Counterexample, Evidence, Verdict

__all__ = ["Counterexample", "Evidence", "Verdict", "check"]

_HOMES = {"check": "checking", "Counterexample": "evidence", "Evidence": "evidence", "Verdict": "evidence"}


def __getattr__(name: str) -> Any:
    # The pytest plugin is loaded by every pytest of an environment, and has no use for solvers.
    if name not in _HOMES:
        raise AttributeError(f"module 'verify' has no attribute {name!r}")
    return getattr(import_module(f"verify.{_HOMES[name]}"), name)
