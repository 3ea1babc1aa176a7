"""FedDCD and randomised block coordinate descent on vectors known only by their inner products."""

from __future__ import annotations

from collections.abc import Callable

from fedtheory.algorithms import feddcd, rbcd
from fedtheory.instances import Instance
from fedtheory.papers.feddcd import dual
from fedtheory.problems.base import Problem
from fedtheory.rational import Array
from verify.pep.functions import Dual, Formal, Primal, Record, repeated, rows, rows_of_sum_zero
from verify.pep.gram import ZERO, row
from verify.pep.posing.base import batch, each, make_problem


def _feddcd(given: Instance) -> Formal:
    problem, params = given.problem, given.params
    n, alpha, beta = problem.n, problem.mu, problem.L
    w_star, y_star = row("w*"), rows_of_sum_zero("y*", n)
    record = Record("f*", each(1 / beta, n), each(1 / alpha, n), y_star, repeated(w_star, n))
    functions = Dual(record, each(alpha, n), each(beta, n))
    formal = make_problem(functions, None, (alpha, beta), w_star, y_star)

    def at(theta: Array) -> tuple[Problem, feddcd.State]:
        # Clients that sat out hold an old model: any w.
        return formal, feddcd.State(batch(y_star + rows_of_sum_zero("y", n)), batch(rows("w", n)))

    def initial(theta: Array) -> tuple[Problem, feddcd.State]:
        return formal, feddcd.State(batch(0 * y_star), functions.conjugate_gradient(batch(0 * y_star)))

    return Formal(Instance(formal, params, 0, at, initial), (record,))


def _rbcd(feasible: bool) -> Callable[[Instance], Formal]:
    """``feasible``: x in C, and the optimum known; otherwise any x and nothing else."""

    def build(given: Instance) -> Formal:
        problem, params = given.problem, given.params
        n, multiplier = problem.n, row("multiplier")
        origin = rows_of_sum_zero("x*", n) if feasible else repeated(ZERO, n)
        slope = repeated(multiplier if feasible else ZERO, n)
        record = Record("h", problem.f.mu, params.L, origin, slope, anchored=feasible)
        functions = Primal(record, multiplier if feasible else None)
        formal = make_problem(functions, None, (min(problem.f.mu), max(params.L)), ZERO, slope)

        def at(theta: Array) -> tuple[Problem, rbcd.State]:
            x = rows_of_sum_zero("x", n) if feasible else rows("x", n)
            return formal, rbcd.State(batch(origin + x))

        return Formal(Instance(formal, params, 0, at), (record,))

    return build


SETTINGS = {"feddcd": _feddcd, "rbcd": _rbcd(True), "rbcd-anywhere": _rbcd(False)}
#: Residuals that vanish on the states posed.
CHARTS: dict[str, Callable[..., Array]] = {"feddcd": feddcd.invariant}
#: The potential that contracts, for every bound of the setting.
POTENTIALS = {"feddcd": dual.GAP_T}
