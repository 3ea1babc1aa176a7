"""DANE with an epoch of SVRG for its local solver: the first method of Federated Optimization's Proposition 1.

Every client runs Algorithm 1 for one outer iteration on its subproblem (10), the finite sum of
f_i(v) - a_k'v + (mu/2) |v - w|^2 over its own examples, a_k = grad F_k(w) - eta grad f(w), from w. The F_k are those of
eq. (6), which alone are averages of the f_i.
"""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms import dane
from fedtheory.algorithms.dane import State
from fedtheory.algorithms.dialect import Array, Draw, NamedTuple, Scalar, method
from fedtheory.algorithms.examples import Example, row_step
from fedtheory.algorithms.naive_fsvrg import draws
from fedtheory.problems.linear_models import LinearProblem


class Params(NamedTuple):
    """``h``, ``m``: stepsize and steps of SVRG; ``mu``, ``eta``: those of DANE."""

    h: Scalar
    m: int
    mu: Scalar = 0
    eta: Scalar = 1


def step(problem: LinearProblem, params: Params, state: State, draw: Draw) -> State:
    """SVRG computes its own full gradient of the subproblem at w, which is eta grad f(w) in exact arithmetic."""
    if problem.f.share != "own":
        raise ValueError("SVRG solves the subproblems of the F_k of eq. (6): share must be 'own'")
    f, w = problem.f, state.w[..., None, :]
    a = dane.perturbation(problem, dane.Params(params.mu, params.eta), state.w)

    def of_summand(v: Array, rows: Array) -> Array:
        return f.example_gradient(v, rows) - a + params.mu * (v - w)

    full = f.gradient(w) - a
    local = np.broadcast_to(w, (*w.shape[:-2], f.n, f.d))
    for t in range(params.m):
        rows = draw[..., t]
        local = local - params.h * (of_summand(local, rows) - of_summand(w, rows) + full)
    return State(local.sum(axis=-2) / f.n)


algorithm = method("dane-svrg", step, Params, State, draws=draws)

#: The line that renews each letter of the state, in words.
LINES = {"w": "w <- (1/K) sum_k w_k, w_k after m steps of SVRG from w on F_k(v) - <a_k, v> + (mu/2)|v - w|^2"}


#: A small problem's parameters.
EXAMPLE = Example("rows, any loss", lambda given: Params(row_step(given), given.epochs, 0.5, 0.75))
