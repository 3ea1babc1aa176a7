"""PowerSGD with error feedback: gradients as matrices of low rank, by a step of power iteration (Vogels et al. 2019).

Algorithm 2 with the compressor of Algorithm 1. A gradient is a matrix of ``rows`` rows, read row by row. With M_i that
of grad f_i(x) + e_i: P = (1/n) sum M_i Q, its columns made orthonormal; Q <- (1/n) sum M_i' P; Delta = P Q'; what was
not sent is e_i <- M_i - Delta; m <- momentum m + Delta; x <- x - gamma (Delta + m). Q goes on from step to step, and
begins with ``Q``, which the paper draws once; m and all e_i begin with 0.

As the paper prints it e_i <- M_i - P (M_i' P)', what the client's own message lacks; its authors' code and PyTorch's
hook take Delta, as here. The mean of the e_i, and so x, is the same: ``own_memory`` is for what is printed.
"""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms.dialect import Array, Draw, Example, Given, NamedTuple, Problem, Table, edits, method, zeros


class Params(NamedTuple):
    """``gamma``: stepsize; ``momentum``: weight of the previous m; ``rows``: of the matrices; ``Q (d/rows, rank)``:
    start of the power iteration; ``own_memory``: True if e_i is what the client's own message lacks."""

    gamma: float
    momentum: float
    rows: int
    Q: Array
    own_memory: bool = False


class State(NamedTuple):
    """``x``, ``m`` ``(..., d)``: the model and its momentum; ``e (..., n, d)``: what was not sent; ``Q (..., d/rows,
    rank)``: the right factor."""

    x: Array
    m: Array
    e: Array
    Q: Array


def init(
    problem: Problem, params: Params, x: Array | None = None, m: Array | None = None, e: Array | None = None
) -> State:
    """Zeros unless given, and Q as the parameters have it. Raise ``ValueError`` if that has another shape."""
    if params.rows < 1 or params.Q.ndim != 2 or params.rows * len(params.Q) != problem.d:
        raise ValueError(
            f"{params.rows} rows and a Q of shape {params.Q.shape} make no matrices of {problem.d} entries"
        )
    x, m = (zeros(problem.d) if value is None else value for value in (x, m))
    return State(x, m, zeros(problem.n, problem.d) if e is None else e, params.Q)


def orthonormal(P: Array) -> Array:
    """The columns of ``P (..., rows, rank)`` by Gram and Schmidt; a column of zeros stays."""
    columns: list[Array] = []
    for j in range(P.shape[-1]):
        column = P[..., j]
        for other in columns:
            column = column - (other * column).sum(axis=-1, keepdims=True) * other
        size = np.sqrt((column**2).sum(axis=-1, keepdims=True))
        columns.append(column / np.where(size > 0, size, 1))
    return np.stack(columns, axis=-1)


class Message(NamedTuple):
    """``sent (..., d)``: Delta; ``own (..., n, d)``: the clients' shares of it; ``Q``: the new one."""

    sent: Array
    own: Array
    Q: Array


def compressed(problem: Problem, params: Params, wanted: Array, Q: Array) -> Message:
    """Return the message for ``wanted (..., n, d)`` with the factor ``Q (..., d/rows, rank)``."""
    M = wanted.reshape(*wanted.shape[:-1], params.rows, -1)
    P = orthonormal((M @ Q[..., None, :, :]).sum(axis=-3) / problem.n)
    own = np.swapaxes(M, -1, -2) @ P[..., None, :, :]
    Q = own.sum(axis=-3) / problem.n
    flat = (P @ np.swapaxes(Q, -1, -2)).reshape(*wanted.shape[:-2], problem.d)
    shares = (P[..., None, :, :] @ np.swapaxes(own, -1, -2)).reshape(wanted.shape)
    return Message(flat, shares, Q)


def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """One step of PowerSGD."""
    wanted = problem.f.gradient(state.x[..., None, :]) + state.e
    message = compressed(problem, params, wanted, state.Q)
    e = wanted - (message.own if params.own_memory else message.sent[..., None, :])
    m = params.momentum * state.m + message.sent
    return State(state.x - params.gamma * (message.sent + m), m, e, message.Q)


def fixed_point(problem: Problem, params: Params) -> State:
    """The optimum, which the method generally leaves; it is fixed if all clients share a minimiser."""
    return init(problem, params, problem.x_star)


algorithm = method("powersgd", step, Params, State, init, fixed_point=fixed_point)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x <- x - gamma (Delta + m), Delta = P Q', m the new one",
    "m": "m <- momentum m + Delta",
    "e": "e_i <- grad f_i(x) + e_i - Delta",
    "Q": "Q <- (1/n) sum M_i' P, P = (1/n) sum M_i Q with its columns made orthonormal",
}


def _example(given: Given) -> Params:
    d = given.problem.d
    rows = next(r for r in range(int(np.sqrt(d)), 0, -1) if d % r == 0)
    rank = 2 if rows > 2 else 1
    Q = given.rng.standard_normal((d // rows, rank))
    return Params(0.1 / float(given.problem.L), 0.6, rows, Q, "own memory" in given.features)


#: A small problem's parameters.
EXAMPLE = Example("wide", _example)


def _one_by_one(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """Each client sends a matrix of its own factors."""
    wanted = problem.f.gradient(state.x[..., None, :]) + state.e
    M = wanted.reshape(*wanted.shape[:-1], params.rows, -1)
    P = orthonormal(M @ state.Q[..., None, :, :])
    Q = np.swapaxes(M, -1, -2) @ P
    own = (P @ np.swapaxes(Q, -1, -2)).reshape(wanted.shape)
    sent = own.sum(axis=-2) / problem.n
    m = params.momentum * state.m + sent
    return State(state.x - params.gamma * (sent + m), m, wanted - own, Q.sum(axis=-3) / problem.n)


#: Known mistakes of implementations.
SLIPS: Table = (
    *edits("""
x: there is no error feedback: what was not sent is forgotten
    + state.e => + 0 * state.e
e: the memory is never changed
    m, e, => m, state.e + 0 * e,
x: the memory is added to what is sent without being compressed
    + state.e => + 0 * state.e
    state.Q) => state.Q); message = message._replace(sent=message.sent + state.e.sum(axis=-2) / problem.n)
e: the memory is multiplied by the stepsize
    m, e, => m, params.gamma * e,
e: the memory adds up what was not sent, which holds the memory before already
    m, e, => m, state.e + e,
e: the memory is never emptied: what was sent stays in it
    e = wanted - ( => e = wanted - 0 * (
e: the memory keeps what was sent instead of what was not
    e = wanted - ( => e = 0 * wanted + (
e: the memory is what the gradient lacks, without the memory before
    m, e, => m, e - state.e,
e: the memory is what the client's own message lacks, as the paper prints it
    message.own if params.own_memory else message.sent[..., None, :] => message.own
e: the memory is what Delta lacks, although the client's own message is asked for
    message.own if params.own_memory else message.sent[..., None, :] => message.sent[..., None, :]
e: the sign of the memory is wrong
    e = wanted - ( => e = -wanted + (
x: the memory is subtracted where it is due to be added
    + state.e => - state.e
x: x moves along m alone
    (message.sent + m) => m
x: x moves along Delta alone: there is no momentum
    (message.sent + m) => message.sent
x: x moves along Delta and the old m
    (message.sent + m) => (message.sent + state.m)
x: x moves along Nesterov's Delta + momentum m
    (message.sent + m) => (message.sent + params.momentum * m)
m: Delta is multiplied by 1 - momentum in m
    state.m + message.sent => state.m + (1 - params.momentum) * message.sent
x: the messages are summed instead of averaged
    Message(flat, shares, Q) => Message(problem.n * flat, shares, problem.n * Q)
Q: the power iteration begins anew in each step: there is no warm start
    wanted, state.Q) => wanted, params.Q + 0 * state.Q)
Q: the columns of P are not of length 1
    orthonormal((M => ((M
"""),
    ("each client has factors of its own", "Q", _one_by_one),
)
