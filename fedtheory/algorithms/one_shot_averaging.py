"""One-shot averaging: clients minimise their own losses, the server averages (Federated Optimization, Section 3.4)."""

from __future__ import annotations

from fedtheory.algorithms.dialect import Draw, Example, NamedTuple, Point, method, zeros
from fedtheory.problems.linear_models import LinearProblem


class Params(NamedTuple):
    """There is nothing to tune."""


class State(NamedTuple):
    """``w (..., d)``: the server's model, which leaves the optimum unless the local minimisers average to it."""

    w: Point


def step(problem: LinearProblem, params: Params, state: State, draw: Draw) -> State:
    """The same from every state: sum_k p_k argmin F_k with the weights p_k of the F_k, n_k / n for those of eq. (6)."""
    f = problem.f
    minimisers = f.resolvent(0, zeros(*state.w.shape[:-1], f.n, f.d))
    return State((f.weights[:, None] * minimisers).sum(axis=-2))


algorithm = method("one-shot-averaging", step, Params, State)

#: The line that renews each letter of the state, in words.
LINES = {"w": "w <- sum_k (n_k/n) argmin F_k"}


#: A small problem's parameters.
EXAMPLE = Example("rows", lambda given: Params())
