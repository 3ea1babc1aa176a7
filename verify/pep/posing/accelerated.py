"""Accelerated methods of FedDCD on vectors known only by their inner products."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import starmap
from typing import Any

import sympy

from fedtheory.algorithms import accelerated_rbcd, accfeddcd
from fedtheory.instances import Instance
from fedtheory.papers.feddcd import accelerated, appendix_b, dual
from fedtheory.problems.base import Problem
from fedtheory.rational import Array
from fedtheory.statements import Quantity
from verify.pep.functions import Dual, Formal, Majorised, Primal, Record, repeated, rows, rows_of_sum_zero
from verify.pep.gram import ZERO, row
from verify.pep.posing.base import batch, each, make_problem


def _accfeddcd(given: Instance) -> Formal:
    problem, params = given.problem, given.params
    n, alpha, beta = problem.n, problem.mu, problem.L
    w_star, y_star = row("w*"), rows_of_sum_zero("y*", n)
    record = Record("f*", each(1 / beta, n), each(1 / alpha, n), y_star, repeated(w_star, n))
    majorised = y_star.view(Majorised)
    formal = make_problem(Dual(record, each(alpha, n), each(beta, n)), None, (alpha, beta), w_star, majorised)

    def at(theta: Array) -> tuple[Problem, accfeddcd.State]:
        y, z = (batch(y_star + rows_of_sum_zero(name, n)) for name in "yz")
        return formal, accfeddcd.State(y, z, *(batch(rows(name, n)) for name in "vu"))

    def initial(theta: Array) -> tuple[Problem, accfeddcd.State]:
        return formal, accfeddcd.init(formal, params, batch(0 * y_star))

    return Formal(Instance(formal, params, 0, at, initial), (record,), others=(majorised,))


def _accelerated_rbcd(given: Instance) -> Formal:
    problem, params = given.problem, given.params
    n, multiplier = problem.n, row("multiplier")
    origin, slope = rows_of_sum_zero("x*", n), repeated(multiplier, n)
    record = Record("h", each(problem.mu, n), params.L, origin, slope)
    formal = make_problem(Primal(record, multiplier), None, (problem.mu, max(params.L)), ZERO, slope)

    def at(theta: Array) -> tuple[Problem, accelerated_rbcd.State]:
        x, z = (batch(origin + rows_of_sum_zero(name, n)) for name in "xz")
        return formal, accelerated_rbcd.State(x, z, *(batch(rows(name, n)) for name in "yu"))

    def initial(theta: Array) -> tuple[Problem, accelerated_rbcd.State]:
        return formal, accelerated_rbcd.init(formal, params, batch(origin + rows_of_sum_zero("x", n)))

    return Formal(Instance(formal, params, 0, at, initial), (record,))


def _weight(params: Any, n: int) -> Any:
    """(a^2 + b)/(2 r^2)."""
    r = Fraction(params.tau - 1, n - 1)
    return (params.a**2 + params.b) / (2 * r**2)


def _square(y: int, z: int) -> Callable[[Problem, accfeddcd.Params, accfeddcd.State], Array]:
    """|y (state.y - y*) + z (state.z - y*)|^2 in the norm of Lambda, for integers y and z."""

    def of(problem: Problem, params: accfeddcd.Params, state: accfeddcd.State) -> Array:
        # A weight of zero must not leave the other point in the program.
        parts = [k * (p - problem.y_star) for k, p in ((y, state.y), (z, state.z)) if k]
        found: Array = (params.Lambda[:, None] * sum(parts[1:], parts[0]) ** 2).sum(axis=(-1, -2))
        return found

    return of


_z_square = _square(0, 1)


def _dual_lyapunov(problem: Problem, params: accfeddcd.Params, state: accfeddcd.State) -> Array:
    gap = dual.dual_gap(problem, params, state)
    return gap + _weight(params, problem.n) * _z_square(problem, params, state)


def _lyapunov(problem: Problem, params: accelerated_rbcd.Params, state: accelerated_rbcd.State) -> Array:
    gap = appendix_b.h_gap(problem, params, state)  # type: ignore[arg-type]
    return gap + _weight(params, problem.n) * accelerated.z_distance(problem, params, state)


def _quantity(of: Callable[..., Array]) -> Quantity:
    return Quantity(sympy.Symbol("V"), of, True, accfeddcd.invariant)


SETTINGS = {"accfeddcd": _accfeddcd, "accelerated-rbcd": _accelerated_rbcd}
#: Residuals that vanish on the states posed.
CHARTS: dict[str, Callable[..., Array]] = {
    "accfeddcd": accfeddcd.invariant,
    "accelerated-rbcd": accelerated_rbcd.invariant,
}
#: The Lyapunov function of Appendix D, which contracts while the gap alone does not.
POTENTIALS = {
    "accfeddcd": _quantity(_dual_lyapunov),
    "accelerated-rbcd": Quantity(sympy.Symbol("V"), _lyapunov, True, accelerated_rbcd.invariant),
}
#: What other Lyapunov functions are composed of: the gap, and squares that span the quadratic forms in y and z.
BASES = {"accfeddcd": tuple(map(_quantity, (dual.dual_gap, *starmap(_square, ((1, 0), (0, 1), (1, -1), (1, 1))))))}
