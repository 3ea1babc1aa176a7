"""SDCA: ascent of the dual, one variable at a time (Shalev-Shwartz and Zhang 2013; Federated Optimization, 2.2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fedtheory.algorithms.base import Algorithm, zeros
from fedtheory.numbers.rational import Array
from fedtheory.problems.linear_models import LinearProblem
from fedtheory.randomness import Distribution, Draw, UniformSubset


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


algorithm = Algorithm("sdca", Params, State, init, draws, step, fixed_point)
