"""FSVRG: local passes with scaled gradients, aggregated coordinate by coordinate (Federated Optimization, Algorithm 4).

What its definitions leave open: the step on coordinates that a client does not hold, where the losses are flat and S_k
meets the regulariser alone, and the aggregation of coordinates that nobody holds; see
:mod:`fedtheory.problems.local_features`. The regulariser is part of every f_i (Appendix A.2), so S_k scales it too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithms.base import Algorithm, zeros
from fedtheory.algorithms.fsvrg_sparse import SparseScaling, moves, sparse_scaling
from fedtheory.local_draws import ClientPermutations
from fedtheory.problems.linear_models import LinearProblem
from fedtheory.problems.local_features import aggregation, local_scaling
from fedtheory.randomness import Distribution, Draw
from fedtheory.rational import Array


class Params(NamedTuple):
    """``h``: stepsize, h_k = h / n_k; ``S (K, d)``: the diagonals of the S_k; ``A (d,)``: that of A.

    A :class:`SparseScaling` for S takes the path for sparse data: float64, one replica. ``held (K, d)``: the features
    that a client moves; None for all, as Algorithm 4 is printed. It is for dense data.
    """

    h: Any
    S: Array | SparseScaling
    A: Array
    held: Array | None = None


class State(NamedTuple):
    """``w (..., d)``: the server's model."""

    w: Array


def init(problem: LinearProblem, params: Params, w: Array | None = None) -> State:
    """w^0 = 0 unless given."""
    return State(zeros(problem.d) if w is None else w)


def draws(problem: LinearProblem, params: Params, state: State) -> Distribution:
    """Rows ``(n,)``: those of each client, in the random order of its pass."""
    return ClientPermutations(problem.f.sizes)


def step(problem: LinearProblem, params: Params, state: State, draw: Draw) -> State:
    """One step, without randomness of its own: FSVRG."""
    f = problem.f
    if isinstance(params.S, SparseScaling):
        return _sparse_step(problem, params, state, draw)
    w, full = state.w[..., None, :], f.full_gradient(state.w)[..., None, :]
    h = (params.h / (f.shares * f.examples))[:, None]
    scaling, shift = h * params.S, h * full
    local = np.broadcast_to(w, (*w.shape[:-2], f.n, f.d))
    for t in range(f.sizes.max()):
        # A client whose pass is over repeats its last example, and the result is dropped.
        moves = (t < f.sizes)[:, None] & (True if params.held is None else params.held)
        rows = draw[..., f.starts + np.minimum(t, f.sizes - 1)]
        # h_k (S_k (grad f_i(w_k) - grad f_i(w)) + grad f(w))
        local = np.where(moves, local - (scaling * f.example_change(local, w, rows) + shift), local)
    return State(state.w + params.A * (f.shares[:, None] * (local - w)).sum(axis=-2))


def _sparse_step(problem: LinearProblem, params: Params, state: State, draw: Draw) -> State:
    """The replicas, if any, one after the other."""
    f, S = problem.f, params.S
    assert isinstance(S, SparseScaling)
    lead = np.broadcast_shapes(state.w.shape[:-1], draw.shape[:-1])
    after = np.empty((*lead, f.d))
    models, orders = np.broadcast_to(state.w, (*lead, f.d)), np.broadcast_to(draw, (*lead, f.examples))
    for index in np.ndindex(lead):
        w = models[index].astype(np.float64)
        after[index] = w + params.A * moves(f, S, w, f.full_gradient(w), float(params.h), orders[index])
    return State(after)


def fixed_point(problem: LinearProblem, params: Params) -> State:
    """The state at the optimum, which no step may leave."""
    return State(problem.x_star)


def theory(problem: LinearProblem, h: Any, absent: Any = 1) -> Params:
    """S_k and A as Section 3.6.1 defines them; h is left to the user. ``absent``: s_k^j of features that k lacks."""
    f = problem.f
    S = sparse_scaling(f, absent) if f.sparse else local_scaling(f, absent)
    return Params(h, S, aggregation(f))


algorithm = Algorithm("fsvrg", Params, State, init, draws, step, fixed_point)
