"""Gradient descent on F(x) = sum_i f_i(x) + n g(x): x <- x - gamma grad F(x)."""

from __future__ import annotations

from typing import NamedTuple

from fedtheory.algorithms.base import Algorithm, zeros
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.randomness import Constant, Distribution, Draw


class Params(NamedTuple):
    """``gamma``: stepsize for the average (1/n) sum f_i + g."""

    gamma: Scalar


class State(NamedTuple):
    """``x``: the iterate, ``(..., d)``."""

    x: Array


def init(problem: Problem, params: Params, x: Array | None = None) -> State:
    """x^0 = 0 unless given."""
    return State(zeros(problem.d) if x is None else x)


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """All randomness of one step."""
    return Constant()


def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """One step, without randomness of its own: Gradient descent on F."""
    x = state.x[..., None, :]
    gradient = problem.f.gradient(x).mean(axis=-2)
    if problem.g is not None:
        gradient = gradient + problem.g.gradient(x)[..., 0, :]
    return State(state.x - params.gamma * gradient)


def fixed_point(problem: Problem, params: Params) -> State:
    """The state at the optimum, which no step may leave."""
    return State(problem.x_star)


algorithm = Algorithm("gradient-descent", Params, State, init, draws, step, fixed_point)

#: The line that renews each letter of the state, in words.
LINES = {"x": "x <- x - gamma grad f(x)"}
