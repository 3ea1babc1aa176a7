"""Gradient descent and the variance-reduced methods of finite sums on vectors known only by their inner products."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from fedtheory.algorithms import gradient_descent, loopless_svrg, saga, svrg
from fedtheory.instances import Instance
from fedtheory.problems.base import Problem
from fedtheory.rational import Array
from verify.pep.functions import Formal, Primal, Record, repeated, rows, rows_of_sum_zero
from verify.pep.gram import ZERO, Form, Number, Vector, row
from verify.pep.posing.base import batch, curvatures, each, make_problem
from verify.pep.programs import Constraint


def _point(x_star: Vector, name: str) -> Array:
    """A free point ``(1, 1, 1)``."""
    return batch(x_star + rows(name, 1)[0])


# Gradient descent


def _descent(given: Instance, mu: Number, L: Number, loose: bool) -> Formal:
    """Every f_i, and g where there is one, is of the class (``mu``, ``L``)."""
    problem, n, x_star = given.problem, given.problem.n, row("x*")
    h_star = rows_of_sum_zero("h*", n) if problem.g is None else rows("h*", n)
    f, g = Record("f", each(mu, n), each(L, n), repeated(x_star, n), h_star), None
    if problem.g is not None:
        g = Record("g", each(mu, 1), each(L, 1), repeated(x_star, 1), -h_star.sum(axis=0, keepdims=True) / n)
    formal = make_problem(Primal(f), None if g is None else Primal(g), (problem.mu, problem.L), x_star, h_star)

    def at(theta: Array) -> tuple[Problem, gradient_descent.State]:
        return formal, gradient_descent.State(_point(x_star, "x"))

    return Formal(Instance(formal, given.params, 0, at), (f,) if g is None else (f, g), loose=loose)


def _gradient_descent(given: Instance) -> Formal:
    return _descent(given, *curvatures(given.problem), False)


def _smooth_descent(given: Instance) -> Formal:
    """Convex or not, whatever the mu of the instance: where that is a letter of the statement it is more than asked."""
    mu, L = curvatures(given.problem)
    return _descent(given, -max(L, -mu), max(L, -mu), True)


# SAGA


def _saga(given: Instance) -> Formal:
    problem, n, x_star = given.problem, given.problem.n, row("x*")
    h_star = rows_of_sum_zero("h*", n)
    mu, L = curvatures(problem)
    record = Record("f", each(mu, n), each(L, n), repeated(x_star, n), h_star)
    formal = make_problem(Primal(record), None, (problem.mu, problem.L), x_star, h_star)

    def at(theta: Array) -> tuple[Problem, saga.State]:
        return formal, saga.State(_point(x_star, "x"), batch(x_star + rows("phi", n)))

    return Formal(Instance(formal, given.params, 0, at), (record,))


# SVRG


@dataclass
class StronglyConvexAverage(Primal):
    """Functions of which the average is strongly convex with the constant ``average``."""

    average: Number = field(default=0)

    def constraints(self) -> Iterator[Constraint]:
        """f* >= f(x) - <grad f(x), x - x*> + mu/2 |x - x*|^2, and f(x) >= f* + mu/2 |x - x*|^2, at every point asked.

        Tangents at x* were subtracted from the f_i, and have the sum zero.
        """
        for k, (key, one) in enumerate(self.record.asked[0].items()):
            known = [asked[key] for asked in self.record.asked if key in asked]
            gradients = [at.gradient for at in known if at.gradient is not None]
            if not key or len(known) < self.n:
                continue
            gap = sum((at.value for at in known), Form({}, {}, 0)) / self.n
            square = self.average / 2 * one.point**2
            yield Constraint(f"average from x* [{k}]", square - gap)
            if len(gradients) == self.n:
                yield Constraint(f"average to x* [{k}]", gap + square - sum(gradients, ZERO) / self.n * one.point)


def _strongly_convex_average(given: Instance) -> tuple[Problem, Record, StronglyConvexAverage]:
    """Convex f_i whose average f is mu-strongly convex, of which only the pairs with x* are used."""
    problem, n, x_star = given.problem, given.problem.n, row("x*")
    h_star = rows_of_sum_zero("h*", n)
    least, L = curvatures(problem)
    record = Record("f", each(min(Fraction(0), least), n), each(L, n), repeated(x_star, n), h_star)
    functions = StronglyConvexAverage(record, average=min(problem.mu, problem.f.mu.mean()))
    return make_problem(functions, None, (problem.mu, problem.L), x_star, h_star), record, functions


def _svrg(given: Instance) -> Formal:
    formal, record, functions = _strongly_convex_average(given)

    def at(theta: Array) -> tuple[Problem, svrg.State]:
        return formal, svrg.State(_point(row("x*"), "w"), _point(row("x*"), "w~"))

    return Formal(Instance(formal, given.params, 0, at), (record,), others=(functions,), loose=True)


def _loopless_svrg(given: Instance) -> Formal:
    formal, record, functions = _strongly_convex_average(given)

    def at(theta: Array) -> tuple[Problem, loopless_svrg.State]:
        return formal, loopless_svrg.State(_point(row("x*"), "x"), _point(row("x*"), "w"))

    return Formal(Instance(formal, given.params, 0, at), (record,), others=(functions,), loose=True)


SETTINGS = {
    "gradient-descent": _gradient_descent,
    "gradient-descent-smooth": _smooth_descent,
    "saga": _saga,
    "svrg": _svrg,
    "loopless-svrg": _loopless_svrg,
}
