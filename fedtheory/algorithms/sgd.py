"""Stochastic gradient descent: w <- w - h_t grad f_i(w), i uniform (Federated Optimization, Section 2.1).

Minimises (1/n) sum_i f_i over the functions of the problem.
"""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms.dialect import Array, Example, NamedTuple, Problem, Scalar, everywhere, method, zeros
from fedtheory.algorithms.minibatch_sgd import mean_over
from fedtheory.randomness import Distribution, Draw, UniformSubset


class Params(NamedTuple):
    """Stepsizes h_t = ``h`` / (1 + ``decay`` t): the paper asks for a diminishing sequence and names none;
    ``decay`` = 0 keeps h_t constant."""

    h: Scalar
    decay: Scalar = 0


class State(NamedTuple):
    """``w (..., d)``: the iterate; ``t (...)``: steps taken."""

    w: Array
    t: Array


def init(problem: Problem, params: Params, w: Array | None = None) -> State:
    """w^0 = 0 unless given."""
    w = zeros(problem.d) if w is None else w
    return State(w, zeros(*w.shape[:-1]))


def draws(problem: Problem, params: object, state: object) -> Distribution:
    """The one function sampled, uniformly at random, as a mask ``(n,)``."""
    return UniformSubset(problem.n, 1)


def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """One step of stochastic gradient descent."""
    gradient = mean_over(draw, 1, problem.f.gradient(everywhere(problem, state.w)))
    h = params.h / (1 + params.decay * state.t)
    return State(state.w - np.asarray(h)[..., None] * gradient, np.broadcast_to(state.t + 1, gradient.shape[:-1]))


def fixed_point(problem: Problem, params: Params) -> State:
    """The optimum: fixed on average, and in every step only if all functions share a minimiser."""
    return State(problem.x_star, zeros())


algorithm = method("sgd", step, Params, State, init, draws, fixed_point)

#: The line that renews each letter of the state, in words.
LINES = {
    "w": "w <- w - h/(1 + decay t) grad f_i(w), i uniformly random",
    "t": "t <- t + 1",
}


#: A small problem's parameters.
EXAMPLE = Example("sum", lambda given: Params(0.6 / given.problem.L, 0.25))
