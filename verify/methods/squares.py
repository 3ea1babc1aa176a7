"""Inequalities of states whose larger side has a sum of squares more, as the code is read."""

from __future__ import annotations

from functools import partial

from fedtheory.kinds.inequality import Inequality
from verify.evidence.record import Outcome
from verify.methods.any_data import applies, shown
from verify.methods.base import Inquiry, Method

_COVERS = "all states, in all dimensions, at all parameters and numbers of clients"
_LEAF = "verify.as_read.ordered"


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved where squares make up what the larger side has more; otherwise nothing is known."""
    return shown(_LEAF, method, inquiry)


METHOD = Method(
    "squares of what is read", _COVERS, (Inequality,), run, frozenset({"==", "<="}), applies=partial(applies, _LEAF)
)
