"""SVRG: single gradients, corrected at a snapshot where all were taken (Johnson and Zhang 2013).

Minimises (1/n) sum_i f_i. A step is one of the inner loop, in which the snapshot stays; :func:`renewed` ends an epoch.
So m steps from a renewed state are an outer iteration of Federated Optimization's Algorithm 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from fedtheory.algorithms.base import Algorithm, zeros
from fedtheory.algorithms.minibatch_sgd import everywhere, mean_over
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.randomness import Distribution, Draw, UniformSubset


class Params(NamedTuple):
    """``eta``: stepsize."""

    eta: Any


class State(NamedTuple):
    """``w (..., d)``: the iterate; ``w_tilde (..., d)``: the snapshot."""

    w: Array
    w_tilde: Array


def init(problem: Problem, params: Params, w: Array | None = None, w_tilde: Array | None = None) -> State:
    """Both 0 unless given; the snapshot is w where only that is given."""
    w = zeros(problem.d) if w is None else w
    return State(w, w if w_tilde is None else w_tilde)


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """The one function asked, uniformly random, as a mask ``(n,)``."""
    return UniformSubset(problem.n, 1)


def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """One step, without randomness of its own: SVRG."""
    fresh = problem.f.gradient(everywhere(problem, state.w))
    stale = problem.f.gradient(everywhere(problem, state.w_tilde))
    direction = mean_over(draw, 1, fresh - stale) + stale.sum(axis=-2) / problem.n
    return State(state.w - params.eta * direction, state.w_tilde)


def renewed(state: State) -> State:
    """The state with the iterate for its snapshot (the paper's option I)."""
    return State(state.w, state.w)


def fixed_point(problem: Problem, params: Params) -> State:
    """The state at the optimum, which no step may leave."""
    return State(problem.x_star, problem.x_star)


algorithm = Algorithm("svrg", Params, State, init, draws, step, fixed_point)
