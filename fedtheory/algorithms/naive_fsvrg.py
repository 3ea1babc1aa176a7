"""Naive FSVRG: an epoch of SVRG at every client from one full gradient (Federated Optimization, Algorithm 3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.algorithms.dane import State
from fedtheory.algorithms.dialect import Distribution, Draw, NamedTuple, Scalar, edits, method
from fedtheory.algorithms.examples import Example, row_step
from fedtheory.algorithms.selections import ClientPicks
from fedtheory.problems.linear_models import LinearProblem


class Params(NamedTuple):
    """``h``: stepsize; ``m``: stochastic steps an epoch."""

    h: Scalar
    m: int


def draws(problem: LinearProblem, params: Any, state: State) -> Distribution:
    """Rows ``(K, m)``: the examples that each client picks, with replacement."""
    return ClientPicks(problem.f.sizes, params.m)


def step(problem: LinearProblem, params: Params, state: State, draw: Draw) -> State:
    """One step of naive FSVRG."""
    f, w = problem.f, state.w[..., None, :]
    full = f.full_gradient(state.w)[..., None, :]
    local = np.broadcast_to(w, (*w.shape[:-2], f.n, f.d))
    for t in range(params.m):
        rows = draw[..., t]
        local = local - params.h * (f.example_change(local, w, rows) + full)
    return State(state.w + (local - w).sum(axis=-2) / f.n)


algorithm = method("naive-fsvrg", step, Params, State, draws=draws)

#: The line that renews each letter of the state, in words.
LINES = {"w": "w <- w + (1/K) sum_k (w_k - w), w_k <- w_k - h (grad f_i(w_k) - grad f_i(w) + grad f(w)), m times"}


#: A small problem's parameters.
EXAMPLE = Example("rows, any loss", lambda given: Params(row_step(given), given.epochs))

#: Known mistakes of implementations.
SLIPS = edits("""
w: clients are weighted by n_k/n instead of 1/K
    (local - w).sum(axis=-2) / f.n => (f.shares[:, None] * (local - w)).sum(axis=-2)
w: the full gradient is that of the client's own loss instead of f
    f.full_gradient(state.w)[..., None, :] => f.gradient(w)
""")
