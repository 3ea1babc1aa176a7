"""The rivals of LoCoDL on vectors known only by their inner products."""

from __future__ import annotations

from fedtheory.algorithms import diana, scaffnew
from fedtheory.instances import Instance
from fedtheory.problems.base import Problem
from fedtheory.rational import Array
from verify.pep.functions import Formal, Primal, Record, repeated, rows, rows_of_sum_zero
from verify.pep.gram import row
from verify.pep.posing.base import batch, each, make_problem
from verify.pep.randomness import Compressors


def _local(given: Instance, L: Array, h: Array) -> Formal:
    """Methods with a model and a shift for every client: each f_i has its own L_i, the shifts are h* + ``h``."""
    problem, n = given.problem, given.problem.n
    x_star, h_star = row("x*"), rows_of_sum_zero("h*", n)
    record = Record("f", each(problem.mu, n), L, repeated(x_star, n), h_star)
    formal = make_problem(Primal(record), None, (problem.mu, problem.L), x_star, h_star)

    def at(theta: Array) -> tuple[Problem, scaffnew.State]:
        return formal, scaffnew.State(batch(x_star + rows("x", n)), batch(h_star + h))

    return Formal(Instance(formal, given.params, 0, at), (record,))


def _scaffnew(given: Instance) -> Formal:
    n = given.problem.n
    return _local(given, each(given.problem.L, n), rows_of_sum_zero("h", n))


def _gradskip(given: Instance) -> Formal:
    """The sum of the shifts is zero only just after a communication."""
    return _local(given, given.problem.f.L, rows("h", given.problem.n))


def _diana(given: Instance) -> Formal:
    problem, params = given.problem, given.params
    n, x_star, h_star = problem.n, row("x*"), rows_of_sum_zero("h*", problem.n)
    record = Record("f", each(problem.mu, n), each(problem.L, n), repeated(x_star, n), h_star)
    family = Compressors(n, params.compressors.omega, params.compressors.omega_av, params.compressors.joint)
    formal = make_problem(Primal(record), None, (problem.mu, problem.L), x_star, h_star)
    asked = params._replace(compressors=family)

    def at(theta: Array) -> tuple[Problem, diana.State]:
        return formal, diana.init(formal, asked, batch(x_star + rows("x", 1)[0]), batch(h_star + rows("h", n)))

    return Formal(Instance(formal, asked, 0, at), (record,), family)


SETTINGS = {"scaffnew": _scaffnew, "gradskip": _gradskip, "diana": _diana}
