"""SAGA: single gradients, corrected by a table of those seen last (Defazio, Bach, Lacoste-Julien 2014).

Minimises (1/n) sum_i f_i. The table holds the points phi_i at which its gradients were taken.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from fedtheory.algorithms.dialect import Array, Draw, NamedTuple, Point, Problem, Scalar, edits, everywhere, method
from fedtheory.algorithms.minibatch_sgd import mean_over
from fedtheory.algorithms.sgd import draws


class Params(NamedTuple):
    """``gamma``: stepsize."""

    gamma: Scalar


class State(NamedTuple):
    """``x (..., d)``: the iterate; ``phi (..., n, d)``: where the gradient of each f_i was last taken."""

    x: Point
    phi: Annotated[Array, "models from x"]


def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """One step of SAGA."""
    x = everywhere(problem, state.x)
    fresh, stale = problem.f.gradient(x), problem.f.gradient(state.phi)
    direction = mean_over(draw, 1, fresh - stale) + stale.sum(axis=-2) / problem.n
    return State(state.x - params.gamma * direction, np.where(draw[..., None], x, state.phi))


def theory(problem: Problem, adaptive: bool = False) -> Params:
    """gamma = 1/(2 (mu n + L)); ``adaptive`` takes 1/(3L), for which mu need not be known."""
    return Params(1 / (3 * problem.L) if adaptive else 1 / (2 * (problem.mu * problem.n + problem.L)))


algorithm = method("saga", step, Params, State, draws=draws)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x <- x - gamma (grad f_j(x) - grad f_j(phi_j) + (1/n) sum_i grad f_i(phi_i)), with the old phi_j",
    "phi": "phi_j <- x (the old one) for the one j drawn",
}

#: Known mistakes of implementations.
SLIPS = edits("""
x: the table is renewed before its mean is taken
    stale.sum(axis=-2) => np.where(draw[..., None], fresh, stale).sum(axis=-2)
x: the difference is divided by n: this is SAG's direction
    fresh - stale) => fresh - stale) / problem.n
x: the sign of the correction is swapped
    fresh - stale) + => fresh + stale) -
x: the sign of the difference is swapped
    fresh - stale) => stale - fresh)
x: the mean of the table is left out
    + stale.sum(axis=-2) / problem.n =>
phi: the table is renewed at the new model
    x, state.phi)) => everywhere(problem, state.x - params.gamma * direction), state.phi))
phi: the table is never renewed
    x, state.phi)) => state.phi, state.phi))
""")
