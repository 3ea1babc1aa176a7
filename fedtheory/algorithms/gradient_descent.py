"""Gradient descent on F(x) = sum_i f_i(x) + n g(x): x <- x - gamma grad F(x)."""

from __future__ import annotations

from fedtheory.algorithms.dialect import Draw, NamedTuple, Point, Problem, Scalar, method


class Params(NamedTuple):
    """``gamma``: stepsize for the average (1/n) sum f_i + g."""

    gamma: Scalar


class State(NamedTuple):
    """``x``: the iterate, ``(..., d)``."""

    x: Point


def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """One step of gradient descent on F."""
    x = state.x[..., None, :]
    gradient = problem.f.gradient(x).mean(axis=-2)
    if problem.g is not None:
        gradient = gradient + problem.g.gradient(x)[..., 0, :]
    return State(state.x - params.gamma * gradient)


algorithm = method("gradient-descent", step, Params, State)

#: The line that renews each letter of the state, in words.
LINES = {"x": "x <- x - gamma grad f(x)"}
