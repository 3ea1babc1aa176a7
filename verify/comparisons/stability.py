"""Whether the powers of the linear map of a step tend to zero: the Schur-Cohn test, in fractions.

A polynomial a_0 + a_1 s + ... + a_m s^m has all its roots inside the unit circle if and only if |a_0| < |a_m| and the
polynomial of degree m - 1 with the coefficients a_m a_k - a_0 a_{m-k}, k = 1, ..., m, has. Where some stage of the test
fails, an eigenvalue of the map has a modulus of at least 1, and some run does not tend to zero.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.numbers.rational import Array
from verify.comparisons import cycles, determinants

#: What counterexamples call this comparison: at every stage |a_0| is less than |a_m|.
PART = "Schur-Cohn"


def characteristic(A: Array) -> list[Any]:
    """The coefficients of det(s I - A), of s^0 first, by the method of Faddeev and LeVerrier: exact on fractions."""
    m = len(A)
    M, found = 0 * A, [Fraction(1)]
    for k in range(1, m + 1):
        M = A @ M + found[-1] * np.eye(m, dtype=int)
        found.append(-np.trace(A @ M) / k)
    return found[::-1]


def stage(coefficients: list[Any]) -> tuple[Any, Any]:
    """(|a_0|, |a_m|) at the first stage of the test that fails, else at the last; each scaled to |a_m| = 1."""
    a = coefficients
    while True:
        a = [v / a[-1] for v in a]
        if len(a) == 2 or abs(a[0]) >= 1:
            return abs(a[0]), abs(a[-1])
        a = [v - a[0] * w for v, w in zip(a, reversed(a), strict=True)][1:]


def sides(claim: Claim, instance: Instance) -> tuple[Any, Any]:
    """(|a_0|, |a_m|) of the map of a step at an exact instance, as :func:`stage` gives them.

    ``ValueError`` where something is drawn, or a step is not the linear map that is assumed.
    """
    if not cycles.is_autonomous(claim, instance):
        raise ValueError(f"a run of {claim.id} depends on more than its state there")
    (A,) = determinants.linear(claim, instance)
    return stage(characteristic(A))
