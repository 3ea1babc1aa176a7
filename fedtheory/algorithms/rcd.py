"""Randomised coordinate descent: w <- w - h_j (grad f(w))_j e_j, j uniform (Federated Optimization, Section 2.2).

Minimises (1/n) sum_i f_i over the functions of the problem.
"""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms.dialect import Array, Distribution, Draw, Example, NamedTuple, Point, Problem, method
from fedtheory.numbers.rational import to_float
from fedtheory.randomness import UniformSubset


class Params(NamedTuple):
    """``h (d,)``: the stepsize of each coordinate; 1 / L_j is usual, L_j the curvature along e_j."""

    h: Array


class State(NamedTuple):
    """``w (..., d)``: the iterate."""

    w: Point


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """The one coordinate that moves, uniformly random, as a mask ``(d,)``."""
    return UniformSubset(problem.d, 1)


def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """One step of randomised coordinate descent."""
    gradient = problem.f.gradient(state.w[..., None, :]).sum(axis=-2) / problem.n
    return State(state.w - params.h * np.where(draw, gradient, 0 * gradient))


algorithm = method("rcd", step, Params, State, draws=draws)

#: The line that renews each letter of the state, in words.
LINES = {"w": "w_j <- w_j - h_j (grad f(w))_j for one random coordinate j, f the mean of the f_i"}


#: A small problem's parameters.
EXAMPLE = Example("sum", lambda given: Params(0.9 / np.diagonal(to_float(given.problem.f.H).mean(axis=0))))
