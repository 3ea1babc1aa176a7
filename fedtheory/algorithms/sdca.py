"""SDCA: ascent of the dual, one variable at a time (Shalev-Shwartz and Zhang 2013; Federated Optimization, 2.2)."""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms.dialect import Array, Distribution, Draw, Example, NamedTuple, edits, method, zeros
from fedtheory.problems.linear_models import LinearProblem
from fedtheory.randomness import UniformSubset


class Params(NamedTuple):
    """There is nothing to tune."""


class State(NamedTuple):
    """``alpha (..., n)``: the dual variables, one an example."""

    alpha: Array


def init(problem: LinearProblem, params: object, alpha: Array | None = None) -> State:
    """alpha^0 = 0 unless given."""
    return State(zeros(problem.f.examples) if alpha is None else alpha)


def draws(problem: LinearProblem, params: Params, state: State) -> Distribution:
    """The one example whose variable moves, uniformly random, as a mask ``(n,)``."""
    return UniformSubset(problem.f.examples, 1)


def step(problem: LinearProblem, params: Params, state: State, draw: Draw) -> State:
    """The chosen variable maximises D; all the others are computed as well, so that draws may be replicas."""
    f = problem.f
    lengths = f.squared_norms / (f.lam * f.examples)
    rise = f.loss.ascent(state.alpha, f.predictions(f.primal(state.alpha)), lengths, f.y)
    return State(state.alpha + np.where(draw, rise, 0 * rise))


def fixed_point(problem: LinearProblem, params: object) -> State:
    """The state at the optimum, which no step leaves."""
    return State(problem.f.dual_of(problem.x_star))


algorithm = method("sdca", step, Params, State, init, draws, fixed_point)

#: The line that renews each letter of the state, in words.
LINES = {
    "alpha": "alpha_i <- the maximiser of D in this coordinate, for one example i drawn of all n: squared loss "
    "alpha_i + (y_i - x_i'w - alpha_i)/(1 + |x_i|^2/(lambda n)), w = X alpha/(lambda n)",
}


#: A small problem's parameters.
EXAMPLE = Example("rows", lambda given: Params())

#: Known mistakes of implementations.
SLIPS = edits("""
alpha: w lacks its division by n
    f.primal(state.alpha) => f.primal(state.alpha) * f.examples
alpha: the curvature |x_i|^2/(lambda n) lacks its n
    f.squared_norms / (f.lam * f.examples) => f.squared_norms / f.lam
alpha: the curvature |x_i|^2/(lambda n) is left out
    f.squared_norms / (f.lam * f.examples) => 0 * f.squared_norms
alpha: n is the number of clients instead of that of examples
    (f.lam * f.examples) => (f.lam * f.n)
    f.primal(state.alpha) => f.combined(state.alpha) / (f.lam * f.n)
""")
