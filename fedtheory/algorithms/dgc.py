"""Deep gradient compression: error feedback whose memory holds momenta (Lin et al. 2018).

Client i: u_i <- momentum u_i + grad f_i(x); v_i <- v_i + u_i; it sends the k entries of v_i that are largest in size,
and sets these entries of v_i and of u_i to 0 ("momentum factor masking"). x <- x - (eta/n) sum of what is sent. All u_i
and v_i begin with 0. Warm-up, clipping and layers are left out.
"""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms.dialect import Array, Clients, Draw, Example, NamedTuple, Point, Problem, method, zeros
from fedtheory.algorithms.slips import Table, edits


class Params(NamedTuple):
    """``eta``: stepsize; ``momentum``: weight of the previous u_i; ``k``: entries that a client sends."""

    eta: float
    momentum: float
    k: int


class State(NamedTuple):
    """``x (..., d)``: the model; ``u``, ``v`` ``(..., n, d)``: the clients' momenta, and the parts of their sums
    that were not sent.

    The method generally leaves the optimum, which is fixed if all clients share a minimiser.
    """

    x: Point
    u: Clients
    v: Clients


def init(
    problem: Problem, params: Params, x: Array | None = None, u: Array | None = None, v: Array | None = None
) -> State:
    """Zeros unless given. Raise ``ValueError`` unless 1 <= k <= d."""
    if not 1 <= params.k <= problem.d:
        raise ValueError(f"a client sends between 1 and {problem.d} entries, got k = {params.k}")
    nothing = zeros(problem.n, problem.d)
    return State(zeros(problem.d) if x is None else x, nothing if u is None else u, nothing if v is None else v)


def largest(v: Array, k: int) -> Array:
    """The mask of the k entries of largest size along the last axis, the first ones among equals."""
    return np.argsort(np.argsort(-abs(v), axis=-1, kind="stable"), axis=-1) < k


def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """One step of DGC."""
    u = params.momentum * state.u + problem.f.gradient(state.x[..., None, :])
    v = state.v + u
    sent = largest(v, params.k)
    x = state.x - params.eta * np.where(sent, v, 0 * v).sum(axis=-2) / problem.n
    return State(x, np.where(sent, 0 * u, u), np.where(sent, 0 * v, v))


algorithm = method("dgc", step, Params, State, init)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x <- x - (eta/n) sum of the k largest entries of the new v_i",
    "u": "u_i <- momentum u_i + grad f_i(x), its entries that are sent then 0",
    "v": "v_i <- v_i + u_i, its entries that are sent then 0",
}


#: A small problem's parameters.
EXAMPLE = Example("wide", lambda given: Params(0.2 / float(given.problem.L), 0.6, max(1, given.problem.d // 3)))


class _Served(NamedTuple):
    x: Array
    u: Array
    v: Array
    b: Array


def _served_init(problem: Problem, params: Params, **start: Array | None) -> _Served:
    state = init(problem, params, **start)
    return _Served(*state, 0 * state.x)


def _served_step(problem: Problem, params: Params, state: _Served, draw: Draw) -> _Served:
    """Error feedback without momenta, and a server with momentum."""
    v = state.v + problem.f.gradient(state.x[..., None, :])
    sent = largest(v, params.k)
    b = params.momentum * state.b + np.where(sent, v, 0 * v).sum(axis=-2) / problem.n
    return _Served(state.x - params.eta * b, state.u + 0 * v, np.where(sent, 0 * v, v), b)


#: Known mistakes of implementations.
SLIPS: Table = (
    (
        "the momentum is the server's, of what is sent, instead of the clients'",
        "v",
        {"State": _Served, "init": _served_init, "step": _served_step},
    ),
    *edits("""
v: v_i adds up gradients, without momentum correction
    v = state.v + u => v = state.v + problem.f.gradient(state.x[..., None, :])
u: the momenta are not masked: u_i keeps the entries that were sent
    np.where(sent, 0 * u, u) => u
v: what is sent is not removed from v_i
    np.where(sent, 0 * v, v) => v
u: neither u_i nor v_i is masked
    np.where(sent, 0 * u, u) => u
    np.where(sent, 0 * v, v) => v
v: v_i is emptied whole: what was not sent is forgotten
    np.where(sent, 0 * v, v) => 0 * v
u: u_i is emptied whole
    np.where(sent, 0 * u, u) => 0 * u
u: u_i and v_i are emptied whole
    np.where(sent, 0 * u, u) => 0 * u
    np.where(sent, 0 * v, v) => 0 * v
u: the masks are the wrong way round: what is left is what was sent
    np.where(sent, 0 * u, u) => np.where(sent, u, 0 * u)
    np.where(sent, 0 * v, v) => np.where(sent, v, 0 * v)
v: v_i adds up Nesterov's momenta
    v = state.v + u => v = state.v + problem.f.gradient(state.x[..., None, :]) + params.momentum * u
x: the entries are chosen by the size of u_i instead of v_i
    largest(v, params.k) => largest(u, params.k)
x: the entries that are smallest in size are sent
    largest(v, params.k) => largest(1 / (abs(v) + 1e-300), params.k)
x: the entries that are largest are sent, whatever their size
    largest(v, params.k) => largest(np.exp(v / (1 + abs(v).max())), params.k)
x: what is sent is summed instead of averaged
    .sum(axis=-2) / problem.n => .sum(axis=-2)
"""),
)
