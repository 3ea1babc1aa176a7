"""SVRG: single gradients, corrected at a snapshot where all were taken (Johnson and Zhang 2013).

Minimises (1/n) sum_i f_i. A step is one of the inner loop, in which the snapshot stays; :func:`renewed` ends an epoch.
So m steps from a renewed state are an outer iteration of Federated Optimization's Algorithm 1.
"""

from __future__ import annotations

from typing import Annotated

from fedtheory.algorithms.dialect import Array, Draw, NamedTuple, Point, Problem, Scalar, edits, everywhere, method
from fedtheory.algorithms.minibatch_sgd import mean_over
from fedtheory.algorithms.sgd import draws


class Params(NamedTuple):
    """``eta``: stepsize."""

    eta: Scalar


class State(NamedTuple):
    """``w (..., d)``: the iterate; ``w_tilde (..., d)``: the snapshot."""

    w: Point
    w_tilde: Annotated[Array, "point from w"]


def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """One step of SVRG."""
    fresh = problem.f.gradient(everywhere(problem, state.w))
    stale = problem.f.gradient(everywhere(problem, state.w_tilde))
    direction = mean_over(draw, 1, fresh - stale) + stale.sum(axis=-2) / problem.n
    return State(state.w - params.eta * direction, state.w_tilde)


def renewed(state: State) -> State:
    """The state with the iterate for its snapshot (the paper's option I)."""
    return State(state.w, state.w)


algorithm = method("svrg", step, Params, State, draws=draws)

#: The line that renews each letter of the state, in words.
LINES = {
    "w": "w <- w - eta (grad f_i(w) - grad f_i(w_tilde) + grad f(w_tilde)), i uniformly random",
    "w_tilde": "w_tilde stays as it is within an epoch",
}

#: Known mistakes of implementations.
SLIPS = edits("""
w: the sign of the correction is swapped
    fresh - stale) + => fresh + stale) -
w: the sign of the difference is swapped
    fresh - stale) => stale - fresh)
w: the full gradient at the snapshot is left out
    + stale.sum(axis=-2) / problem.n =>
w: there is no correction at the snapshot: this is SGD
    fresh - stale) + stale.sum(axis=-2) / problem.n => fresh)
w_tilde: the snapshot is renewed in every step: it is the same array as the model
    direction, state.w_tilde) => direction, state.w - params.eta * direction)
""")
