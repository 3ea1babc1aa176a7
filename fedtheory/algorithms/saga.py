"""SAGA: single gradients, corrected by a table of those seen last (Defazio, Bach, Lacoste-Julien 2014).

Minimises (1/n) sum_i f_i. The table is kept as the points phi_i at which its gradients were taken.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fedtheory.algorithms.dialect import Array, Models, NamedTuple, Point, Problem, Scalar, everywhere, method, zeros
from fedtheory.algorithms.examples import StepFunction, Table, changed
from fedtheory.algorithms.minibatch_sgd import mean_over
from fedtheory.randomness import Distribution, Draw, UniformSubset


class Params(NamedTuple):
    """``gamma``: stepsize."""

    gamma: Scalar


class State(NamedTuple):
    """``x (..., d)``: the iterate; ``phi (..., n, d)``: where each f_i was last asked for its gradient."""

    x: Point
    phi: Models


def init(problem: Problem, params: Params, x: Array | None = None, phi: Array | None = None) -> State:
    """x^0 = 0 and phi_i^0 = x^0 unless given."""
    x = zeros(problem.d) if x is None else x
    return State(x, everywhere(problem, x) if phi is None else phi)


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """The one function asked, uniformly random, as a mask ``(n,)``."""
    return UniformSubset(problem.n, 1)


def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """One step, without randomness of its own: SAGA."""
    x = everywhere(problem, state.x)
    fresh, stale = problem.f.gradient(x), problem.f.gradient(state.phi)
    direction = mean_over(draw, 1, fresh - stale) + stale.sum(axis=-2) / problem.n
    return State(state.x - params.gamma * direction, np.where(draw[..., None], x, state.phi))


def theory(problem: Problem, adaptive: bool = False) -> Params:
    """gamma = 1/(2 (mu n + L)); ``adaptive`` takes 1/(3L), for which mu need not be known."""
    return Params(1 / (3 * problem.L) if adaptive else 1 / (2 * (problem.mu * problem.n + problem.L)))


algorithm = method("saga", step, Params, State, init, draws)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x <- x - gamma (grad f_j(x) - grad f_j(phi_j) + (1/n) sum_i grad f_i(phi_i)), with the old phi_j",
    "phi": "phi_j <- x (the old one) for the one j drawn",
}


def _along(direction: Callable[[Problem, Array, Array, Array], Array]) -> StepFunction:
    """SAGA along ``direction(problem, fresh, stale, table)``: of the function drawn, and of all in the table."""

    def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
        x = everywhere(problem, state.x)
        fresh, table = problem.f.gradient(x), problem.f.gradient(state.phi)
        slope = direction(problem, mean_over(draw, 1, fresh), mean_over(draw, 1, table), table)
        return State(state.x - params.gamma * slope, np.where(draw[..., None], x, state.phi))

    return step


def _mean(problem: Problem, table: Array) -> Array:
    return table.sum(axis=-2) / problem.n


def _at_new_model(problem: Problem, params: object, state: State, after: State, draw: Draw) -> Array:
    return np.where(draw[..., None], everywhere(problem, after.x), state.phi)


#: What implementations are known to do instead.
SLIPS: Table = (
    (
        "the table is renewed before its mean is taken",
        "x",
        _along(lambda problem, g, old, table: g - old + _mean(problem, table) + (g - old) / problem.n),
    ),
    (
        "the difference is divided by n: this is SAG's direction",
        "x",
        _along(lambda problem, g, old, table: (g - old) / problem.n + _mean(problem, table)),
    ),
    ("the sign of the correction is swapped", "x", _along(lambda problem, g, old, t: g + old - _mean(problem, t))),
    ("the sign of the difference is swapped", "x", _along(lambda problem, g, old, t: old - g + _mean(problem, t))),
    ("the mean of the table is left out", "x", _along(lambda problem, g, old, table: g - old)),
    ("the table is renewed at the new model", "phi", changed(step, phi=_at_new_model)),
    ("the table is never renewed", "phi", changed(step, phi=lambda problem, params, s, a, d: s.phi + 0 * a.phi)),
)
