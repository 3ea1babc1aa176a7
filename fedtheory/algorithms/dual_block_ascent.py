"""Dual block proximal gradient ascent: all blocks of the dual at once (Federated Optimization, Algorithm 6)."""

from __future__ import annotations

from fedtheory.algorithms.dialect import Array, Draw, NamedTuple, Scalar, method, zeros
from fedtheory.algorithms.examples import Example
from fedtheory.learning.dual_blocks import maximisers
from fedtheory.problems.linear_models import LinearProblem


class Params(NamedTuple):
    """``sigma``: large enough for X'X <= sigma B; K always is."""

    sigma: Scalar


class State(NamedTuple):
    """``alpha (..., n)``: the dual variables, one an example."""

    alpha: Array


def init(problem: LinearProblem, params: Params, alpha: Array | None = None) -> State:
    """alpha^0 = 0 unless given."""
    return State(zeros(problem.f.examples) if alpha is None else alpha)


def step(problem: LinearProblem, params: Params, state: State, draw: Draw) -> State:
    """One step, without randomness of its own: Dual block proximal gradient ascent."""
    f = problem.f
    return State(state.alpha + maximisers(f, state.alpha, f.primal(state.alpha), params.sigma))


def fixed_point(problem: LinearProblem, params: Params) -> State:
    """The state at the optimum, which no step may leave."""
    return State(problem.f.dual_of(problem.x_star))


algorithm = method("dual-block-ascent", step, Params, State, init, fixed_point=fixed_point)

#: The line that renews each letter of the state, in words.
LINES = {"alpha": "alpha <- alpha + u, u_k the minimiser of D_k, w = X alpha/(lambda n)"}


#: A small problem's parameters.
EXAMPLE = Example("rows", lambda given: Params(given.problem.n))
