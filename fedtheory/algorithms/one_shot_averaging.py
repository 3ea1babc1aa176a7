"""One-shot averaging: clients minimise their own losses, the server averages (Federated Optimization, Section 3.4)."""

from __future__ import annotations

from typing import NamedTuple

from fedtheory.algorithms.base import Algorithm, zeros
from fedtheory.algorithms.examples import Example
from fedtheory.numbers.rational import Array
from fedtheory.problems.linear_models import LinearProblem
from fedtheory.randomness import Constant, Distribution, Draw


class Params(NamedTuple):
    """There is nothing to tune."""


class State(NamedTuple):
    """``w (..., d)``: the server's model."""

    w: Array


def init(problem: LinearProblem, params: Params, w: Array | None = None) -> State:
    """w^0 = 0 unless given."""
    return State(zeros(problem.d) if w is None else w)


def draws(problem: LinearProblem, params: Params, state: State) -> Distribution:
    """All randomness of one step."""
    return Constant()


def step(problem: LinearProblem, params: Params, state: State, draw: Draw) -> State:
    """The same from every state: sum_k p_k argmin F_k with the weights p_k of the F_k, n_k / n for those of eq. (6)."""
    f = problem.f
    minimisers = f.resolvent(0, zeros(*state.w.shape[:-1], f.n, f.d))
    return State((f.weights[:, None] * minimisers).sum(axis=-2))


def fixed_point(problem: LinearProblem, params: Params) -> State:
    """The optimum. The method leaves it unless the local minimisers average to it."""
    return State(problem.x_star)


algorithm = Algorithm("one-shot-averaging", Params, State, init, draws, step, fixed_point)

#: The line that renews each letter of the state, in words.
LINES = {"w": "w <- sum_k (n_k/n) argmin F_k"}


#: A small problem's parameters.
EXAMPLE = Example("rows", lambda given: Params())
