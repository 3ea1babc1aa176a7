"""What shows that a run does not tend to zero: it comes back to where it was, or its maps do not contract."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy
from sympy.polys.matrices import DomainMatrix

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.kinds.base import VANISHES
from fedtheory.numbers.rational import Array, determinant, exact
from fedtheory.randomness import map_leaves, support_of
from fedtheory.settings.relations import Quantity
from verify.base.evaluate import rollout, tree_size
from verify.comparisons.exact import Coordinates, as_row

#: What counterexamples call this comparison: after the rounds of a cycle what must vanish is less than before them.
CYCLE = "cycle"
#: The longest cycle that is looked for, in rounds.
LONGEST = 12


def vanishing(claim: Claim) -> tuple[Quantity, ...]:
    """The quantities of states that are said to tend to 0 along every run; none where a claim says nothing like it."""
    if claim.statement.iteration is not None:
        return ()
    return tuple(q for end, q in claim.statement.ends if end == VANISHES)


def is_autonomous(claim: Claim, instance: Instance) -> bool:
    """Whether a state alone determines where the next step leads: nothing is drawn, and parameters do not vary."""
    return not claim.statement.algorithm.schedules and tree_size(claim, instance, 1) == 1


def size(quantity: Quantity, problem: Any, params: Any, state: Any) -> Array:
    """The largest entry, by absolute value, of a quantity at states ``(M, 1, ...)``: ``(M,)``."""
    values = np.asarray(quantity.of(problem, params, state))
    return np.asarray(abs(values.reshape(len(state[0]), -1)).max(axis=-1))


def _check_starts(claim: Claim, instance: Instance, point: Coordinates | None = None) -> None:
    """``ValueError`` where runs that begin as ``init`` says do not begin at a state, or, of none, do not begin at
    states that span all of them.

    Parts of the state that a run does not choose are what ``init`` makes them; the problem may be any.
    """
    if instance.start is None:
        return
    starts = instance.start()
    if starts is None:
        raise ValueError(f"where runs of {claim.id} begin is not known to be linear")
    rows = [[sympy.QQ(*Fraction(v).as_integer_ratio()) for v in row] for row in np.asarray(starts).T.tolist()]
    aim = [sympy.QQ(*Fraction(v).as_integer_ratio()) for v in point] if point is not None else []
    span = DomainMatrix(rows, (len(rows), instance.dimension), sympy.QQ).rank()
    joined = DomainMatrix([*rows, aim], (len(rows) + 1, instance.dimension), sympy.QQ).rank() if aim else span
    if joined > span or (point is None and span < instance.dimension):
        raise ValueError(f"no run of {claim.id} begins there")


def sides_of_cycle(claim: Claim, instance: Instance, point: Coordinates, rounds: int, entry: int) -> tuple[Any, Any]:
    """(a quantity after the rounds, before them) at a state of an exact instance to which they lead back.

    ``ValueError`` where something is drawn, the state is not the same, or the quantity is zero.
    """
    if not is_autonomous(claim, instance):
        raise ValueError(f"a run of {claim.id} depends on more than its state there")
    problem, state = instance.at(as_row(point))
    later, _ = rollout(claim, instance, problem, state, rounds)
    if not all((np.asarray(one) == np.asarray(two)).all() for one, two in zip(later, state, strict=True)):
        raise ValueError(f"{rounds} rounds of {claim.id} do not lead back to that state")
    _check_starts(claim, instance, point)
    quantity = vanishing(claim)[entry]
    after, before = (size(quantity, problem, instance.params, at)[0] for at in (later, state))
    if before == 0:
        raise ValueError(f"{quantity.expression} is zero in that state")
    return after, before


# The linear maps of a step's draws: their determinants, and whether the powers of a single one tend to zero.
#
# On quadratics with linear draws a step is z <- A_k z with probability p_k, in coordinates z of R^m about the
# optimum. Assumed, and compared with the code in fractions, at the basis and at states of several sizes besides: that
# draws are finitely many, the same for all states and independent of the past; that a step is linear; that
# coordinates determine a state; that the potential is a positive definite form of them, so that it vanishes only
# with z (or those of some rounds together are, where nothing is drawn).
#
# Where nothing is drawn, by the Schur-Cohn test: a polynomial a_0 + a_1 s + ... + a_m s^m has all its roots inside
# the unit circle if and only if |a_0| < |a_m| and the polynomial of degree m - 1 with the coefficients a_m a_k - a_0
# a_{m-k}, k = 1, ..., m, has. Where some stage of the test fails, an eigenvalue of the map has a modulus of at least
# 1, and some run does not tend to zero.

#: What counterexamples call this comparison: the least |det A_k| is less than 1.
PRODUCTS = "determinants"
#: And this one, where nothing is drawn: at every stage |a_0| is less than |a_m|.
SCHUR_COHN = "Schur-Cohn"
#: Sizes of the states besides the basis at which the code is compared with linear maps.
_SCALES = (Fraction(1, 10**6), Fraction(1), Fraction(10**3), Fraction(10**8))


def sides_of_maps(claim: Claim, instance: Instance) -> tuple[Any, Any]:
    """(least |det A_k|, 1) at an exact instance; ``ValueError`` where something assumed is not so."""
    return min(abs(determinant(A)) for A in linear(claim, instance)), Fraction(1)


def linear(claim: Claim, instance: Instance) -> Array:
    """The maps A_k of the draws that have a probability, ``(K, m, m)``; ``ValueError`` where an assumption fails."""
    m = instance.dimension
    if not instance.quadratic or instance.coordinates is None or not m:
        raise ValueError(f"{claim.id} has no linear map there")
    _check_starts(claim, instance)
    basis = np.eye(m, dtype=int)
    generic = [Fraction((-1) ** i, i + 2) for i in range(m)]
    others = np.array([[scale * v for v in generic] for scale in _SCALES])
    rows = exact(np.concatenate([0 * basis[:1], basis, others]))
    problem, state = instance.at(rows)
    _same_draws(claim, instance, problem, state)
    later, p = rollout(claim, instance, problem, state, 1)
    images = np.asarray(instance.coordinates(later))
    A = np.moveaxis(images[1 : m + 1], 0, -1)
    expected = np.moveaxis(np.matmul(A, rows.T), -1, 0)
    again_problem, again = instance.at(images.reshape(-1, m))
    told = all((np.asarray(one).reshape(np.shape(two)) == two).all() for one, two in zip(later, again, strict=True))
    if not (images == expected).all() or not told or again_problem is not problem:
        raise ValueError(f"a step of {claim.id} is no linear map of the coordinates")
    drawn = np.asarray(A[np.asarray(p > 0)])
    _definite(claim, instance, rows, drawn)
    return drawn


def _same_draws(claim: Claim, instance: Instance, problem: Any, state: Any) -> None:
    """``ValueError`` unless what is drawn is the same at all these states."""
    draws = claim.statement.algorithm.draws
    found = [
        support_of(draws(problem, instance.params, type(state)(*(field[i] for field in state))), True)
        for i in range(len(state[0]))
    ]
    same: list[bool] = []

    def compare(one: Array, two: Array) -> Array:
        same.append(np.shape(one) == np.shape(two) and bool((np.asarray(one) == np.asarray(two)).all()))
        return one

    for draw, p in found[1:]:
        map_leaves(compare, found[0][0], draw)
        compare(found[0][1], p)
    if not all(same):
        raise ValueError(f"the draws of {claim.id} depend on the state")


def _definite(claim: Claim, instance: Instance, rows: Array, A: Array) -> None:
    """``ValueError`` unless the potential is a form of the coordinates, at these rows, and vanishes with them only.

    Where one map is all that is drawn the form may be that of the potentials of as many rounds as there are
    coordinates: they tend to 0 together.
    """
    m = instance.dimension
    ((_, quantity),) = claim.statement.ends

    def potential(theta: Array) -> Array:
        problem, state = instance.at(theta)
        return np.asarray(quantity.of(problem, instance.params, state)).reshape(len(theta))

    basis = exact(np.eye(m, dtype=int))
    squares = potential(basis)
    # Of z'Qz: Q_ij = (q(e_i + e_j) - q(e_i) - q(e_j)) / 2.
    Q = np.stack([(potential(basis + basis[i]) - squares - squares[i]) / 2 for i in range(m)])
    seen = (np.matmul(rows, Q) * rows).sum(axis=-1)
    whole, Q_k = Q, Q
    for _ in range(m - 1 if len(A) == 1 else 0):
        Q_k = A[0].T @ Q_k @ A[0]
        whole = whole + Q_k
    if not (potential(rows) == seen).all() or not all(determinant(whole[:k, :k]) > 0 for k in range(1, m + 1)):
        raise ValueError(f"the potential of {claim.id} is no positive definite form of the coordinates")


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


def stages(claim: Claim, instance: Instance) -> tuple[Any, Any]:
    """(|a_0|, |a_m|) of the map of a step at an exact instance, as :func:`stage` gives them.

    ``ValueError`` where something is drawn, or a step is not the linear map that is assumed.
    """
    if not is_autonomous(claim, instance):
        raise ValueError(f"a run of {claim.id} depends on more than its state there")
    (A,) = linear(claim, instance)
    return stage(characteristic(A))
