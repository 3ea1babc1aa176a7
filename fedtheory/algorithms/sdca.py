"""SDCA: ascent of the dual, one variable at a time (Shalev-Shwartz and Zhang 2013; Federated Optimization, 2.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fedtheory.algorithms.dialect import Array, Distribution, Draw, NamedTuple, method, zeros
from fedtheory.algorithms.examples import Example, StepFunction, Table
from fedtheory.problems.linear_models import LinearProblem
from fedtheory.randomness import UniformSubset


class Params(NamedTuple):
    """There is nothing to tune."""


class State(NamedTuple):
    """``alpha (..., n)``: the dual variables, one an example."""

    alpha: Array


def init(problem: LinearProblem, params: Params, alpha: Array | None = None) -> State:
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


def fixed_point(problem: LinearProblem, params: Params) -> State:
    """The state at the optimum, which no step may leave."""
    return State(problem.f.dual_of(problem.x_star))


algorithm = method("sdca", step, Params, State, init, draws, fixed_point)

#: The line that renews each letter of the state, in words.
LINES = {
    "alpha": "alpha_i <- the maximiser of D in this coordinate, for one example i drawn of all n: squared loss "
    "alpha_i + (y_i - x_i'w - alpha_i)/(1 + |x_i|^2/(lambda n)), w = X alpha/(lambda n)",
}


#: A small problem's parameters.
EXAMPLE = Example("rows", lambda given: Params())


def _with(length: Callable[[Any, Array], Array], primal: Callable[[Any, Array], Array]) -> StepFunction:
    """SDCA with another denominator, 1 + ``length(f, |x_i|^2)``, or another w, ``primal(f, alpha)``; squared loss."""

    def step(problem: LinearProblem, params: object, state: State, draw: Draw) -> State:
        f = problem.f
        rise = f.loss.ascent(state.alpha, f.predictions(primal(f, state.alpha)), length(f, f.squared_norms), f.y)
        return State(state.alpha + np.where(draw, rise, 0 * rise))

    return step


def _length(f: Any, square: Array) -> Array:
    return square / (f.lam * f.examples)


def _primal(f: Any, alpha: Array) -> Array:
    return np.asarray(f.primal(alpha))


#: What implementations are known to do instead.
SLIPS: Table = (
    ("w lacks its division by n", "alpha", _with(_length, lambda f, alpha: f.primal(alpha) * f.examples)),
    ("the curvature |x_i|^2/(lambda n) lacks its n", "alpha", _with(lambda f, square: square / f.lam, _primal)),
    ("the curvature |x_i|^2/(lambda n) is left out", "alpha", _with(lambda f, square: 0 * square, _primal)),
    (
        "n is the number of clients instead of that of examples",
        "alpha",
        _with(lambda f, square: square / (f.lam * f.n), lambda f, alpha: f.combined(alpha) / (f.lam * f.n)),
    ),
)
