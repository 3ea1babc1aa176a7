"""SAG: a step along the average of the most recent gradients (Le Roux, Schmidt, Bach 2012; Schmidt et al. 2017).

Minimises (1/n) sum_i f_i. One gradient of the table is renewed, then the iterate moves along the average of the table;
unlike SAGA's, this direction is biased.
"""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms.dialect import Array, Draw, Example, NamedTuple, Problem, Scalar, everywhere, method, zeros
from fedtheory.algorithms.sgd import draws
from fedtheory.algorithms.slips import edits
from fedtheory.algorithms.starts import OtherStart, gradients


class Params(NamedTuple):
    """``alpha``: stepsize."""

    alpha: Scalar


class State(NamedTuple):
    """``x (..., d)``: the iterate; ``y (..., n, d)``: the table of gradients."""

    x: Array
    y: Array


def init(problem: Problem, params: Params, x: Array | None = None, y: Array | None = None) -> State:
    """x^0 = 0 and y_i^0 = 0 unless given; :func:`centred` is the other start of the theory."""
    x = zeros(problem.d) if x is None else x
    return State(x, zeros(*x.shape[:-1], problem.n, problem.d) if y is None else y)


def centred(problem: Problem, x: Array) -> Array:
    """y_i^0 = grad f_i(x^0) - grad f(x^0), ``(..., n, d)``."""
    y = problem.f.gradient(everywhere(problem, x))
    return y - y.sum(axis=-2, keepdims=True) / problem.n


def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """One step of SAG."""
    fresh = problem.f.gradient(everywhere(problem, state.x))
    y = np.where(draw[..., None], fresh, state.y)
    return State(state.x - params.alpha * y.sum(axis=-2) / problem.n, y)


def fixed_point(problem: Problem, params: Params) -> State:
    """The state at the optimum, which no step leaves."""
    return State(problem.x_star, problem.f.gradient(everywhere(problem, problem.x_star)))


def theory(problem: Problem) -> Params:
    """alpha = 1 / (16 L) (Schmidt, Le Roux, Bach 2017, Theorem 1)."""
    return Params(1 / (16 * problem.L))


algorithm = method("sag", step, Params, State, init, draws, fixed_point)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x <- x - alpha (1/n) sum_i y_i, with the new y_j",
    "y": "y_j <- grad f_j(x) for the one j drawn, at the old x",
}


#: A small problem's parameters.
EXAMPLE = Example("sum", lambda given: Params(0.5 / given.problem.L))

#: Other starts of its runs.
STARTS = (OtherStart("y_i^0 = grad f_i(x^0)", "y", gradients),)

#: Known mistakes of implementations.
SLIPS = edits("""
x: the step takes the old table (a stale average)
    y.sum(axis=-2) => (state.y + 0 * y).sum(axis=-2)
x: the difference is not divided by n: this is SAGA's direction
    y.sum(axis=-2) / problem.n => ((y - state.y).sum(axis=-2) + state.y.sum(axis=-2) / problem.n)
x: the sum of the table is taken instead of its mean
    y.sum(axis=-2) / problem.n => y.sum(axis=-2)
""")
