"""Checks that take less time: content with the first counterexample, as it is found, or with few instances."""

from __future__ import annotations

from functools import cache
from unittest.mock import patch

from fedtheory import claims
from fedtheory.claims import Claim
from verify import Evidence, check, checking
from verify.methods import base
from verify.search import choosing


def first_found(claim: Claim, seed: int = 0, budget: str = "quick") -> Evidence:
    """What ``check`` finds, but that a refutation shows the first counterexample, which is not made smaller.

    Three more counterexamples, and the smallest of all, take four fifths of the time of a refutation. Where they are
    what is tested, and once for planted errors, it is ``check`` that is called.
    """
    with (
        patch.object(base, "REFUTATIONS", 1),
        patch.object(choosing, "chosen", lambda examples, **_: next(iter(examples))),
    ):
        return check(claim, seed, budget)


@cache
def of_registered(id: str) -> Evidence:
    """What :func:`first_found` gives for a registered claim, once for all tests of a process."""
    return first_found(claims.get(id))


def at_few(claim: Claim, instances: int = 16) -> Evidence:
    """What ``check`` finds where the search proposes few instances: enough where any of them would show it.

    Of a claim whose hypotheses few instances meet none may be left: then nothing is shown.
    """
    with patch.dict(checking.BUDGETS, quick=instances):
        return check(claim)
