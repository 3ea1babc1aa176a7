"""Identities between arrays whose lengths are letters: sums over indices, bands of matrices, powers."""

from __future__ import annotations

from functools import partial

from fedtheory.kinds.identity import Identity
from verify.evidence.record import Outcome
from verify.methods.any_data import applies, shown
from verify.methods.base import Inquiry, Method

_COVERS = "all entries of arrays of any length, sums of any number of terms, at all parameters"
_LEAF = "verify.entries.proving"


def run(method: Method, inquiry: Inquiry) -> Outcome:
    """Proved where the code that is read shows it at every place; otherwise nothing is known."""
    return shown(_LEAF, method, inquiry)


METHOD = Method("entry by entry", _COVERS, (Identity,), run, frozenset({"=="}), applies=partial(applies, _LEAF))
