"""signSGD with majority vote: clients send signs, the server's step is the sign of their sum (Bernstein et al. 2019).

m_i <- beta m_i + (1 - beta) grad f_i(x); x <- x - eta sign(sum sign(m_i)), entry by entry. Without momentum, beta = 0,
it is signSGD, with momentum Signum. Where as many clients vote for + as for -, sign(0) = 0 and the entry stays.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fedtheory.algorithms.dialect import Array, Clients, Draw, NamedTuple, Point, Problem, method
from fedtheory.algorithms.examples import Example, Given, StepFunction, Table, changed


class Params(NamedTuple):
    """``eta``: the length of a step in each entry; ``beta``: what is kept of the clients' momenta."""

    eta: float
    beta: float = 0.0


class State(NamedTuple):
    """``x (..., d)``: the model, which in general leaves the optimum; ``m (..., n, d)``: the clients' momenta."""

    x: Point
    m: Clients


def step(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """One step, without randomness of its own: signSGD."""
    m = params.beta * state.m + (1 - params.beta) * problem.f.gradient(state.x[..., None, :])
    return State(state.x - params.eta * np.sign(np.sign(m).sum(axis=-2)), m)


algorithm = method("signsgd", step, Params, State)

#: The line that renews each letter of the state, in words.
LINES = {
    "x": "x <- x - eta sign(sum sign(m_i)), m_i the new ones, sign(0) = 0",
    "m": "m_i <- beta m_i + (1 - beta) grad f_i(x)",
}


def _example(given: Given) -> Params:
    return Params(0.3, 0.7 if "momentum" in given.features else 0.0)


#: A small problem's parameters.
EXAMPLE = Example("clients", _example)


def _voting(vote: Callable[[int, Array], Array]) -> StepFunction:
    """signSGD with another step: ``vote(n, m)`` of all new momenta ``(..., n, d)``."""
    return changed(step, x=lambda problem, p, s, a, draw: s.x - p.eta * vote(problem.n, a.m))


def _signs_kept(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """The momenta are those of the signs."""
    signs = np.sign(problem.f.gradient(state.x[..., None, :]))
    m = params.beta * state.m + (1 - params.beta) * signs
    return State(state.x - params.eta * np.sign(np.sign(m).sum(axis=-2)), m)


def _at_the_server(problem: Problem, params: Params, state: State, draw: Draw) -> State:
    """One momentum, of the votes."""
    m = params.beta * state.m + (1 - params.beta) * np.sign(problem.f.gradient(state.x[..., None, :]))
    return State(state.x - params.eta * np.sign(m.sum(axis=-2)), m)


#: What implementations are known to do instead.
SLIPS: Table = (
    ("a tie counts as +", "x", _voting(lambda n, m: np.where(np.sign(m).sum(axis=-2) >= 0, 1.0, -1.0))),
    ("a tie counts as -", "x", _voting(lambda n, m: np.where(np.sign(m).sum(axis=-2) > 0, 1.0, -1.0))),
    (
        "a tie is decided by the mean of the gradients",
        "x",
        _voting(lambda n, m: np.sign(np.sign(m).sum(axis=-2) + np.sign(m.sum(axis=-2)) / 2)),
    ),
    ("the signs are averaged: there is no vote", "x", _voting(lambda n, m: np.sign(m).sum(axis=-2) / n)),
    ("the signs are summed: there is no vote", "x", _voting(lambda n, m: np.sign(m).sum(axis=-2))),
    (
        "the sign is that of the mean gradient: the clients do not vote",
        "x",
        _voting(lambda n, m: np.sign(m.sum(axis=-2))),
    ),
    ("the mean gradient is taken instead of signs", "x", _voting(lambda n, m: m.sum(axis=-2) / n)),
    ("the sign of the step is wrong", "x", _voting(lambda n, m: -np.sign(np.sign(m).sum(axis=-2)))),
    ("one client decides", "x", _voting(lambda n, m: np.sign(m)[..., 0, :])),
    ("the vote is divided by the number of clients", "x", _voting(lambda n, m: np.sign(np.sign(m).sum(axis=-2)) / n)),
    ("the momenta are those of the signs", "m", _signs_kept),
    ("there is one momentum, that of the votes", "m", _at_the_server),
    (
        "there is no momentum",
        "x",
        lambda problem, params, state, draw: step(problem, params._replace(beta=0.0), state, draw),
    ),
)
