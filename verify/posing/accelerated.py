"""Accelerated methods of FedDCD on vectors known only by their inner products."""

from __future__ import annotations

from fedtheory.algorithms import accelerated_rbcd
from fedtheory.problems.base import Problem
from fedtheory.rational import Array
from verify.formal import Formal, Primal, Record, repeated, rows_of_sum_zero
from verify.gram import ZERO, row
from verify.posing.base import batch, each, make_problem
from verify.settings import Instance


def _accelerated_rbcd(given: Instance) -> Formal:
    problem, params = given.problem, given.params
    n, multiplier = problem.n, row("multiplier")
    origin, slope = rows_of_sum_zero("x*", n), repeated(multiplier, n)
    record = Record("h", each(problem.mu, n), params.L, origin, slope)
    formal = make_problem(Primal(record, multiplier), None, (problem.mu, max(params.L)), ZERO, slope)

    def at(theta: Array) -> tuple[Problem, accelerated_rbcd.State]:
        x, z = (batch(origin + rows_of_sum_zero(name, n)) for name in "xz")
        return formal, accelerated_rbcd.State(x, z, x, x)

    return Formal(Instance(formal, params, 0, at), (record,))


SETTINGS = {"accelerated-rbcd": _accelerated_rbcd}
