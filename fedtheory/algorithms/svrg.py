"""SVRG: single gradients, corrected at a snapshot where all were taken (Johnson and Zhang 2013).

Minimises (1/n) sum_i f_i. A step is one of the inner loop, in which the snapshot stays; :func:`renewed` ends an epoch.
So m steps from a renewed state are an outer iteration of Federated Optimization's Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Callable

from fedtheory.algorithms.dialect import Array, NamedTuple, Point, Problem, Scalar, everywhere, method, zeros
from fedtheory.algorithms.examples import StepFunction, Table, changed
from fedtheory.algorithms.minibatch_sgd import mean_over
from fedtheory.randomness import Distribution, Draw, UniformSubset


class Params(NamedTuple):
    """``eta``: stepsize."""

    eta: Scalar


class State(NamedTuple):
    """``w (..., d)``: the iterate; ``w_tilde (..., d)``: the snapshot."""

    w: Point
    w_tilde: Point


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


algorithm = method("svrg", step, Params, State, init, draws)

#: The line that renews each letter of the state, in words.
LINES = {
    "w": "w <- w - eta (grad f_i(w) - grad f_i(w_tilde) + grad f(w_tilde)), i uniformly random",
    "w_tilde": "w_tilde stays as it is within an epoch",
}


def _along(direction: Callable[[Array, Array, Array], Array]) -> StepFunction:
    """SVRG along ``direction(fresh, stale, full)``: of the function drawn, and of all at the snapshot."""

    def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
        fresh, stale = (problem.f.gradient(everywhere(problem, v)) for v in (state.w, state.w_tilde))
        full = stale.sum(axis=-2) / problem.n
        slope = direction(mean_over(draw, 1, fresh), mean_over(draw, 1, stale), full)
        return State(state.w - params.eta * slope, state.w_tilde)

    return step


#: What implementations are known to do instead.
SLIPS: Table = (
    ("the sign of the correction is swapped", "w", _along(lambda fresh, stale, full: fresh + stale - full)),
    ("the sign of the difference is swapped", "w", _along(lambda fresh, stale, full: stale - fresh + full)),
    ("the full gradient at the snapshot is left out", "w", _along(lambda fresh, stale, full: fresh - stale)),
    ("there is no correction at the snapshot: this is SGD", "w", _along(lambda fresh, stale, full: fresh)),
    (
        "the snapshot is renewed in every step: it is the same array as the model",
        "w_tilde",
        changed(step, w_tilde=lambda problem, params, s, a, draw: a.w),
    ),
)
