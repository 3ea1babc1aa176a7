"""signSGD with majority vote: clients send signs, the server's step is the sign of their sum (Bernstein et al. 2019).

m_i <- beta m_i + (1 - beta) grad f_i(x); x <- x - eta sign(sum sign(m_i)), entry by entry. Without momentum, beta = 0,
it is signSGD, with momentum Signum. In a tie sign(0) = 0, and the entry stays.
"""

from __future__ import annotations

import numpy as np

from fedtheory.algorithms.dialect import Clients, Draw, Example, NamedTuple, Point, Problem, edits, method


class Params(NamedTuple):
    """``eta``: the length of a step in each entry; ``beta``: weight of the clients' previous momenta."""

    eta: float
    beta: float = 0.0


class State(NamedTuple):
    """``x (..., d)``: the model, which generally leaves the optimum; ``m (..., n, d)``: the clients' momenta."""

    x: Point
    m: Clients


def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """One step of signSGD."""
    m = params.beta * state.m + (1 - params.beta) * problem.f.gradient(state.x[..., None, :])
    return State(state.x - params.eta * np.sign(np.sign(m).sum(axis=-2)), m)


algorithm = method("signsgd", step, Params, State)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x <- x - eta sign(sum sign(m_i)), m_i the new ones, sign(0) = 0",
    "m": "m_i <- beta m_i + (1 - beta) grad f_i(x)",
}


#: A small problem's parameters.
EXAMPLE = Example("clients", lambda given: Params(0.3, 0.7 if "momentum" in given.features else 0.0))

#: Known mistakes of implementations.
SLIPS = edits("""
x: a tie counts as +
    np.sign(np.sign(m).sum(axis=-2)) => np.where(np.sign(m).sum(axis=-2) >= 0, 1.0, -1.0)
x: a tie counts as -
    np.sign(np.sign(m).sum(axis=-2)) => np.where(np.sign(m).sum(axis=-2) > 0, 1.0, -1.0)
x: a tie is decided by the mean of the gradients
    np.sign(m).sum(axis=-2) => np.sign(m).sum(axis=-2) + np.sign(m.sum(axis=-2)) / 2
x: the signs are averaged: there is no vote
    np.sign(np.sign(m).sum(axis=-2)) => np.sign(m).sum(axis=-2) / problem.n
x: the signs are summed: there is no vote
    np.sign(np.sign(m).sum(axis=-2)) => np.sign(m).sum(axis=-2)
x: the sign is that of the mean gradient: the clients do not vote
    np.sign(m).sum => m.sum
x: the mean gradient is taken instead of signs
    np.sign(np.sign(m).sum(axis=-2)) => m.sum(axis=-2) / problem.n
x: the sign of the step is wrong
    state.x - params.eta => state.x + params.eta
x: one client decides
    np.sign(np.sign(m).sum(axis=-2)) => np.sign(m)[..., 0, :]
x: the vote is divided by the number of clients
    np.sign(np.sign(m).sum(axis=-2)) => np.sign(np.sign(m).sum(axis=-2)) / problem.n
m: the momenta are those of the signs
    problem.f.gradient(state.x[..., None, :]) => np.sign(problem.f.gradient(state.x[..., None, :]))
m: there is one momentum, that of the votes
    problem.f.gradient(state.x[..., None, :]) => np.sign(problem.f.gradient(state.x[..., None, :]))
    np.sign(m).sum => m.sum
x: there is no momentum
    params.beta * state.m + (1 - params.beta) * problem => 0 * state.m + problem
""")
