"""Dual block proximal gradient ascent: all blocks of the dual at once (Federated Optimization, Algorithm 6)."""

from __future__ import annotations

from fedtheory.algorithms.dialect import Draw, Example, NamedTuple, Scalar, method
from fedtheory.algorithms.sdca import State, fixed_point, init
from fedtheory.learning.dual_blocks import maximisers
from fedtheory.problems.linear_models import LinearProblem


class Params(NamedTuple):
    """``sigma``: large enough for X'X <= sigma B; K always is."""

    sigma: Scalar


def step(problem: LinearProblem, params: Params, state: State, draw: Draw) -> State:
    """One step of dual block proximal gradient ascent."""
    f = problem.f
    return State(state.alpha + maximisers(f, state.alpha, f.primal(state.alpha), params.sigma))


algorithm = method("dual-block-ascent", step, Params, State, init, fixed_point=fixed_point)

#: The line that renews each letter of the state, in words.
LINES = {"alpha": "alpha <- alpha + u, u_k the minimiser of D_k, w = X alpha/(lambda n)"}


#: A small problem's parameters.
EXAMPLE = Example("rows", lambda given: Params(given.problem.n))
