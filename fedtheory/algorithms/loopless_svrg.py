"""Loopless SVRG: a coin renews the snapshot of SVRG (Kovalev, Horvath, Richtarik 2020). Minimises (1/n) sum_i f_i."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from fedtheory.algorithms.dialect import Array, NamedTuple, Point, Problem, Scalar, everywhere, method
from fedtheory.algorithms.minibatch_sgd import mean_over
from fedtheory.randomness import Bernoulli, Distribution, Product, UniformSubset


class Params(NamedTuple):
    """``eta``: stepsize; ``p``: probability of a new snapshot."""

    eta: Scalar
    p: Scalar


class State(NamedTuple):
    """``x (..., d)``: the iterate; ``w (..., d)``: the snapshot."""

    x: Point
    w: Annotated[Array, "point from x"]


class Round(NamedTuple):
    """``function (n,)``: mask of the one function sampled; ``coin ()``: True if the snapshot is renewed."""

    function: Array
    coin: Array


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """A uniformly random function, and the coin that renews the snapshot."""
    return Product(Round, (UniformSubset(problem.n, 1), Bernoulli(params.p)))


def step(problem: Problem, params: Params, state: State, draw: Round) -> State:
    """The new snapshot is the iterate before the step."""
    fresh = problem.f.gradient(everywhere(problem, state.x))
    stale = problem.f.gradient(everywhere(problem, state.w))
    direction = mean_over(draw.function, 1, fresh - stale) + stale.sum(axis=-2) / problem.n
    return State(state.x - params.eta * direction, np.where(draw.coin[..., None], state.x, state.w))


def theory(problem: Problem, p: Any = None) -> Params:
    """The largest stepsize of the theorem, eta = 1/(6L), and p = 1/n unless given."""
    return Params(1 / (6 * problem.L), 1 / problem.n if p is None else p)


algorithm = method("loopless-svrg", step, Params, State, draws=draws)
