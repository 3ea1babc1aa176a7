"""FedAvg as FedADMM's Algorithm 2 has it: full local gradients, an average over all clients with stale models."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.algorithms.dialect import Array, Distribution, NamedTuple, Problem, Scalar, Table, edits, method, zeros
from fedtheory.algorithms.examples import Example, Given, Replaced
from fedtheory.algorithms.selections import Selection, Uniform


class Params(NamedTuple):
    """``gamma``: a local step is gamma/m long; ``k0``: local steps a round; ``selection``: plans of participants (see
    :mod:`fedtheory.algorithms.selections`)."""

    gamma: Scalar
    k0: int
    selection: Selection


class State(NamedTuple):
    """``w (..., d)``: the server's model; ``W (..., m, d)``: the clients' models."""

    w: Array
    W: Array


def init(problem: Problem, params: Params, W: Array | None = None) -> State:
    """W^0 = 0 unless given; the server's model is their average, eq. (18)."""
    W = zeros(problem.n, problem.d) if W is None else W
    return State(W.sum(axis=-2) / problem.n, W)


def draws(problem: Problem, params: Params, state: State) -> Distribution:
    """The participants of the rounds that the selection plans together, ``(rounds, m)``."""
    if params.k0 < 1:
        raise ValueError(f"a round has at least one local step, got {params.k0}")
    return params.selection


def _local(problem: Problem, params: Params, V: Array) -> Array:
    """The clients' models ``(..., m, d)`` after the local steps of a round."""
    for _ in range(params.k0):
        V = V - params.gamma * problem.f.gradient(V) / problem.n
    return V


def step(problem: Problem, params: Params, state: State, draw: Array) -> State:
    """The rounds of one plan. The average (18) comes first in each; the w returned is that of the last round."""
    w, W = state
    for round_ in range(draw.shape[-2]):
        w = W.sum(axis=-2) / problem.n
        W = np.where(draw[..., round_, :, None], _local(problem, params, w[..., None, :] + 0 * W), W)
    return State(np.broadcast_to(w, (*W.shape[:-2], problem.d)), W)


def fixed_point(problem: Problem, params: Params) -> State:
    """The optimum and the clients' models after a round from it. The method generally leaves it; it is fixed if k_0 = 1
    and all take part, or if all clients share a minimiser."""
    x = problem.x_star
    return State(x, _local(problem, params, x[..., None, :] + zeros(problem.n, problem.d)))


algorithm = method("fedavg-stale", step, Params, State, init, draws, fixed_point)

#: The line that renews each letter of the state, in words.
LINES = {
    "w": "w <- (1/m) sum of the last w_i of all m clients",
    "W": "w_i <- k_0 steps v <- v - (gamma/m) grad f_i(v) from the new w, for participants",
}


def _example(given: Given) -> Params:
    n = given.problem.n
    return Params(0.5 * n / given.problem.L, given.epochs, Uniform(n, given.tau))


#: A small problem's parameters.
EXAMPLE = Example("clients", _example)


def _with_replacement(problem: Problem, params: Any, state: State) -> Distribution:
    """The participants, with replacement."""
    return Replaced(problem.n, params.selection.size, params.selection.rounds)


#: Known mistakes of implementations.
SLIPS: Table = (
    *edits("""
w: the server averages the participants instead of the last models of all clients
    w = W.sum(axis=-2) / problem.n => c = draw[..., round_, :, None]; w = (c * W).sum(axis=-2) / c.sum(axis=-2)
W: the local stepsize is gamma instead of gamma/m
    problem.f.gradient(V) / problem.n => problem.f.gradient(V)
"""),
    ("participants are drawn with replacement: fewer than there should be", "", {"draws": _with_replacement}),
)
