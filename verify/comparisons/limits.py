"""Certificates that a run does not tend to zero: it returns to an earlier state, or its maps do not contract."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.kinds.base import VANISHES
from fedtheory.numbers.rational import Array, determinant
from fedtheory.sampling.chart import nullspace, rank
from fedtheory.settings.relations import Quantity
from verify.base.case import Case
from verify.base.evaluate import differing, rollout, tree_size
from verify.comparisons.dynamics import read
from verify.comparisons.exact import Coordinates, as_row
from verify.comparisons.starts import begun

#: The name of this comparison in counterexamples: after a cycle's rounds what must vanish is less than before them.
CYCLE = "cycle"
#: The longest cycle that is looked for, in rounds.
LONGEST = 12


def vanishing(claim: Claim) -> tuple[Quantity, ...]:
    """Return the quantities of states that a claim asserts to tend to 0 along every run."""
    if claim.statement.iteration is not None:
        return ()
    return tuple(q for end, q in claim.statement.ends if end == VANISHES)


def is_autonomous(case: Case) -> bool:
    """Return True if the state alone determines the next one: nothing is drawn, and parameters do not vary."""
    return not case.statement.algorithm.schedules and tree_size(case, 1) == 1


def size(quantity: Quantity, problem: Any, params: Any, state: Any) -> Array:
    """The largest entry, by absolute value, of a quantity at states ``(M, 1, ...)``: ``(M,)``."""
    values = np.asarray(quantity.of(problem, params, state))
    return np.asarray(abs(values.reshape(len(state[0]), -1)).max(axis=-1))


def sides_of_cycle(case: Case, point: Coordinates, rounds: int, entry: int) -> tuple[Any, Any]:
    """(a quantity after the rounds, before them) at a state of an exact instance to which they lead back.

    Raise ``ValueError`` if something is drawn, the state is not the same, or the quantity is zero.
    """
    if not is_autonomous(case):
        raise ValueError(f"a run of {case.claim.id} depends on more than its state there")
    sides = []
    for problem, state in (case.instance.at(as_row(point)), begun(case, as_row(point))):
        later, _ = rollout(case, problem, state, rounds)
        if differing(later, state):
            raise ValueError(f"{rounds} rounds of {case.claim.id} do not lead back to that state")
        quantity = vanishing(case.claim)[entry]
        sides.append([size(quantity, problem, case.params, at)[0] for at in (later, state)])
        if sides[-1][1] == 0:
            raise ValueError(f"{quantity.expression} is zero in that state")
    after, before = sides[0]
    return after, before


# The linear maps of a step's draws: their determinants, and whether the powers of a single one tend to zero.
#
# On quadratics with linear draws a step is z <- A_k z with probability p_k, in coordinates z of R^m about the
# optimum: that, and where runs begin, is read off the code (verify.comparisons.dynamics). The states that runs reach
# span R^m (where all runs tend to 0, those from the states that they reach do), and the potential is a positive
# definite form of z, so that it vanishes only with z (or those of some rounds together are, where nothing is drawn).
#
# Where nothing is drawn, by the Schur-Cohn test: a polynomial a_0 + a_1 s + ... + a_m s^m has all its roots inside
# the unit circle if and only if |a_0| < |a_m| and the polynomial of degree m - 1 with the coefficients a_m a_k - a_0
# a_{m-k}, k = 1, ..., m, has. Where some stage of the test fails, an eigenvalue of the map has a modulus of at least
# 1, and some run does not tend to zero.

#: The name of this comparison in counterexamples: the least |det A_k| is less than 1.
PRODUCTS = "determinants"
#: And this one, where nothing is drawn: at every stage |a_0| is less than |a_m|.
SCHUR_COHN = "Schur-Cohn"


def sides_of_maps(case: Case) -> tuple[Any, Any]:
    """(least |det A_k|, 1) at an exact instance. Raise ``ValueError`` if an assumption fails."""
    return min(abs(determinant(A)) for A in linear(case)), Fraction(1)


def linear(case: Case) -> Array:
    """The maps A_k of the draws that have a probability, ``(K, m, m)``. Raise ``ValueError`` if an assumption fails."""
    found = read(case)
    drawn = np.asarray(found.A[np.asarray(found.p > 0)])
    if found.S is not None and not _spans(drawn, found.S):
        raise ValueError(f"runs of {case.claim.id} do not reach states that span all of them")
    ((_, quantity),) = case.statement.ends
    Q = found.form(quantity, case.params)
    whole, Q_k = Q, Q
    # Where one map is all that is drawn, the potentials of as many rounds as there are coordinates tend to 0 together.
    for _ in range(len(Q) - 1 if len(drawn) == 1 else 0):
        Q_k = drawn[0].T @ Q_k @ drawn[0]
        whole = whole + Q_k
    if not all(determinant(whole[:k, :k]) > 0 for k in range(1, len(Q) + 1)):
        raise ValueError(f"the potential of {case.claim.id} is not a positive definite form of the coordinates")
    return drawn


def _spans(A: Array, S: Array) -> bool:
    """Return True if the initial states and those reached from them span the whole space."""
    size = -1
    while size < S.shape[1]:
        size = rank(S)
        every = np.concatenate([S, *(A_k @ S for A_k in A)], axis=1)
        _, free = nullspace(every)
        S = np.delete(every, free, axis=1)
    return bool(S.shape[1] == len(S))


# Powers of one map


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


def stages(case: Case) -> tuple[Any, Any]:
    """(|a_0|, |a_m|) of the map of a step at an exact instance, as :func:`stage` gives them.

    Raise ``ValueError`` if something is drawn, or a step is not the linear map that is assumed.
    """
    if not is_autonomous(case):
        raise ValueError(f"a run of {case.claim.id} depends on more than its state there")
    (A,) = linear(case)
    return stage(characteristic(A))
