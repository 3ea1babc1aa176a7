"""FSVRG: local passes with scaled gradients, aggregated coordinate by coordinate (Federated Optimization, Algorithm 4).

What its definitions leave open: the step on coordinates that a client does not hold, where the losses are flat and S_k
meets the regulariser alone, and the aggregation of coordinates that nobody holds; see
:mod:`fedtheory.learning.local_features`. The regulariser is part of every f_i (Appendix A.2), so S_k scales it too.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from fedtheory.algorithms.dane import State
from fedtheory.algorithms.dialect import Array, Distribution, Draw, NamedTuple, Scalar, Table, edits, method
from fedtheory.algorithms.examples import Example, Picks, row_step
from fedtheory.algorithms.fsvrg_sparse import SparseScaling, moves, sparse_scaling
from fedtheory.algorithms.selections import ClientPermutations
from fedtheory.extras import require
from fedtheory.learning.local_features import aggregation, local_scaling
from fedtheory.problems.linear_models import LinearProblem


class Params(NamedTuple):
    """``h``: stepsize, h_k = h / n_k; ``S (K, d)``: the diagonals of the S_k; ``A (d,)``: that of A.

    A :class:`SparseScaling` for S takes the path for sparse data: float64, one replica. ``held (K, d)``: the features
    that a client moves; None for all, as Algorithm 4 is printed. It is for dense data.
    """

    h: Scalar
    S: Array | SparseScaling
    A: Array
    held: Array | None = None


def draws(problem: LinearProblem, params: Params, state: State) -> Distribution:
    """Rows ``(n,)``: those of each client, in the random order of its pass."""
    return ClientPermutations(problem.f.sizes)


def step(problem: LinearProblem, params: Params, state: State, draw: Draw) -> State:
    """One step of FSVRG."""
    f = problem.f
    if isinstance(params.S, SparseScaling):
        return _sparse_step(problem, params, params.S, state, draw)
    at, steps = f.snapshot(state.w), f.one_pass
    h = (params.h / (f.shares * f.examples))[:, None]
    held = True if params.held is None else params.held
    scaling = np.where(held, h * params.S, 0 * params.S)[steps.clients]
    shift = np.where(held, h * at.gradient[..., None, :], 0 * params.S)[..., steps.clients, :]
    # The rows of all steps, and what the full gradient knows of them.
    lead = np.broadcast_shapes(state.w.shape[:-1], draw.shape[:-1])
    rows = np.broadcast_to(draw, (*lead, f.examples))[..., steps.slots]
    predictions, slopes = (np.take_along_axis(np.broadcast_to(v, rows.shape), rows, -1) for v in at[:2])
    y = f.y[rows]
    # delta = w_k - w moves by -h_k (S_k (grad f_i(w_k) - grad f_i(w)) + grad f(w)), with lambda delta in the bracket.
    kept = 1 - f.lam * scaling
    delta = np.zeros((*lead, f.n, f.d), dtype=np.result_type(shift, scaling, f.X))
    X = f.X.astype(delta.dtype, copy=False)
    for start, end in pairwise(steps.edges):
        now, clients = np.s_[..., start:end], np.s_[..., : end - start, :]
        x, moved = X.take(rows[now], axis=0), delta[clients]
        bend = f.loss.slope(predictions[now] + np.vecdot(x, moved), y[now]) - slopes[now]
        x *= bend[..., None]
        x *= scaling[clients]
        moved *= kept[clients]
        moved -= x
        moved -= shift[clients]
    total = (f.shares[steps.clients, None] * delta).sum(axis=-2)
    return State(state.w + params.A * total)


def _sparse_step(problem: LinearProblem, params: Params, S: SparseScaling, state: State, draw: Draw) -> State:
    """The replicas, if any, one after the other."""
    f = problem.f
    lead = np.broadcast_shapes(state.w.shape[:-1], draw.shape[:-1])
    after = np.empty((*lead, f.d))
    models, orders = np.broadcast_to(state.w, (*lead, f.d)), np.broadcast_to(draw, (*lead, f.examples))
    for index in np.ndindex(lead):
        w = models[index].astype(np.float64)
        after[index] = w + params.A * moves(f, S, f.snapshot(w), float(params.h), orders[index])
    return State(after)


def theory(problem: LinearProblem, h: Scalar, absent: Any = 1, compiled: bool = False) -> Params:
    """S_k and A as Section 3.6.1 defines them; h is left to the user. ``absent``: s_k^j of features that k lacks.

    ``compiled``: passes over sparse data as a loop that numba compiles. Raise ``ValueError`` if the data are dense.
    Raise ``MissingExtra`` if numba is not installed.
    """
    f = problem.f
    if compiled and not f.sparse:
        raise ValueError("compiled passes of FSVRG are for sparse data")
    if compiled:
        require("numba", extra="compiled")
    if not f.sparse:
        return Params(h, local_scaling(f, absent), aggregation(f))
    S = sparse_scaling(f, absent, compiled)
    return Params(h, S, aggregation(f, local=S.local))


algorithm = method("fsvrg", step, Params, State, draws=draws)

#: The line that renews each letter of the state, in words.
LINES = {
    "w": "w <- w + A sum_k (n_k/n)(w_k - w), w_k <- w_k - h/n_k (S_k (grad f_i(w_k) - grad f_i(w)) + grad f(w)) "
    "for all examples i of client k in a random order",
}


#: A small problem's parameters.
EXAMPLE = Example("rows, any loss", lambda given: theory(given.problem, row_step(given)))


def _with_replacement(problem: Any, params: object, state: object) -> Distribution:
    """The rows of FSVRG's passes, with replacement."""
    return Picks(problem.f.sizes)


#: Known mistakes of implementations.
SLIPS: Table = (
    *edits("""
w: the scaling S_k is left out
    np.where(held, h * params.S => np.where(held, h + 0 * params.S
w: S_k scales the full gradient too, not the difference alone
    h * at.gradient[..., None, :] => h * params.S * at.gradient[..., None, :]
w: the aggregation lacks its scaling A
    params.A * total => total
w: clients are weighted by 1/K instead of n_k/n
    f.shares[steps.clients, None] * delta => delta / f.n
w: the local stepsize is h instead of h/n_k
    params.h / (f.shares * f.examples) => params.h / np.ones(f.n)
w: the full gradient is that of the client's own loss instead of f
    at.gradient[..., None, :] => f.gradient(state.w[..., None, :])
w: there is no correction at the server's model: these are local SGD steps
    - slopes[now] =>
    h * at.gradient[..., None, :] => h * params.S * f.lam * state.w[..., None, :]
"""),
    ("a client's examples are drawn with replacement instead of each once", "", {"draws": _with_replacement}),
)
